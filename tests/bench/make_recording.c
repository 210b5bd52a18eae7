/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_recording FILE [NAME=NUMBER]...: makes a recording of the shape that real ones have, with
 * trace_writer. The same arguments give the same records. Names, with their defaults:
 *
 *	samples=1060781 hz=99 cpus=2	so many samples, so many a second on each CPU
 *	stacks=3385			distinct paths of functions; a third of all stacks go on in
 *					the kernel
 *	functions=1200 threads=16
 *	lines=0				1: with source lines, and inlined functions in every third
 *	scans=0				1: with a snapshot each second, in which a quarter of the
 *					threads have another stack than before
 *	first=0				it begins so many seconds later: recordings of one program,
 *					one after the other, have the same stacks
 *
 * make_trace.c makes each stack of random functions, so nearly all of its tree is chains that
 * nothing shares. Here, as in recordings of compilers, servers and desktops, a stack is an earlier
 * one to some depth, and then one to eight functions more, each of them one of six that its caller
 * calls; a function is met at four addresses; a few stacks have most of the samples, rare ones are
 * met late; each is defined where it is first met, and its name follows a second later. A chunk
 * ends each second, as in the recorder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_writer.h"
#include "src/base/fail.h"

enum { ADDRESSES = 4, CALLEES = 6, DEEPEST = 64, KERNEL_FUNCTIONS = 200, KERNEL_STACKS = 40 };

static const struct {
	const char *name;
	uint64_t value;
} defaults[] = { { "samples", 1060781 }, { "hz", 99 },	     { "cpus", 2 },  { "stacks", 3385 },
		 { "functions", 1200 },	 { "threads", 16 }, { "lines", 0 },
		 { "scans", 0 },	    { "first", 0 } };
enum { SAMPLES, HZ, CPUS, STACKS, FUNCTIONS, THREADS, LINES, SCANS, FIRST, NUMBERS };

struct stack {
	uint32_t path[DEEPEST];		/* functions, the outermost first */
	uint32_t depth;
	uint32_t leaf[ADDRESSES];	/* nodes; 0: not met yet */
	uint32_t node[DEEPEST];
	uint32_t from, kept;		/* the stack that it shares its first functions with */
};

struct maker {
	struct trace_writer *w;
	uint64_t number[NUMBERS];
	uint64_t seed;
	struct stack *stacks;
	uint32_t *kernel;		/* node of each kernel stack */
	uint32_t *unnamed;		/* frames to be named with the next second */
	size_t nr_unnamed;
	uint32_t *frame;		/* by function * ADDRESSES + address; 0: not met yet */
	uint32_t strings, nodes, frames, scans;
	struct rec_run *runs;		/* of a scan, one for each thread at most */
	int err;
};

static void put(struct maker *m, const struct record *rec)
{
	if (!m->err)
		m->err = trace_writer_record(m->w, rec);
}

static uint64_t begin_ns(const struct maker *m)
{
	return (1 + m->number[FIRST]) * 1000000000;
}

static uint32_t random_below(struct maker *m, uint64_t limit)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((m->seed >> 33) % limit);
}

static uint32_t put_string(struct maker *m, const char *fmt, uint32_t nr)
{
	char text[96];
	int len = snprintf(text, sizeof(text), fmt, nr, nr % 40);
	struct record rec = { .tag = REC_STRING };

	rec.string = (struct rec_string){ ++m->strings, text, (size_t)len };
	put(m, &rec);
	return m->strings;
}

/* Functions 1 .. FUNCTIONS are the program's, those behind them the kernel's. */
static bool is_kernel(const struct maker *m, uint32_t func)
{
	return func > m->number[FUNCTIONS];
}

static void put_function(struct maker *m, uint32_t nr, uint32_t nr_files, uint32_t first_file)
{
	uint32_t name = put_string(m, is_kernel(m, nr) ? "kernel_function_%u"
						       : "shop::Department_%2$u::function_%1$u", nr);
	struct record rec = { .tag = REC_FUNC };

	rec.func = (struct rec_func){ .id = nr, .name = name, .sysname = name, .lang = LANG_CXX };
	if (m->number[LINES]) {
		rec.func.file = first_file + nr % nr_files;
		rec.func.start_line = 10 * nr;
	}
	put(m, &rec);
}

static void put_process(struct maker *m)
{
	struct record rec = { .tag = REC_BINARY };

	rec.binary = (struct rec_binary){ .id = 1, .kind = BINARY_ELF,
					  .path = put_string(m, "/usr/bin/shop", 0) };
	put(m, &rec);
	rec.binary = (struct rec_binary){ .id = 2, .kind = BINARY_KERNEL,
					  .path = put_string(m, "[kernel]", 0) };
	put(m, &rec);
	rec = (struct record){ .tag = REC_PROCESS };
	rec.process = (struct rec_process){ .id = 1, .tgid = 100, .exe = 1,
					    .comm = put_string(m, "shop", 0) };
	put(m, &rec);
	for (uint32_t i = 1; i <= m->number[THREADS]; i++) {
		rec = (struct record){ .tag = REC_THREAD };
		rec.thread = (struct rec_thread){ .id = i, .process = 1, .tid = 99 + i,
						  .comm = 3 };	/* "shop" */
		put(m, &rec);
	}
}

static void put_definitions(struct maker *m)
{
	uint32_t nr_files = (uint32_t)m->number[FUNCTIONS] / 20 + 1, first = m->strings + 1;
	struct record rec = { .tag = REC_EVENT };

	for (uint32_t i = 0; i < nr_files && m->number[LINES]; i++)
		put_string(m, "/src/shop/department/file_%u.cc", i);
	for (uint32_t i = 1; i <= m->number[FUNCTIONS] + KERNEL_FUNCTIONS; i++)
		put_function(m, i, nr_files, first);
	rec.event = (struct rec_event){ .id = 1, .kind = EVENT_CPU_CLOCK,
					.name = put_string(m, "cpu-clock", 0),
					.freq_mhz = m->number[HZ] * 1000,
					.period = 1000000000 / m->number[HZ],
					.unit = put_string(m, "ns", 0) };
	put(m, &rec);
	rec.event = (struct rec_event){ .id = 2, .kind = EVENT_SNAPSHOT,
					.name = put_string(m, "snapshot", 0),
					.period = 1000000000, .unit = m->strings - 1 };
	if (m->number[SCANS])
		put(m, &rec);
}

/* Names the frames that were met since the last time. */
static void put_names(struct maker *m)
{
	for (size_t i = 0; i < m->nr_unnamed; i++) {
		uint32_t func = m->unnamed[i] / ADDRESSES, at = m->unnamed[i] % ADDRESSES;
		struct rec_line lines[3] = { { .func = func } };
		struct record rec = { .tag = REC_SYMBOL };

		rec.symbol = (struct rec_symbol){ .frame = m->frame[m->unnamed[i]],
						  .status = SYMBOL_OK, .offset = 16 + at * 8,
						  .lines = lines, .nr_lines = 1 };
		if (m->number[LINES] && func % 3 == 0 && !is_kernel(m, func)) {
			rec.symbol.nr_lines = 3;
			lines[0].func = func / 3;
			lines[1].func = func / 2;
			lines[2].func = func;
		}
		for (uint32_t j = 0; j < rec.symbol.nr_lines && m->number[LINES]; j++)
			lines[j].line = 10 * lines[j].func + at + j;
		put(m, &rec);
	}
	m->nr_unnamed = 0;
}

static uint32_t frame_of(struct maker *m, uint32_t func, uint32_t address)
{
	uint32_t at = func * ADDRESSES + address;
	struct record rec = { .tag = REC_FRAME };

	if (m->frame[at])
		return m->frame[at];
	m->frame[at] = ++m->frames;
	m->unnamed[m->nr_unnamed++] = at;
	rec.frame = (struct rec_frame){ .id = m->frames,
					.kind = is_kernel(m, func) ? FRAME_KERNEL : FRAME_USER,
					.flags = FRAME_RETURN_ADDRESS,
					.binary = is_kernel(m, func) ? 2 : 1,
					.addr = 0x1000 + 64u * func + 8 * address };
	put(m, &rec);
	return m->frames;
}

static uint32_t put_node(struct maker *m, uint32_t parent, uint32_t func, uint32_t address)
{
	struct record rec = { .tag = REC_NODE };

	rec.node.frame = frame_of(m, func, address);
	rec.node.parent = parent;
	rec.node.id = ++m->nodes;
	put(m, &rec);
	return m->nodes;
}

/* The nodes of the callers of a stack, defined if they are new. */
static uint32_t caller_of(struct maker *m, struct stack *s, uint32_t depth)
{
	uint32_t up;

	if (!depth)
		return 0;
	if (s->node[depth - 1])
		return s->node[depth - 1];
	if (depth <= s->kept)
		return s->node[depth - 1] = caller_of(m, &m->stacks[s->from], depth);
	up = caller_of(m, s, depth - 1);
	return s->node[depth - 1] = put_node(m, up, s->path[depth - 1], 0);
}

static uint32_t leaf_of(struct maker *m, struct stack *s, uint32_t address)
{
	if (!s->leaf[address])
		s->leaf[address] = put_node(m, caller_of(m, s, s->depth - 1),
					    s->path[s->depth - 1], address);
	return s->leaf[address];
}

static void make_stacks(struct maker *m)
{
	uint32_t functions = (uint32_t)m->number[FUNCTIONS];

	for (uint32_t i = 0; i < m->number[STACKS]; i++) {
		struct stack *s = &m->stacks[i], *from = &m->stacks[i ? random_below(m, i) : 0];
		uint32_t end;

		if (i) {
			/* Most branches are far inside: the deeper of two places. */
			uint32_t a = random_below(m, from->depth), b = random_below(m, from->depth);

			s->kept = a > b ? a : b;
			s->from = (uint32_t)(from - m->stacks);
			memcpy(s->path, from->path, s->kept * sizeof(*s->path));
		}
		end = s->kept + 1 + random_below(m, 8) + (i ? 0 : 8);
		for (s->depth = s->kept; s->depth < end && s->depth < DEEPEST; s->depth++) {
			uint32_t caller = s->depth ? s->path[s->depth - 1] : 0;

			s->path[s->depth] = 1 + (caller * 31 + random_below(m, CALLEES) * 7) %
							functions;
		}
	}
}

static uint32_t kernel_stack(struct maker *m, uint32_t nr)
{
	uint32_t first = (uint32_t)m->number[FUNCTIONS] + 1, node = 0;

	for (uint32_t i = 0; i < 4 + nr % 8 && !m->kernel[nr]; i++)
		node = put_node(m, node, first + (nr * (i / 3) * 13 + i) % KERNEL_FUNCTIONS, 0);
	if (!m->kernel[nr])
		m->kernel[nr] = node;
	return m->kernel[nr];
}

static void put_clock(struct maker *m, uint64_t time_ns)
{
	struct record clock = { .tag = REC_CLOCK };

	clock.clock = (struct rec_clock){ .mono_ns = time_ns,
					  .real_ns = 1700000000000000000 + time_ns };
	put(m, &clock);
}

static void put_sample(struct maker *m, uint64_t nr, uint64_t period)
{
	uint64_t stacks = m->number[STACKS], cpus = m->number[CPUS];
	struct record rec = { .tag = REC_SAMPLE };
	uint64_t pick = random_below(m, stacks);

	/* A tenth of the stacks have about half of the samples. */
	pick = pick * random_below(m, stacks) / stacks * random_below(m, stacks) / stacks;
	rec.sample = (struct rec_sample){
		.time_ns = begin_ns(m) + nr / cpus * period + random_below(m, 20000), .event = 1,
		.thread = 1 + random_below(m, m->number[THREADS]), .cpu = (uint32_t)(nr % cpus),
		.weight = period, .state = TASK_RUNNING, .end = END_ROOT,
	};
	rec.sample.ustack = leaf_of(m, &m->stacks[pick], random_below(m, ADDRESSES));
	if (pick % 3 == 0)
		rec.sample.kstack = kernel_stack(m, (uint32_t)(pick / 3 % KERNEL_STACKS));
	put(m, &rec);
}

static void put_row(struct maker *m, uint32_t thread, uint64_t time_ns)
{
	struct record rec = { .tag = REC_SAMPLE };
	uint32_t pick = random_below(m, m->number[STACKS]);

	rec.sample = (struct rec_sample){
		.time_ns = time_ns + 1000u * thread, .event = 2, .thread = thread,
		.scan = m->scans, .cpu = UINT32_MAX, .weight = 1000000000, .state = TASK_SLEEPING,
		.end = END_ROOT, .ustack = leaf_of(m, &m->stacks[pick], 0),
	};
	put(m, &rec);
}

static void put_scan(struct maker *m, uint64_t time_ns)
{
	struct rec_repeat same = { .time_ns = time_ns, .scan = ++m->scans, .runs = m->runs };
	uint32_t threads = (uint32_t)m->number[THREADS], before = 0;
	struct record rec = { .tag = REC_SCAN };

	rec.scan = (struct rec_scan){ .scan = m->scans, .time_ns = time_ns, .rows = threads };
	for (uint32_t t = 1; t <= threads; t++) {
		if (m->scans == 1 || !random_below(m, 4)) {
			put_row(m, t, time_ns);
			continue;
		}
		if (!before || before + 1 != t)
			m->runs[same.nr_runs++] = (struct rec_run){ t, 0 };
		m->runs[same.nr_runs - 1].nr++;
		before = t;
	}
	if (same.nr_runs)
		put(m, &(struct record){ .tag = REC_REPEAT, .repeat = same });
	put(m, &rec);
}

static void put_samples(struct maker *m)
{
	uint64_t samples = m->number[SAMPLES], second = m->number[HZ] * m->number[CPUS],
		 period = 1000000000 / m->number[HZ];
	struct record rec = { .tag = REC_END };
	uint64_t i;

	for (i = 0; i < samples && !m->err; i++) {
		put_sample(m, i, period);
		if (i % second)
			continue;
		put_names(m);
		if (i / second % 60 == 0)
			put_clock(m, begin_ns(m) + i / m->number[CPUS] * period);
		if (m->number[SCANS])
			put_scan(m, begin_ns(m) + i / m->number[CPUS] * period);
		if (!m->err)
			m->err = trace_writer_flush(m->w);
	}
	put_names(m);
	rec.end = (struct rec_end){ .time_ns = begin_ns(m) + i / m->number[CPUS] * period,
				    .reason = ENDED_DURATION, .samples = samples,
				    .target_status = -1 };
	put(m, &rec);
}

static int parse_numbers(struct maker *m, char **argv)
{
	for (size_t i = 0; i < NUMBERS; i++)
		m->number[i] = defaults[i].value;
	for (; *argv; argv++) {
		size_t i, len = strcspn(*argv, "=");

		for (i = 0; i < NUMBERS && (strncmp(*argv, defaults[i].name, len) ||
					    defaults[i].name[len]); i++)
			;
		if (i == NUMBERS || !(*argv)[len])
			return fail_why(-1, "make_recording: what is %s?", *argv);
		m->number[i] = strtoull(*argv + len + 1, NULL, 10);
	}
	return 0;
}

static void make(struct maker *m)
{
	put_clock(m, begin_ns(m));
	put_process(m);
	put_definitions(m);
	make_stacks(m);
	m->seed += m->number[FIRST];
	put_samples(m);
}

int main(int argc, char **argv)
{
	struct maker m = { .seed = 1 };
	size_t functions;

	if (argc < 2)
		return fail_why(2, "usage: make_recording FILE [NAME=NUMBER]...");
	if (parse_numbers(&m, argv + 2))
		return 2;
	functions = m.number[FUNCTIONS] + KERNEL_FUNCTIONS + 1;
	m.stacks = calloc(m.number[STACKS], sizeof(*m.stacks));
	m.kernel = calloc(KERNEL_STACKS, sizeof(*m.kernel));
	m.frame = calloc(functions * ADDRESSES, sizeof(*m.frame));
	m.unnamed = calloc(functions * ADDRESSES, sizeof(*m.unnamed));
	m.runs = calloc(m.number[THREADS], sizeof(*m.runs));
	m.err = m.stacks && m.kernel && m.frame && m.unnamed && m.runs
			? trace_writer_open(argv[1], NULL, &m.w) : -1;
	if (!m.err) {
		make(&m);
		if (trace_writer_close(m.w))
			m.err = -1;
	}
	free(m.stacks);
	free(m.kernel);
	free(m.frame);
	free(m.unnamed);
	free(m.runs);
	return m.err != 0;
}
