/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_fleet DIR HOSTS: recordings of the machines web-1.pbz ... of a small fleet, for docs/SQL.md. All run the service shop;
 * the second half of the hosts has release 2 of it, in which checksum() takes twice the share of before, and render() less.
 *
 *	CPU time		600 samples of each host, 99 Hz, of 3 threads
 *	snapshots		20, one each 300 ms; from the 5th to the 9th the thread "journal" of hosts with an odd
 *				number waits for the disk in write_block(), otherwise it sleeps
 *
 * The container is that of the process shop; a second process, cron, has none. What is drawn by lot is the same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_writer.h"

enum { FUNCTIONS = 9, SAMPLES = 600, SCANS = 20 };	/* the last scan is at 6 s, before the last sample */
#define T0 5000000000ull
#define REAL0 1790000000000000000ull	/* 2026-09-21 14:13:20 UTC */
#define PERIOD 10101010ull

enum function { MAIN = 1, SERVE, PARSE, CHECKSUM, RENDER, WRITE_BLOCK, ENTRY, IO_SCHEDULE, SCHEDULE };

static const char *const names[FUNCTIONS + 1] = {
	"", "main", "shop::serve(Request const&)", "shop::parse(char const*, unsigned long)", "checksum", "render",
	"write_block", "entry_SYSCALL_64", "io_schedule", "schedule",
};

/*
 * Parent and function of each node: 1 main, 2 serve, 3 parse, 4 checksum, 5 parse again (recursion), 6 render, 7 checksum in it,
 * 8 write_block; kernel: 9 entry, 10 io_schedule, 11 schedule.
 */
static const uint32_t nodes[][2] = {
	{ 0, MAIN }, { 1, SERVE }, { 2, PARSE }, { 3, CHECKSUM }, { 3, PARSE }, { 2, RENDER }, { 6, CHECKSUM }, { 1, WRITE_BLOCK },
	{ 0, ENTRY }, { 9, IO_SCHEDULE }, { 9, SCHEDULE },
};

struct maker {
	struct trace_writer *w;
	uint64_t seed;
	uint32_t strings;
	int err;
};

static void put(struct maker *m, const struct record *rec)
{
	if (!m->err)
		m->err = trace_writer_record(m->w, rec);
}

static uint32_t below(struct maker *m, uint32_t limit)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((m->seed >> 33) % limit);
}

static uint32_t string(struct maker *m, const char *text)
{
	struct record rec = { .tag = REC_STRING, .string = { ++m->strings, text, strlen(text) } };

	put(m, &rec);
	return m->strings;
}

static void meta(struct maker *m, const char *key, const char *value)
{
	put(m, &(struct record){ .tag = REC_META, .meta = { key, value, strlen(value) } });
}

static void put_facts(struct maker *m, unsigned host)
{
	char name[32];

	snprintf(name, sizeof(name), "web-%u", host);
	meta(m, "tool", "make_fleet");
	meta(m, "argv", "make_fleet");
	meta(m, "mode", "record");
	meta(m, "host", name);
	meta(m, "kernel.release", "6.1.0-test");
	meta(m, "arch", "x86_64");
	meta(m, "cpus.online", "0-1");
	put(m, &(struct record){ .tag = REC_CLOCK, .clock = { T0, REAL0 + host * 1000, T0, 100 } });
}

static void put_tasks(struct maker *m, unsigned release)
{
	static const char container[] = "/system.slice/docker-"
		"4f3a5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566779c.scope";
	uint32_t shop = string(m, "shop"), cron = string(m, "cron"), journal = string(m, "journal"),
		 cgroup = string(m, container), system = string(m, "/system.slice/cron.service");
	struct record rec = { .tag = REC_BINARY };

	rec.binary = (struct rec_binary){ .id = 1, .kind = BINARY_ELF, .path = string(m, "/usr/bin/shop"),
					  .build_id = { 0xb1, 0xd0, (uint8_t)release }, .build_id_len = 20 };
	put(m, &rec);
	rec.binary = (struct rec_binary){ .id = 2, .kind = BINARY_KERNEL, .path = string(m, "[kernel.kallsyms]") };
	put(m, &rec);
	rec.binary = (struct rec_binary){ .id = 3, .kind = BINARY_ELF, .path = string(m, "/usr/sbin/cron"),
					  .build_id = { 0xc0 }, .build_id_len = 20 };
	put(m, &rec);
	put(m, &(struct record){ .tag = REC_PROCESS, .process = { .id = 1, .tgid = 100, .comm = shop, .exe = 1, .cgroup = cgroup } });
	put(m, &(struct record){ .tag = REC_PROCESS, .process = { .id = 2, .tgid = 50, .comm = cron, .exe = 3, .cgroup = system } });
	put(m, &(struct record){ .tag = REC_THREAD, .thread = { 1, 1, 100, shop, 1, 0 } });
	put(m, &(struct record){ .tag = REC_THREAD, .thread = { 2, 1, 101, journal, 1, 0 } });
	put(m, &(struct record){ .tag = REC_THREAD, .thread = { 3, 2, 50, cron, 1, 0 } });
}

static void put_functions(struct maker *m)
{
	uint32_t file = string(m, "src/shop.cc"), i;
	struct rec_line line;

	for (i = 1; i <= FUNCTIONS; i++) {
		bool kernel = i >= ENTRY;
		uint32_t name = string(m, names[i]);

		put(m, &(struct record){ .tag = REC_FRAME, .frame = { .id = i, .kind = kernel ? FRAME_KERNEL : FRAME_USER,
								     .binary = kernel ? 2 : 1, .addr = 0x1000 + 64 * i } });
		put(m, &(struct record){ .tag = REC_FUNC, .func = { .id = i, .name = name, .sysname = name,
								   .file = kernel ? 0 : file, .start_line = kernel ? 0 : 10 * i } });
		line = (struct rec_line){ i, kernel ? 0 : 10 * i + 3, 0, 0 };
		put(m, &(struct record){ .tag = REC_SYMBOL, .symbol = { i, SYMBOL_OK, 16, &line, 1 } });
	}
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		put(m, &(struct record){ .tag = REC_NODE, .node = { i + 1, nodes[i][0], nodes[i][1] } });
}

static void put_scan(struct maker *m, unsigned host, uint32_t scan, uint32_t file)
{
	uint64_t time = T0 + scan * 300000000ull;
	bool is_stuck = host % 2 && scan >= 5 && scan <= 9;
	struct rec_sample row = { .time_ns = time, .event = 2, .cpu = UINT32_MAX, .weight = 1, .state = TASK_SLEEPING, .end = END_ROOT,
				  .kstack = 11, .ustack = 2, .scan = scan, .ran_ns = time - 5000000 };

	row.thread = 1;
	put(m, &(struct record){ .tag = REC_SAMPLE, .sample = row });
	row.thread = 3;
	put(m, &(struct record){ .tag = REC_SAMPLE, .sample = row });
	row.thread = 2;
	row.ustack = 8;
	row.kstack = is_stuck ? 10 : 11;
	row.state = is_stuck ? TASK_DISK : TASK_SLEEPING;
	row.syscall = is_stuck ? 2 : 0;		/* write(2) is number 1 on x86_64 */
	row.file = is_stuck ? file : 0;
	put(m, &(struct record){ .tag = REC_SAMPLE, .sample = row });
	put(m, &(struct record){ .tag = REC_SCAN, .scan = { .scan = scan, .time_ns = time, .duration_ns = 1000000,
							   .interval_ns = 300000000, .tasks_seen = 3, .rows = 3 } });
}

static void put_cpu_sample(struct maker *m, unsigned release, unsigned i)
{
	uint32_t lot = below(m, 100), checksums = release == 2 ? 68 : 44;
	uint32_t stack = lot < 5 ? 2 : lot < 15 ? 3 : lot < 20 ? 5 : lot < checksums ? 4 : lot < 90 ? 6 : 7;
	bool in_kernel = below(m, 16) == 0;

	put(m, &(struct record){ .tag = REC_SAMPLE, .sample = {
		.time_ns = T0 + i * PERIOD, .event = 1, .thread = 1 + below(m, 3), .cpu = i & 1,
		.kstack = in_kernel ? 9 : 0, .ustack = stack, .weight = PERIOD, .state = TASK_RUNNING, .end = END_ROOT } });
}

/* A chunk for each second, as a recorder does it. */
static void put_samples(struct maker *m, unsigned host, unsigned release, uint32_t file)
{
	uint32_t scan = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		if (scan < SCANS && i * PERIOD >= (scan + 1) * 300000000ull)
			put_scan(m, host, ++scan, file);
		put_cpu_sample(m, release, i);
		if (i % 99 == 98 && !m->err)
			m->err = trace_writer_flush(m->w);
	}
}

static int make(const char *path, unsigned host, unsigned release)
{
	struct maker m = { .seed = host };
	uint32_t file;
	int err = trace_writer_open(path, NULL, &m.w);

	if (err)
		return err;
	put_facts(&m, host);
	put_tasks(&m, release);
	put(&m, &(struct record){ .tag = REC_EVENT, .event = { .id = 1, .name = string(&m, "cpu-clock"), .kind = EVENT_CPU_CLOCK,
							      .freq_mhz = 99000, .period = PERIOD, .unit = string(&m, "ns") } });
	put(&m, &(struct record){ .tag = REC_EVENT, .event = { .id = 2, .name = string(&m, "snapshot"), .kind = EVENT_SNAPSHOT,
							      .period = 1, .unit = string(&m, "count") } });
	file = string(&m, "/var/lib/shop/journal");
	put_functions(&m);
	put_samples(&m, host, release, file);
	put(&m, &(struct record){ .tag = REC_END, .end = { .time_ns = T0 + 6100000000ull, .reason = ENDED_DURATION,
							  .samples = SAMPLES + 3 * SCANS, .scans = SCANS, .target_status = -1 } });
	err = trace_writer_close(m.w);
	return m.err ? m.err : err;
}

int main(int argc, char **argv)
{
	unsigned hosts = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	char path[4096];
	int err = !hosts;

	for (unsigned i = 1; i <= hosts && !err; i++) {
		snprintf(path, sizeof(path), "%s/web-%u.pbz", argv[1], i);
		err = make(path, i, i > hosts / 2 ? 2 : 1);
	}
	return err ? 1 : 0;
}
