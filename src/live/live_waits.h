/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in the newest snapshot of a recording under way, as the section "waits" of
 * page_message.h has it.
 *
 *	live_waits_update(&w, l, calls, base_ns)	1: there is another text; 0; -ENOMEM
 *	w.json						NULL: there is no snapshot yet
 *	live_waits_release(&w)				all zero before and after
 *
 * It is made anew when a snapshot has come and the one before is LIVE_WAITS_NS old.
 */
#pragma once

#include <stdint.h>

#define LIVE_WAITS_NS 2000000000ull

struct live_profile;
struct syscall_names;

struct live_waits {
	char *json;
	uint32_t scan;			/* the newest when it was made */
	uint64_t time_ns;		/* of the profile's end then */
};

int live_waits_update(struct live_waits *w, const struct live_profile *l,
		      struct syscall_names *calls, uint64_t base_ns);
void live_waits_release(struct live_waits *w);
