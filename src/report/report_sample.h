/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One sample of a report, with what its ids mean. A report (report.h) and a live profile
 * (src/live/live_profile.h) give these to those who count, filter or draw.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

struct definition_store;

/* What a recording says of itself. Texts are foreign and end with NUL; "" and 0: unknown. */
struct recording_facts {
	const char *trace;		/* path of the file that it was read from */
	const char *host, *kernel, *arch;
	char id[33];			/* its uuid, in hexadecimal digits */
	uint64_t begin_real_ns;
};

struct report_sample {
	const struct rec_sample *rec;
	const struct definition_store *tables;	/* the definitions of its segment */
	uint32_t segment;
	const struct rec_thread *thread;	/* NULL: lost with a damaged chunk */
	const struct rec_process *process;	/* NULL: likewise */
	uint64_t real_ns;		/* CLOCK_REALTIME; monotonic if there is no CLOCK record */
	uint64_t weight;		/* in the unit of its event; 0 in rows of live_scans.h */
	unsigned futex;			/* activity_futex() of the recording's machine */
	uint32_t event;			/* index of report_events(); NO_EVENT: none */
	/* One that comes soon, for those who fetch memory before they need it; NULL: unknown. */
	const struct rec_sample *ahead;
	const struct recording_facts *facts;	/* NULL: unknown, as in live_profile.h */
};

/*
 * The number of the sample's process; false: unknown. The idle threads, tid 0, belong to process 0,
 * which has no record.
 */
bool report_sample_tgid(const struct report_sample *s, uint32_t *tgid);
