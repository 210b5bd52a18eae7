/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_bodies TRACE DIR [NAME=VALUE]...: the requests by which a host would send this trace, made
 * by the encoder of `probee push`.
 *
 *	protocol=otlp		or pyroscope, ingest
 *	apart=1			15 s of each recording in the trace are sent by themselves, as windows
 *				of an agent are; 0: all together, so that they share stacks and names
 *	bundle=60		so many seconds may share a request
 *	threads=id		or name, none: push_encode_opts.threads
 *	rebase=0		1: times are moved so that the trace ends now
 *
 * DIR/NNN.body is a body as it is sent, DIR/NNN.head its path and type. Each has the label
 * fleet_host=fleet-host-000000, so that fleet_load can make bodies of many hosts of it. Prints what
 * they are, a number a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/push/push_encode.h"

#define SPAN_NS (15 * NSEC_PER_SEC)
enum { MOST_SPANS = 1000 };

static const char *const threads[PUSH_THREADS] = { "id", "name", "none" };
static const char *const protocols[PUSH_PROTOCOLS] = { "otlp", "pyroscope", "ingest" };

struct maker {
	const char *trace, *dir;
	uint64_t apart, bundle_s, protocol, threads, rebase;
	struct push_counts sum;
	struct time_window spans[MOST_SPANS];	/* what is sent by itself */
	uint32_t nr_spans;
	uint64_t recorded_ns;		/* all of them together */
	uint64_t largest, requests;
	int64_t rebase_ns;
};

static int write_file(const struct maker *m, const char *what, const void *bytes, size_t len)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%06" PRIu64 ".%s", m->dir, m->requests, what);
	f = fopen(path, "w");
	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		return fail(-EIO, "write %s", path);
	return 0;
}

static int keep(void *ctx, const struct push_body *b)
{
	struct maker *m = ctx;
	char head[2048];
	int len = snprintf(head, sizeof(head), "%s\n%s\n%d\n", b->path, b->content_type,
			   b->is_gzip);

	m->requests++;
	if (b->len > m->largest)
		m->largest = b->len;
	if (len >= (int)sizeof(head))
		return fail_why(-E2BIG, "a path of more than 2,000 bytes");
	if (write_file(m, "head", head, (size_t)len))
		return -EIO;
	return write_file(m, "body", b->bytes, b->len);
}

static int open_trace(const struct maker *m, const struct query *q, struct report **rep)
{
	int fd = open(m->trace, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fail(-errno, "open %s", m->trace) : report_open_fd(fd, m->trace, q, rep);
}

/* Windows of an agent are parts of one recording, which reports join. */
static void add_pieces(struct maker *m, struct time_window span)
{
	while (m->nr_spans < MOST_SPANS) {
		bool is_last = span.to_ns - span.from_ns < 3 * SPAN_NS / 2;
		struct time_window *piece = &m->spans[m->nr_spans++];

		*piece = span;
		if (is_last)
			return;
		piece->to_ns = span.from_ns += SPAN_NS;
	}
}

static int find_spans(struct maker *m)
{
	struct query q = { .no_limits = false };
	struct report *rep = NULL;
	uint64_t last = 0;

	if (open_trace(m, &q, &rep))
		return -EINVAL;
	for (uint32_t i = 0; i < report_info(rep)->nr_segments; i++) {
		struct time_window span;

		report_span(rep, i, &span);
		m->recorded_ns += span.to_ns - span.from_ns;
		last = span.to_ns > last ? span.to_ns : last;
		add_pieces(m, span);
	}
	report_close(rep);
	if (m->rebase)
		m->rebase_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - last);
	return 0;
}

static void add(struct push_counts *sum, const struct push_counts *c)
{
	sum->bodies += c->bodies;
	sum->profiles += c->profiles;
	sum->samples += c->samples;
	sum->rows += c->rows;
	sum->lost += c->lost;
	sum->bytes += c->bytes;
	sum->raw_bytes += c->raw_bytes;
}

static int encode(struct maker *m, const struct query *q)
{
	static const struct push_label host = { "fleet_host", "fleet-host-000000" };
	struct push_encode_opts o = {
		.protocol = (enum push_protocol)m->protocol, .labels = &host, .nr_labels = 1,
		.bundle_windows = (uint32_t)(m->bundle_s * NSEC_PER_SEC / PUSH_WINDOW_NS),
		.max_rows = 1u << 20, .rebase_ns = m->rebase_ns, .threads = (enum push_threads)m->threads,
	};
	struct push_counts c = { 0 };
	struct report *rep = NULL;
	int err = open_trace(m, q, &rep);

	if (!err)
		err = push_encode(rep, &o, keep, m, &c);
	report_close(rep);
	add(&m->sum, &c);
	return err;
}

static int encode_all(struct maker *m)
{
	struct query q = { .no_limits = false };
	int err = 0;

	if (!m->apart)
		return encode(m, &q);
	for (uint32_t i = 0; i < m->nr_spans && !err; i++) {
		q.from = (struct time_point){ TIME_DATE, m->spans[i].from_ns };
		q.to = (struct time_point){ TIME_DATE, m->spans[i].to_ns + 1 };
		err = encode(m, &q);
	}
	return err;
}

static bool find(const char *const *words, size_t nr, const char *word, uint64_t *at)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(word, words[i])) {
			*at = i;
			return true;
		}
	return false;
}

static int parse(struct maker *m, char **argv)
{
	for (; *argv; argv++) {
		const char *value = strchr(*argv, '=');
		size_t len = value ? (size_t)(value++ - *argv) : 0;
		const struct { const char *name; uint64_t *to; } numbers[] = {
			{ "apart", &m->apart }, { "bundle", &m->bundle_s },
			{ "rebase", &m->rebase },
		};
		bool known = false;

		for (size_t i = 0; value && i < sizeof(numbers) / sizeof(numbers[0]); i++)
			if (strlen(numbers[i].name) == len &&
			    !strncmp(numbers[i].name, *argv, len)) {
				*numbers[i].to = strtoull(value, NULL, 10);
				known = true;
			}
		if (value && !known)
			known = (len == 8 && !strncmp(*argv, "protocol", len) &&
				 find(protocols, PUSH_PROTOCOLS, value, &m->protocol)) ||
				(len == 7 && !strncmp(*argv, "threads", len) &&
				 find(threads, PUSH_THREADS, value, &m->threads));
		if (!known)
			return fail_why(2, "fleet_bodies: what is %s?", *argv);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct maker m = { .apart = 1, .bundle_s = 60 };

	if (argc < 3)
		return fail_why(2, "usage: fleet_bodies TRACE DIR [NAME=VALUE]...");
	m.trace = argv[1];
	m.dir = argv[2];
	if (parse(&m, argv + 3))
		return 2;
	if (find_spans(&m) || encode_all(&m))
		return 1;
	printf("seconds %.3f\nrequests %" PRIu64 "\nprofiles %" PRIu64 "\nsamples %" PRIu64
	       "\nrows %" PRIu64 "\nlost %" PRIu64 "\nbytes %" PRIu64 "\nraw_bytes %" PRIu64
	       "\nlargest %" PRIu64 "\n",
	       (double)m.recorded_ns / 1e9, m.requests, m.sum.profiles, m.sum.samples, m.sum.rows,
	       m.sum.lost, m.sum.bytes, m.sum.raw_bytes, m.largest);
	return 0;
}
