/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times, weights, shares and names as the views show them. What is given a buffer returns it. */
#pragma once

#include <stdint.h>

struct rec_sample;
struct tui;

/* "12.3 %" of whole. */
const char *tui_percent(uint64_t part, uint64_t whole, char buf[16]);
/* "+1.2" percentage points of part in whole against before in its whole. */
const char *tui_points(uint64_t part, uint64_t whole, uint64_t before, uint64_t before_whole,
		       char buf[16]);
/* Time since the first sample: "1:02:03". */
const char *tui_clock(uint64_t ns, char buf[16]);
/* "350 ms", "12.5 s", "0:03:04". */
const char *tui_span_text(uint64_t ns, char buf[16]);
/* Weight of the profile's event: "1.2 s", "1,234". */
const char *tui_weight(const struct tui *t, uint64_t weight, char buf[96]);
/* "java (12)", "cc1plus (ended)". */
const char *tui_process_name(const struct tui *t, uint32_t process, char buf[96]);
/* What a thread waits for, in words; "" if nothing is known, NULL without memory. On the heap. */
char *tui_waits_for(struct tui *t, const struct rec_sample *rec);
