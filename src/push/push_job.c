/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/sha256.h"
#include "src/base/fail.h"
#include "src/report/loss_list.h"
#include "src/report/report.h"
#include "src/push/push_gzip.h"

/* A small file can be made to stand for any number of bytes. */
int push_give(struct push_job *job, const struct push_body *b)
{
	struct report_limits limits;

	job->counts->bodies++;
	job->counts->bytes += b->len;
	job->counts->raw_bytes += b->raw_len;
	report_limits(job->rep, &limits);
	if (limits.output_bytes && job->counts->raw_bytes > limits.output_bytes)
		return fail_why(-EMSGSIZE, "%s: its profiles are larger than those of a recording "
				"of that size. Try: --from and --to for a part of it",
				report_path(job->rep));
	return job->fn(job->ctx, b);
}

int push_give_packed(struct push_job *job, struct push_body *b, const void *raw, size_t raw_len)
{
	uint8_t *packed = job->opts.no_gzip ? NULL : push_gzip(raw, raw_len, &b->len);
	int err;

	if (!packed && !job->opts.no_gzip)
		return -ENOMEM;
	b->is_gzip = packed;
	b->bytes = packed ? packed : raw;
	b->len = packed ? b->len : raw_len;
	b->raw_len = raw_len;
	err = push_give(job, b);
	free(packed);
	return err;
}

int64_t push_value(struct push_job *job, uint64_t v)
{
	if (v <= INT64_MAX)
		return (int64_t)v;
	job->counts->capped++;
	return INT64_MAX;
}

void push_group_sums(const struct push_group *g, uint64_t *samples, uint64_t *lost)
{
	bool is_lost = g->nr && g->rows[0].event == PUSH_LOSSES;

	for (size_t i = 0; i < g->nr; i++)
		*(is_lost ? lost : samples) += g->rows[i].count;
}

void push_loss_name(uint32_t cause, char *out, size_t size)
{
	snprintf(out, size, "[lost: %s]",
		 cause == LOSS_ROWS ? "rows-missing" : loss_cause_name(cause));
}

/*
 * A hash of all that tells a profile from others: the machine, the recording, which process and
 * event it is of, when, and which one it is in this encoding.
 */
void push_profile_id(struct push_job *job, const struct push_group *g, uint8_t id[16])
{
	const struct push_row *row = &g->rows[0];
	uint64_t begin = report_begin_ns(job->rep, row->segment);
	const char *host = report_meta(job->rep, "host", NULL);
	const char *boot = report_meta(job->rep, "boot_id", NULL);
	uint8_t digest[SHA256_BYTES];
	char text[512];
	int len = snprintf(text, sizeof(text), "%.64s/%.64s/%llu/%u/%u/%s/%llu/%llu",
			   host ? host : "", boot ? boot : "",
			   (unsigned long long)report_real_ns(job->rep, row->segment, begin),
			   row->segment, row->process,
			   push_types_of(&job->types, row->event)->profile,
			   (unsigned long long)row->window,
			   (unsigned long long)job->counts->profiles++);

	sha256(text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1, digest);
	memcpy(id, digest, 16);
	id[6] = (uint8_t)(0x80 | (id[6] & 0x0f));	/* a UUID of RFC 9562's version 8 */
	id[8] = (uint8_t)(0x80 | (id[8] & 0x3f));
}

static void say_time(uint64_t from_ns, uint64_t to_ns, char *out, size_t size)
{
	time_t from = (time_t)(from_ns / 1000000000);
	struct tm tm;
	char date[32] = "?";

	if (gmtime_r(&from, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	snprintf(out, size, "%.3g s from %s", (double)(to_ns - from_ns) / 1e9, date);
}

void push_what_one(const struct push_job *job, const struct push_group *g, const char *title,
		   char out[PUSH_WHAT_MAX])
{
	char when[80];

	say_time(g->from_ns, g->to_ns, when, sizeof(when));
	snprintf(out, PUSH_WHAT_MAX, "%s of %s, %s",
		 push_type_said(push_types_of(&job->types, g->rows[0].event)), title, when);
}

void push_what_many(uint32_t profiles, uint32_t processes, uint64_t from_ns, uint64_t to_ns,
		    char out[PUSH_WHAT_MAX])
{
	char when[80];

	say_time(from_ns, to_ns, when, sizeof(when));
	snprintf(out, PUSH_WHAT_MAX, "%u profile%s of %u process%s, %s", profiles,
		 profiles == 1 ? "" : "s", processes, processes == 1 ? "" : "es", when);
}
