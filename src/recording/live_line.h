/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one line that a terminal shows during a recording: its age, what was taken, what was lost.
 * The line fits 80 columns and is removed before any message (note_status()).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct live_line {
	bool is_terminal;		/* false: nothing is shown */
	uint64_t begin_ns;		/* when the recording began */
	uint64_t next_ns;		/* the line is not renewed before */
};

struct live_numbers {
	bool samples_wanted, scans_wanted;
	uint64_t samples, scans, lost, file_bytes;
};

/* is_shown: standard error is a terminal, and the user did not ask for quiet. */
void live_line_init(struct live_line *l, bool is_shown);
void live_line_update(struct live_line *l, const struct live_numbers *n);
void live_line_clear(struct live_line *l);

/* "43.1 KiB" */
const char *human_bytes(uint64_t bytes, char buf[32]);
