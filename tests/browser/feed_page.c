/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds a live page from a trace as it is told to: feed_page TRACE [late] reads commands from standard
 * input, and answers each with one line. late: names of frames are kept back.
 *
 *	samples N	takes records until N samples more have come: "VERSION", or "VERSION end"
 *	seconds N	takes records until samples of N seconds more have come: likewise
 *	names		gives the names that were kept back: likewise
 *	message SINCE	"VERSION BASE64", or "stale"
 *	again		another page of the same profile, whose versions begin anew: "ok"
 *	html FILE	writes the page: "ok"
 *	policy		the policy of the page
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/base64.h"
#include "formats/trace/trace_reader.h"
#include "src/base/bytes.h"
#include "src/base/fail.h"
#include "src/live/live_page.h"
#include "src/live/live_profile.h"

enum { MAX_KEPT = 100, MAX_LINES = 4 };

/* A SYMBOL record whose lines are here. */
struct kept {
	struct record rec;
	struct rec_line lines[MAX_LINES];
};

struct feeder {
	bool is_late;
	struct kept kept[MAX_KEPT];
	size_t nr_kept;
	struct trace_reader *reader;
	struct live_profile *l;
	struct live_page *p;
	uint64_t first_ns, seconds_ns;	/* time of the first sample; so long after it */
};

static void give(struct feeder *f, const struct record *rec)
{
	if (live_profile_record(f->l, rec))
		exit(1);
}

static void keep_back(struct feeder *f, const struct record *rec)
{
	struct kept *k = &f->kept[f->nr_kept++];

	if (f->nr_kept > MAX_KEPT || rec->symbol.nr_lines > MAX_LINES)
		exit(1);
	k->rec = *rec;
	memcpy(k->lines, rec->symbol.lines, rec->symbol.nr_lines * sizeof(*k->lines));
	k->rec.symbol.lines = k->lines;
}

static void tell_version(struct feeder *f, const char *more)
{
	if (live_page_update(f->p) < 0)
		exit(1);
	printf("%llu%s\n", (unsigned long long)live_page_version(f->p), more);
}

static void give_names(struct feeder *f)
{
	for (size_t i = 0; i < f->nr_kept; i++)
		give(f, &f->kept[i].rec);
	f->nr_kept = 0;
	f->is_late = false;
	tell_version(f, "");
}

/* Whichever comes first: so many samples, or one so long after the first. 0: any time */
static void take(struct feeder *f, long samples, uint64_t span_ns)
{
	struct record rec;
	bool is_over = false;
	int rc = 1;

	while (samples > 0 && !is_over && (rc = trace_reader_next(f->reader, &rec)) > 0) {
		if (f->is_late && rec.tag == REC_SYMBOL)
			keep_back(f, &rec);
		else
			give(f, &rec);
		samples -= rec.tag == REC_SAMPLE;
		if (rec.tag != REC_SAMPLE)
			continue;
		if (!f->first_ns)
			f->first_ns = rec.sample.time_ns;
		is_over = span_ns && rec.sample.time_ns >= f->first_ns + span_ns;
	}
	if (rc < 0)
		exit(1);
	tell_version(f, rc ? "" : " end");
}

static void put_message(struct feeder *f, uint64_t since)
{
	struct byte_buf b = { 0 };
	int err = live_page_message(f->p, since, &b);

	if (err == -ESTALE) {
		puts("stale");
	} else if (err) {
		exit(1);
	} else {
		printf("%llu ", (unsigned long long)live_page_version(f->p));
		base64_put(stdout, b.v, b.nr);
		putchar('\n');
	}
	bb_release(&b);
}

static void put_page(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out || live_page_html("fed", out) || fclose(out))
		exit(1);
	puts("ok");
}

static void obey(struct feeder *f, const char *line)
{
	if (!strncmp(line, "samples ", 8)) {
		take(f, atol(line + 8), 0);
	} else if (!strncmp(line, "seconds ", 8)) {
		f->seconds_ns += (uint64_t)(atof(line + 8) * 1e9);
		take(f, LONG_MAX, f->seconds_ns);
	} else if (!strcmp(line, "names")) {
		give_names(f);
	} else if (!strncmp(line, "message ", 8)) {
		put_message(f, strtoull(line + 8, NULL, 10));
	} else if (!strcmp(line, "again")) {
		live_page_free(f->p);
		if (live_page_new(f->l, &f->p))
			exit(1);
		puts("ok");
	} else if (!strncmp(line, "html ", 5)) {
		put_page(line + 5);
	} else if (!strcmp(line, "policy")) {
		if (live_page_policy(stdout))
			exit(1);
		putchar('\n');
	} else {
		exit(2);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct feeder f;
	char line[512];

	if (argc < 2)
		return fail_why(2, "usage: feed_page TRACE [late]");
	f.is_late = argc > 2;
	if (trace_reader_open(argv[1], NULL, &f.reader) || live_profile_new(&f.l) || live_page_new(f.l, &f.p))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		obey(&f, line);
	}
	live_page_free(f.p);
	live_profile_free(f.l);
	trace_reader_close(f.reader);
	return 0;
}
