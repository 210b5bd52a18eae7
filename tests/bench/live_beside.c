/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked into a probee with --wrap=record_tee_init (part_live.sh): adds a live profile beside the
 * trace writer of every recording, as a live view would. If LIVE_READS is set, the profile is also
 * read once a second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "src/base/clock.h"
#include "src/live/live_profile.h"
#include "src/profile/profile.h"
#include "src/recording/record_tee.h"

static struct live_profile *live;
static uint64_t next_ns;

void __real_record_tee_init(struct record_tee *t, struct trace_writer *writer);
void __wrap_record_tee_init(struct record_tee *t, struct trace_writer *writer);

static void read_all(void)
{
	size_t nr;

	live_profile_events(live, &nr);
	for (uint32_t event = 1; event < nr; event++) {
		struct profile *p = NULL;

		if (live_profile_read(live, event, NULL, &p))
			exit(1);
		profile_free(p);
	}
}

static int record_and_read(void *ctx, const struct record *rec)
{
	if (rec->tag == REC_CLOCK && now_ns() >= next_ns) {
		read_all();
		next_ns = now_ns() + NSEC_PER_SEC;
	}
	return live_profile_record(ctx, rec);
}

static void tell(void)
{
	uint64_t samples = 0;
	size_t nr;
	const struct live_event *v = live_profile_events(live, &nr);

	for (size_t i = 0; i < nr; i++)
		samples += v[i].samples;
	fprintf(stderr, "live_samples %llu\n", (unsigned long long)samples);
}

void __wrap_record_tee_init(struct record_tee *t, struct trace_writer *writer)
{
	record_fn fn = getenv("LIVE_READS") ? record_and_read : live_profile_record;

	__real_record_tee_init(t, writer);
	if (live_profile_new(&live))
		exit(1);
	record_tee_add(t, &(struct record_consumer){ "the live profile", fn, NULL, live });
	atexit(tell);
}
