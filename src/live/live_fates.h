/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of each count of a live profile when it is compacted (live_compact.c).
 *
 *	live_fates_init(&f, l)		0 or -ENOMEM
 *	f.v[count], f.threads[id], f.processes[id], f.first_recent
 *	live_fates_release(&f)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/live/live_profile_parts.h"

enum live_fate {
	FATE_FOLDED,			/* it loses its stack and its thread */
	FATE_MERGED,			/* it loses its thread */
	FATE_LARGE,			/* it stays, and its thread may be one that has ended */
	FATE_RECENT			/* it stays as it is */
};

enum live_life { LIFE_GONE, LIFE_LARGE /* gone, but worth a name */, LIFE_THERE };

struct live_fates {
	const struct live_profile *l;
	uint8_t *v;			/* by count: enum live_fate */
	double *share;			/* by count: of its event */
	double *sums;			/* of shares, by process and stack */
	uint8_t *threads, *processes;	/* by own id: enum live_life */
	double *process_share, *name_share;	/* by own id of the process, and of its name */
	double least_name;		/* what a name must have, to be kept */
	uint32_t nr_threads, nr_processes, nr_names;
	size_t first_recent;		/* index of a window: this one and the newer ones stay */
	double *room;
	size_t cap_room;
};

int live_fates_init(struct live_fates *f, const struct live_profile *l);
void live_fates_release(struct live_fates *f);

/* The process of a thread; 0: it is not defined. */
uint32_t live_fates_process_of(const struct live_fates *f, uint32_t thread);
/* Whether processes of this name that are gone keep it. */
bool live_fates_keeps_name(const struct live_fates *f, uint32_t name);
/* The share of a weight in all of its event. */
double live_share(const struct live_profile *l, uint32_t event, uint64_t weight);
/* Whether the thread of a last row was met lately. */
bool live_row_is_there(const struct live_profile *l, const struct last_row *row);
