/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_trace FILE [SAMPLES=1000000 [STACKS=3385 [CPUS=2 [SEED=1]]]]: makes an artificial recording
 * with trace_writer: so many samples of so many distinct stacks, 8 to 40 deep, of 16 threads on so
 * many CPUs at 99 Hz, where some stacks are far more frequent than the others. The same arguments
 * give the same records. With a seed it is of a host of its own, host-SEED.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/trace/trace_writer.h"
#include "src/base/fail.h"

enum { THREADS = 16, FUNCTIONS = 2000, KERNEL_FUNCTIONS = 200, SHALLOWEST = 8, DEPTHS = 33 };
enum { PERIOD_NS = 1000000000 / 99 };

struct maker {
	struct trace_writer *w;
	uint64_t seed;
	uint32_t strings, nodes;
	uint32_t *leaf;			/* node of each stack */
	uint32_t nr_stacks, cpus;
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

static uint32_t put_string(struct maker *m, const char *fmt, uint32_t nr)
{
	char text[64];
	int len = snprintf(text, sizeof(text), fmt, nr);
	struct record rec = { .tag = REC_STRING };

	rec.string = (struct rec_string){ ++m->strings, text, (size_t)len };
	put(m, &rec);
	return m->strings;
}

/* Frames 1 .. FUNCTIONS are user code, the KERNEL_FUNCTIONS after them are the kernel's. */
static void put_function(struct maker *m, uint32_t nr)
{
	bool kernel = nr > FUNCTIONS;
	uint32_t name = put_string(m, kernel ? "kernel_function_%u" : "shop::Department::function_%u", nr);
	struct rec_line line = { .func = nr };
	struct record rec = { .tag = REC_FRAME };

	rec.frame = (struct rec_frame){ .id = nr, .kind = kernel ? FRAME_KERNEL : FRAME_USER,
					.flags = FRAME_RETURN_ADDRESS, .binary = kernel ? 2 : 1,
					.addr = 0x1000 + 64u * nr };
	put(m, &rec);
	rec = (struct record){ .tag = REC_FUNC };
	rec.func = (struct rec_func){ .id = nr, .name = name, .sysname = name, .lang = LANG_CXX };
	put(m, &rec);
	rec = (struct record){ .tag = REC_SYMBOL };
	rec.symbol = (struct rec_symbol){ .frame = nr, .status = SYMBOL_OK_SYMTAB, .offset = 16,
					  .lines = &line, .nr_lines = 1 };
	put(m, &rec);
}

static void put_host(struct maker *m)
{
	char host[32];
	int len = snprintf(host, sizeof(host), "host-%" PRIu64, m->seed);
	struct record rec = { .tag = REC_META, .meta = { "host", host, (size_t)len } };

	put(m, &rec);
}

static void put_definitions(struct maker *m)
{
	struct record rec = { .tag = REC_BINARY };
	uint32_t i;

	rec.binary = (struct rec_binary){ .id = 1, .kind = BINARY_ELF, .path = put_string(m, "/usr/bin/shop", 0) };
	put(m, &rec);
	rec.binary = (struct rec_binary){ .id = 2, .kind = BINARY_KERNEL, .path = put_string(m, "[kernel]", 0) };
	put(m, &rec);
	rec = (struct record){ .tag = REC_PROCESS };
	rec.process = (struct rec_process){ .id = 1, .tgid = 100, .comm = put_string(m, "shop", 0), .exe = 1 };
	put(m, &rec);
	for (i = 1; i <= THREADS; i++) {
		rec = (struct record){ .tag = REC_THREAD };
		rec.thread = (struct rec_thread){ .id = i, .process = 1, .tid = 99 + i,
						  .comm = put_string(m, "till-%u", i) };
		put(m, &rec);
	}
	for (i = 1; i <= FUNCTIONS + KERNEL_FUNCTIONS; i++)
		put_function(m, i);
	rec = (struct record){ .tag = REC_EVENT };
	rec.event = (struct rec_event){ .id = 1, .name = put_string(m, "cpu-clock", 0), .kind = EVENT_CPU_CLOCK,
					.freq_mhz = 99000, .period = PERIOD_NS, .unit = put_string(m, "ns", 0) };
	put(m, &rec);
}

/* A stack shares some outer frames with the previous stack, as real ones do. */
static void put_stacks(struct maker *m)
{
	uint32_t path[SHALLOWEST + DEPTHS], have = 0, i;
	struct record rec = { .tag = REC_NODE };

	for (i = 0; i < m->nr_stacks; i++) {
		uint32_t depth = SHALLOWEST + random_below(m, DEPTHS);
		uint32_t keep = have ? random_below(m, have < depth ? have : depth) : 0;

		for (have = keep; have < depth; have++) {
			path[have] = ++m->nodes;
			rec.node = (struct rec_node){ .id = m->nodes, .parent = have ? path[have - 1] : 0,
						      .frame = 1 + random_below(m, FUNCTIONS) };
			put(m, &rec);
		}
		m->leaf[i] = path[depth - 1];
	}
}

static uint32_t put_kernel_stack(struct maker *m)
{
	struct record rec = { .tag = REC_NODE };
	uint32_t i;

	for (i = 0; i < 6; i++) {
		rec.node = (struct rec_node){ .id = m->nodes + 1, .parent = i ? m->nodes : 0,
					      .frame = FUNCTIONS + 1 + random_below(m, KERNEL_FUNCTIONS) };
		m->nodes++;
		put(m, &rec);
	}
	return m->nodes;
}

static void put_samples(struct maker *m, uint64_t samples)
{
	uint32_t kernel = put_kernel_stack(m);
	struct record rec = { .tag = REC_SAMPLE };
	uint64_t i;

	for (i = 0; i < samples && !m->err; i++) {
		uint32_t pick = random_below(m, m->nr_stacks);

		if (random_below(m, 4))
			pick = random_below(m, pick + 1);
		rec.sample = (struct rec_sample){
			.time_ns = 1000000000 + i / m->cpus * PERIOD_NS + random_below(m, 20000), .event = 1,
			.thread = 1 + random_below(m, THREADS), .cpu = (uint32_t)(i % m->cpus),
			.kstack = random_below(m, 8) ? 0 : kernel, .ustack = m->leaf[pick],
			.weight = PERIOD_NS, .state = TASK_RUNNING, .end = END_ROOT,
		};
		put(m, &rec);
	}
	rec = (struct record){ .tag = REC_END };
	rec.end = (struct rec_end){ .time_ns = 1000000000 + samples / m->cpus * PERIOD_NS, .reason = ENDED_DURATION,
				    .samples = samples, .target_status = -1 };
	put(m, &rec);
}

int main(int argc, char **argv)
{
	struct maker m = { .seed = 1 };
	struct record clock = { .tag = REC_CLOCK };
	uint64_t samples = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;

	if (argc < 2)
		return fail_why(2, "usage: make_trace FILE [SAMPLES [STACKS [CPUS [SEED]]]]");
	if (argc > 5)
		m.seed = strtoull(argv[5], NULL, 10);
	m.nr_stacks = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 3385;
	m.cpus = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 2;
	if (!m.cpus)
		return fail_why(2, "make_trace: no CPUs");
	m.leaf = calloc(m.nr_stacks, sizeof(*m.leaf));
	m.err = m.leaf ? trace_writer_open(argv[1], NULL, &m.w) : -1;
	if (!m.err) {
		clock.clock = (struct rec_clock){ .mono_ns = 1000000000, .real_ns = 1700000000000000000 };
		if (argc > 4)
			put_host(&m);
		put(&m, &clock);
		put_definitions(&m);
		put_stacks(&m);
		put_samples(&m, samples);
		if (trace_writer_close(m.w))
			m.err = -1;
	}
	free(m.leaf);
	return m.err != 0;
}
