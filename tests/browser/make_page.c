/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the pages that page_test.py looks at: make_page CASE DIR writes DIR/CASE.html, and what
 * --collapse says of the same samples to DIR/CASE.folded (CPU time) and DIR/CASE.wall (snapshots).
 *
 *	typical	10 s, 99 Hz: process "shop" (100) with threads "shop" and "till" runs shop_main;parse until
 *		5 s and shop_main;draw afterwards, in turns on CPU 0 and 1, "cron" (200) a little, in a cron_main that calls
 *		itself; 10 snapshots in which "lock" (102) sleeps in a futex that till (101) holds
 *	named	two processes "main" (300, 301), the first of which has a thread 302 that is "early" in three snapshots and
 *		"late" in three more; a deadlock of 300 and 302 in the third one alone; recursion f;f;g;f;g
 *	many	300 snapshots in which 80 threads wait for new things each time, more than a page has room for; a deadlock in
 *		the third
 *	one	a single sample
 *	hostile	names that try to leave their place
 *	wishes	typical, with --by user,state --inverted --callers draw
 *	few	typical, with --top 2 --min-percent 10 --collapse-recursion
 *	empty	no sample at all
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/renderer.h"
#include "formats/trace/trace_writer.h"
#include "src/base/fail.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"

#define S 1000000000ull
#define PERIOD (S / 99)
#define HOSTILE "</script><img src=x onerror=owned=1>\x1b[31m;\"'`${owned}\\\xe2\x80\xae\xff "

enum { CPU_CLOCK = 1, SNAPSHOT };
enum { SHOP_MAIN = 1, PARSE, DRAW, CRON_MAIN, SYS_ENTRY, FUTEX_WAIT, FUNCTIONS = FUTEX_WAIT };
enum { ST_PARSE = 2, ST_DRAW, ST_CRON = 7 };

/* The sample of each second behind which its scan stands. */
#define BEFORE_SCAN 33

struct maker {
	struct trace_writer *w;
	bool is_hostile;
	uint32_t strings;
	uint64_t samples;
};

static void put(struct maker *m, const struct record *rec)
{
	if (trace_writer_record(m->w, rec))
		exit(1);
}

#define PUT(TAG, field, ...) put(m, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ })

static uint32_t put_string(struct maker *m, const char *s)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s%s", m->is_hostile ? HOSTILE : "", s);

	PUT(STRING, string, { ++m->strings, text, (size_t)len });
	return m->strings;
}

/* Names of units are no names of people's programs. */
static uint32_t put_word(struct maker *m, const char *s)
{
	PUT(STRING, string, { ++m->strings, s, strlen(s) });
	return m->strings;
}

static void put_function(struct maker *m, uint32_t id, const char *name)
{
	struct rec_line line = { .func = id, .line = 10 * id };
	bool kernel = id >= SYS_ENTRY;

	PUT(FRAME, frame, { .id = id, .kind = kernel ? FRAME_KERNEL : FRAME_USER, .binary = kernel ? 2 : 1,
			    .addr = 0x1000 + 64u * id });
	PUT(FUNC, func, { .id = id, .name = put_string(m, name), .file = kernel ? 0 : put_string(m, "src/shop.cc"),
			  .start_line = 10 * id });
	PUT(SYMBOL, symbol, { .frame = id, .status = SYMBOL_OK, .lines = &line, .nr_lines = 1 });
}

static void put_node(struct maker *m, uint32_t id, uint32_t parent, uint32_t frame)
{
	PUT(NODE, node, { id, parent, frame });
}

static void put_thread(struct maker *m, uint32_t id, uint32_t process, uint32_t tid, const char *name)
{
	PUT(THREAD, thread, { .id = id, .process = process, .tid = tid, .comm = put_string(m, name) });
}

static void put_definitions(struct maker *m)
{
	static const char *const names[] = { "shop_main", "parse", "std::vector<int, std::allocator<int> >::draw(int)",
					     "cron_main", "entry_SYSCALL_64", "futex_wait" };

	PUT(META, meta, { "arch", "x86_64", 6 });
	PUT(CLOCK, clock, { .mono_ns = S, .real_ns = 1790000000 * S });
	PUT(BINARY, binary, { .id = 1, .kind = BINARY_ELF, .path = put_string(m, "/usr/bin/shop") });
	PUT(BINARY, binary, { .id = 2, .kind = BINARY_KERNEL, .path = put_string(m, "[kernel]") });
	PUT(PROCESS, process, { .id = 1, .tgid = 100, .comm = put_string(m, "shop"), .exe = 1 });
	PUT(PROCESS, process, { .id = 2, .tgid = 200, .comm = put_string(m, "cron") });
	put_thread(m, 1, 1, 100, "shop");
	put_thread(m, 2, 1, 101, "till");
	put_thread(m, 3, 1, 102, "lock");
	put_thread(m, 4, 2, 200, "cron");
	for (uint32_t i = 1; i <= FUNCTIONS; i++)
		put_function(m, i, names[i - 1]);
	put_node(m, 1, 0, SHOP_MAIN);
	put_node(m, ST_PARSE, 1, PARSE);
	put_node(m, ST_DRAW, 1, DRAW);
	put_node(m, 4, 0, CRON_MAIN);
	put_node(m, 5, 0, SYS_ENTRY);
	put_node(m, 6, 5, FUTEX_WAIT);
	put_node(m, ST_CRON, 4, CRON_MAIN);
	PUT(EVENT, event, { .id = CPU_CLOCK, .name = put_word(m, "cpu-clock"), .kind = EVENT_CPU_CLOCK,
			    .freq_mhz = 99000, .period = PERIOD, .unit = put_word(m, "ns") });
	PUT(EVENT, event, { .id = SNAPSHOT, .name = put_word(m, "snapshot"), .kind = EVENT_SNAPSHOT,
			    .freq_mhz = 1000, .period = S, .unit = put_word(m, "ns") });
}

static void put_sample(struct maker *m, uint64_t at, uint32_t thread, uint32_t cpu, uint32_t stack)
{
	m->samples++;
	PUT(SAMPLE, sample, { .time_ns = S + at, .event = CPU_CLOCK, .thread = thread, .cpu = cpu, .ustack = stack,
			      .weight = PERIOD, .state = TASK_RUNNING, .end = END_ROOT });
}

static void put_row(struct maker *m, uint64_t at, uint32_t scan, uint32_t thread, uint8_t state)
{
	bool locked = thread == 3;

	m->samples++;
	PUT(SAMPLE, sample, { .time_ns = S + at, .event = SNAPSHOT, .thread = thread,
			      .cpu = state == TASK_RUNNING ? 0 : UINT32_MAX, .scan = scan, .weight = S, .state = state,
			      .ustack = locked ? 1 : ST_PARSE, .kstack = locked ? 6 : 0, .end = END_ROOT,
			      .ran_ns = locked ? S / 2 : S + at - 5000000, .syscall = locked ? 203 : 0,
			      .wait = locked ? 0x7f00 : 0, .owner = locked ? 101 : 0 });
}

/*
 * Samples and rows of scans come out in the order of time then, as from a recorder that is read while it writes. Within a chunk
 * samples would come first.
 */
static void end_chunk(struct maker *m)
{
	if (trace_writer_flush(m->w))
		exit(1);
}

static void put_typical_scan(struct maker *m, uint32_t scan)
{
	uint64_t at = (scan - 1) * S + S / 3;

	end_chunk(m);
	put_row(m, at, scan, 1, TASK_RUNNING);
	put_row(m, at + 1000, scan, 2, scan % 2 ? TASK_RUNNABLE : TASK_DISK);
	put_row(m, at + 2000, scan, 3, TASK_SLEEPING);
	PUT(SCAN, scan, { .scan = scan, .time_ns = S + at, .duration_ns = 3000, .interval_ns = S, .tasks_seen = 3, .rows = 3 });
	end_chunk(m);
}

static void put_typical(struct maker *m)
{
	for (uint64_t i = 0; i < 990; i++) {
		put_sample(m, i * PERIOD, 1 + i % 2, i & 1, i < 495 ? ST_PARSE : ST_DRAW);
		if (i % 99 == 50)
			put_sample(m, i * PERIOD + 1000, 4, 1, ST_CRON);
		if (i % 99 == BEFORE_SCAN)
			put_typical_scan(m, (uint32_t)(i / 99 + 1));
	}
}

static void put_waiting(struct maker *m, uint64_t at, uint32_t scan, uint32_t thread, uint64_t wait, uint32_t owner)
{
	m->samples++;
	PUT(SAMPLE, sample, { .time_ns = S + at, .event = SNAPSHOT, .thread = thread, .cpu = UINT32_MAX, .scan = scan, .weight = S,
			      .state = TASK_SLEEPING, .ustack = 1, .kstack = 6, .end = END_ROOT, .ran_ns = S + at - S / 4,
			      .syscall = 202, .wait = wait, .owner = owner });
}

static void put_scan(struct maker *m, uint64_t at, uint32_t scan, uint32_t rows)
{
	PUT(SCAN, scan, { .scan = scan, .time_ns = S + at, .duration_ns = 3000, .interval_ns = S, .tasks_seen = rows, .rows = rows });
}

static void put_named_scan(struct maker *m, uint32_t scan)
{
	uint64_t at = (scan - 1) * S + S / 3;

	end_chunk(m);
	put_waiting(m, at, scan, 5, 0x7f00, scan == 3 ? 302 : 0);
	put_waiting(m, at, scan, 6, 0x7f40, 0);
	put_waiting(m, at, scan, scan <= 3 ? 7 : 8, 0x7f80, 300);
	put_scan(m, at, scan, 3);
	end_chunk(m);
}

static void put_named(struct maker *m)
{
	uint32_t main = put_string(m, "main"), early = put_string(m, "early"), late = put_string(m, "late");

	PUT(PROCESS, process, { .id = 3, .tgid = 300, .comm = main, .exe = 1, .start_boottime_ns = 5 });
	PUT(PROCESS, process, { .id = 4, .tgid = 301, .comm = main, .exe = 1, .start_boottime_ns = 6 });
	PUT(THREAD, thread, { .id = 5, .process = 3, .tid = 300, .comm = main, .start_boottime_ns = 5 });
	PUT(THREAD, thread, { .id = 6, .process = 4, .tid = 301, .comm = main, .start_boottime_ns = 6 });
	PUT(THREAD, thread, { .id = 7, .process = 3, .tid = 302, .comm = early, .start_boottime_ns = 7 });
	PUT(THREAD, thread, { .id = 8, .process = 3, .tid = 302, .comm = late, .start_boottime_ns = 7 });
	put_node(m, 8, 0, PARSE);
	put_node(m, 9, 8, PARSE);
	put_node(m, 10, 9, DRAW);
	put_node(m, 11, 10, PARSE);
	put_node(m, 12, 11, DRAW);
	for (uint64_t i = 0; i < 594; i++) {
		put_sample(m, i * PERIOD, 5 + (i & 1), 0, i % 6 ? 12 : 8);
		if (i % 99 == BEFORE_SCAN)
			put_named_scan(m, (uint32_t)(i / 99 + 1));
	}
}

static void put_many(struct maker *m)
{
	enum { THREADS = 80, SCANS = 300 };

	for (uint32_t i = 0; i < THREADS; i++)
		PUT(THREAD, thread, { .id = 10 + i, .process = 1, .tid = 1000 + i, .comm = put_string(m, "waiter") });
	for (uint32_t scan = 1; scan <= SCANS; scan++) {
		uint64_t at = (scan - 1) * S / 10;

		for (uint32_t i = 0; i < THREADS; i++)
			put_waiting(m, at + i * 100, scan, 10 + i, 0x10000 * scan + i,
				    scan == 3 && i < 2 ? 1001 - i : i ? 1000 + i / 2 : 0);
		put_scan(m, at, scan, THREADS);
	}
}

static void make_trace(struct maker *m, const char *name)
{
	put_definitions(m);
	if (!strcmp(name, "one"))
		put_sample(m, 5000, 1, 0, ST_PARSE);
	else if (!strcmp(name, "named"))
		put_named(m);
	else if (!strcmp(name, "many"))
		put_many(m);
	else if (strcmp(name, "empty"))
		put_typical(m);
	PUT(END, end, { .time_ns = 11 * S, .reason = ENDED_DURATION, .samples = m->samples, .target_status = -1 });
}

static void render(const char *trace, const char *renderer, const struct query *q, const char *dir, const char *name,
		   const char *suffix)
{
	const struct renderer *r = renderer_find(renderer);
	struct fold_options fold = { .by = { .v = { FOLD_BY_NONE }, .nr = 1 } };
	struct render_opts opts = { .kernel_suffix = "" };
	struct profile *p = NULL;
	struct report *rep;
	char path[512];
	FILE *out;

	if (!strcmp(name, "wishes"))
		opts.view = (struct tree_view){ .by = { .v = { FOLD_BY_USER, FOLD_BY_STATE }, .nr = 2 },
						.turn = { .inverted = true, .callers = "::draw" } };
	if (!strcmp(name, "few")) {
		opts.top = 2;
		opts.min_percent = 10;
		opts.style.fold_recursion = true;
	}
	snprintf(path, sizeof(path), "%s/%s.%s", dir, name, suffix);
	if (report_open(trace, q, &rep) || (r->render && fold_report(rep, &fold, &p)))
		exit(1);
	out = fopen(path, "w");
	if (!out || (r->render ? r->render(p, &opts, out) : r->stream(rep, &opts, out)) || fclose(out))
		exit(1);
	profile_free(p);
	report_close(rep);
}

int main(int argc, char **argv)
{
	const struct query wall = { .weight = WEIGHT_WALL };
	struct maker m = { .is_hostile = argc > 1 && !strcmp(argv[1], "hostile") };
	bool has_scans;
	char trace[512];

	if (argc != 3)
		return fail_why(2, "usage: make_page CASE DIR");
	snprintf(trace, sizeof(trace), "%s/%s.pbz", argv[2], argv[1]);
	remove(trace);
	if (trace_writer_open(trace, NULL, &m.w))
		return 1;
	make_trace(&m, argv[1]);
	if (trace_writer_close(m.w))
		return 1;
	has_scans = m.samples > 1;
	render(trace, "html", NULL, argv[2], argv[1], "html");
	render(trace, "collapse", NULL, argv[2], argv[1], "folded");
	if (has_scans)
		render(trace, "collapse", &wall, argv[2], argv[1], "wall");
	return 0;
}
