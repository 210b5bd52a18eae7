/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_walks FILE [WALKS=100 [THREADS=10000 [CHANGES=50 [plain|bare]]]]: makes an artificial
 * recording of snapshots, with one scan a second of so many threads, each with a stack of its own.
 * In each later scan CHANGES of them, chosen at random, have another stack, three frames of which
 * are new. plain: without REPEAT, all rows are written out. bare: only the rows that changed, so
 * that the difference is the cost of the others. The same arguments give the same records.
 *
 * Prints what a thread costs in a scan, in all scans and in those after the first, and how long
 * writing and reading took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/clock.h"
#include "src/base/fail.h"

enum { DEPTH = 12, NEW_FRAMES = 3, FRAMES = 2000 };

struct maker {
	struct trace_writer *w;
	uint64_t seed;
	uint32_t scans, nr_threads, changes;
	bool is_plain, is_bare;
	uint64_t rows;
	uint32_t nodes;
	struct rec_sample *last;	/* of each thread, by id */
	bool *changed;
	struct rec_run *runs;
	uint64_t definitions_bytes;	/* of the file, up to the first scan */
	uint64_t first_bytes;		/* of the file, including the first scan */
	int err;
};

static void put(struct maker *m, const struct record *rec)
{
	if (!m->err)
		m->err = trace_writer_record(m->w, rec);
}

static uint32_t random_below(struct maker *m, uint32_t limit)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((m->seed >> 33) % limit);
}

static uint64_t file_bytes(struct maker *m)
{
	struct trace_writer_stats stats;

	if (!m->err)
		m->err = trace_writer_flush(m->w);
	trace_writer_stats(m->w, &stats);
	return stats.file_bytes;
}

static void put_frames(struct maker *m)
{
	struct record rec = { .tag = REC_FRAME };

	for (uint32_t i = 1; i <= FRAMES; i++) {
		rec.frame = (struct rec_frame){ .id = i, .kind = FRAME_USER, .addr = 0x1000 + 64u * random_below(m, 100000) };
		put(m, &rec);
	}
}

static uint32_t put_node(struct maker *m, uint32_t parent)
{
	struct record rec = { .tag = REC_NODE };

	rec.node = (struct rec_node){ ++m->nodes, parent, 1 + random_below(m, FRAMES) };
	put(m, &rec);
	return m->nodes;
}

static void put_threads(struct maker *m)
{
	struct record rec = { .tag = REC_PROCESS, .process = { .id = 1, .tgid = 1000 } };

	put(m, &rec);
	for (uint32_t t = 1; t <= m->nr_threads; t++) {
		uint32_t node = 0;

		rec = (struct record){ .tag = REC_THREAD, .thread = { .id = t, .process = 1, .tid = 1000 + t } };
		put(m, &rec);
		for (int i = 0; i < DEPTH; i++)
			node = put_node(m, node);
		m->last[t] = (struct rec_sample){ .thread = t, .cpu = UINT32_MAX, .ustack = node, .weight = 1,
						  .state = TASK_SLEEPING, .end = END_ROOT };
	}
}

/* Gives a thread another stack with the same outer frames. */
static void change(struct maker *m, uint32_t thread)
{
	uint32_t node = (thread - 1) * DEPTH + DEPTH - NEW_FRAMES;

	for (int i = 0; i < NEW_FRAMES; i++)
		node = put_node(m, node);
	m->last[thread].ustack = node;
	m->changed[thread] = true;
}

static void put_scan(struct maker *m, uint32_t scan)
{
	uint64_t time_ns = 1000000000ull * scan;
	struct record rec = { .tag = REC_SAMPLE };
	struct rec_repeat same = { time_ns, scan, m->runs, 0 };

	memset(m->changed, scan == 1 || m->is_plain, m->nr_threads + 1);
	for (uint32_t i = 0; scan > 1 && i < m->changes; i++)
		change(m, 1 + random_below(m, m->nr_threads));
	for (uint32_t t = 1; t <= m->nr_threads; t++) {
		if (!m->changed[t]) {
			if (t == 1 || m->changed[t - 1])
				m->runs[same.nr_runs++] = (struct rec_run){ t, 0 };
			m->runs[same.nr_runs - 1].nr++;
			continue;
		}
		rec.sample = m->last[t];
		rec.sample.scan = scan;
		rec.sample.time_ns = time_ns + 1500ull * t;
		put(m, &rec);
		m->rows++;
	}
	rec = (struct record){ .tag = REC_REPEAT, .repeat = same };
	if (same.nr_runs && !m->is_bare) {
		put(m, &rec);
		m->rows += repeat_rows(&same);
	}
	rec = (struct record){ .tag = REC_SCAN, .scan = { .scan = scan, .time_ns = time_ns, .rows = m->nr_threads } };
	put(m, &rec);
}

static void make(struct maker *m)
{
	put_frames(m);
	put_threads(m);
	m->definitions_bytes = file_bytes(m);
	for (uint32_t scan = 1; scan <= m->scans && !m->err; scan++) {
		put_scan(m, scan);
		if (scan == 1)
			m->first_bytes = file_bytes(m);
		else
			file_bytes(m);		/* once a second, as the recorder does */
	}
}

static int read_all(const char *path, uint64_t want)
{
	struct trace_reader *r;
	struct record rec;
	uint64_t rows = 0;
	int rc = trace_reader_open(path, NULL, &r);

	if (rc)
		return rc;
	while ((rc = trace_reader_next(r, &rec)) > 0)
		rows += rec.tag == REC_SAMPLE;
	trace_reader_close(r);
	return rows == want ? rc : fail_why(-1, "%" PRIu64 " rows come back, not %" PRIu64, rows, want);
}

static void report(const struct maker *m, uint64_t bytes, uint64_t write_ns, uint64_t read_ns)
{
	double rows = (double)m->scans * m->nr_threads, later = rows - m->nr_threads;

	printf("rows %" PRIu64 "\n", m->rows);
	printf("bytes %" PRIu64 "\nbytes_of_definitions %" PRIu64 "\nbytes_of_first_walk %" PRIu64 "\n", bytes,
	       m->definitions_bytes, m->first_bytes - m->definitions_bytes);
	printf("bytes_per_thread_and_walk %.4f\n", (double)bytes / rows);
	if (m->scans > 1)
		printf("bytes_per_thread_and_later_walk %.4f\n", (double)(bytes - m->first_bytes) / later);
	printf("write_ms %.1f\nread_ms %.1f\n", (double)write_ns / 1e6, (double)read_ns / 1e6);
}

static uint32_t argument(int argc, char **argv, int i, uint32_t otherwise)
{
	return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	struct maker m = { .seed = 1, .is_plain = argc > 5 && !strcmp(argv[5], "plain"),
			   .is_bare = argc > 5 && !strcmp(argv[5], "bare") };
	uint64_t start = now_ns(), written, bytes;

	if (argc < 2)
		return fail_why(2, "usage: make_walks FILE [WALKS [THREADS [CHANGES [plain|bare]]]]");
	m.scans = argument(argc, argv, 2, 100);
	m.nr_threads = argument(argc, argv, 3, 10000);
	m.changes = argument(argc, argv, 4, 50);
	m.last = calloc(m.nr_threads + 1, sizeof(*m.last));
	m.changed = calloc(m.nr_threads + 1, sizeof(*m.changed));
	m.runs = calloc(m.nr_threads + 1, sizeof(*m.runs));
	m.err = m.last && m.changed && m.runs && m.nr_threads ? trace_writer_open(argv[1], NULL, &m.w) : -1;
	if (!m.err) {
		make(&m);
		bytes = file_bytes(&m);
		if (trace_writer_close(m.w))
			m.err = -1;
		written = now_ns();
		if (!m.err)
			m.err = read_all(argv[1], m.rows);
		if (!m.err)
			report(&m, bytes, written - start, now_ns() - written);
	}
	free(m.last);
	free(m.changed);
	free(m.runs);
	return m.err != 0;
}
