/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One small recording with known content, for every test that needs a trace:
 *
 *	trace_fixture_emit(fn, ctx)		the records, in order, into any record_fn
 *	trace_fixture_write(path)		the same as a .pbz file
 *
 * A cpu-clock part (FIX_CPU_SAMPLES rows of 99 Hz) and one walk over all tasks (FIX_SCAN_ROWS rows):
 *
 *	process 1 "server" (100): threads 1 "server" (100), 2 "worker" (101)
 *	process 2 "kworker/0:1" (7), kernel thread: thread 3
 *
 *	row  ms  thread  cpu  user stack (root first)                   kernel stack             end
 *	 1   10    1      0   _start;main;handle_request;hot_loop        -                        root
 *	 2   20    1      0   _start;main;handle_request;hot_loop        -                        root
 *	 3   21    2      1   _start;main;handle_request                 entry;do_syscall;schedule root
 *	 4   30    1      0   _start;main;handle_request;[0x7700 guess]  -                        root-guess
 *	 5   31    2      1   [0x7f0000001234 unmapped]                  -                        no-fde
 *	walk 1, at 40 ms:
 *	 6   40    1      -   _start;main;handle_request                 entry;do_syscall;schedule root, sleeping since 7 ms
 *							in a futex that 101 holds
 *	 7   40    2      1   -                                          -                        running
 *	 8   41    3      -   -                                          kthread;schedule         kthread, idle
 *
 * handle_request is the outer function of an inline chain: its frame shows parse_header inlined into it.
 * 0x7700 has a SYMBOL without a name; the unmapped frame has no SYMBOL at all.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "formats/trace/trace_writer.h"
#include "src/model/record.h"

#define FIX_T0 1000000000000ull		/* CLOCK_MONOTONIC of the start */
#define FIX_REAL 1790000000000000000ull	/* CLOCK_REALTIME at FIX_T0 */
#define FIX_MS 1000000ull
#define FIX_PERIOD 10101010ull		/* ns: 99 Hz */
enum { FIX_CPU_SAMPLES = 5, FIX_SCAN_ROWS = 3, FIX_SAMPLES = 8, FIX_LOST = 9 };

/* String ids: what X is about stands at id FIX_S_X. */
enum fixture_string {
	FIX_S_NONE, FIX_S_SERVER, FIX_S_WORKER, FIX_S_KWORKER, FIX_S_SERVER_PATH, FIX_S_KERNEL_PATH,
	FIX_S_CGROUP, FIX_S_CPU_CLOCK, FIX_S_NS, FIX_S_SNAPSHOT, FIX_S_COUNT,
	FIX_S_START, FIX_S_MAIN, FIX_S_HANDLE, FIX_S_HANDLE_SYS, FIX_S_PARSE, FIX_S_HOT, FIX_S_FILE,
	FIX_S_ENTRY, FIX_S_SYSCALL, FIX_S_SCHEDULE, FIX_S_KTHREAD,
	FIX_STRINGS
};

static const char *const fixture_strings[FIX_STRINGS] = {
	"", "server", "worker", "kworker/0:1", "/usr/bin/server", "[kernel.kallsyms]",
	"/system.slice/server.service", "cpu-clock", "ns", "snapshot", "count",
	"_start", "main", "handle_request(int)", "_Z14handle_requesti", "parse_header", "hot_loop", "src/server.cc",
	"entry_SYSCALL_64", "do_syscall_64", "schedule", "kthread",
};

enum { FIX_B_KERNEL = 1, FIX_B_SERVER };
enum { FIX_P_SERVER = 1, FIX_P_KWORKER };
enum { FIX_T_SERVER = 1, FIX_T_WORKER, FIX_T_KWORKER };
enum { FIX_E_CPU = 1, FIX_E_SCAN };

static const struct rec_frame fixture_frames[] = {
	{ .id = 1, .kind = FRAME_USER, .binary = FIX_B_SERVER, .addr = 0x1050, .flags = FRAME_RETURN_ADDRESS },
	{ .id = 2, .kind = FRAME_USER, .binary = FIX_B_SERVER, .addr = 0x1234, .flags = FRAME_RETURN_ADDRESS },
	{ .id = 3, .kind = FRAME_USER, .binary = FIX_B_SERVER, .addr = 0x1340, .flags = FRAME_RETURN_ADDRESS },
	{ .id = 4, .kind = FRAME_USER, .binary = FIX_B_SERVER, .addr = 0x1410 },
	{ .id = 5, .kind = FRAME_USER, .binary = FIX_B_SERVER, .addr = 0x7700,
	  .flags = FRAME_GUESSED | FRAME_RETURN_ADDRESS },
	{ .id = 6, .kind = FRAME_KERNEL, .binary = FIX_B_KERNEL, .addr = 0x1000, .flags = FRAME_RETURN_ADDRESS },
	{ .id = 7, .kind = FRAME_KERNEL, .binary = FIX_B_KERNEL, .addr = 0x2000, .flags = FRAME_RETURN_ADDRESS },
	{ .id = 8, .kind = FRAME_KERNEL, .binary = FIX_B_KERNEL, .addr = 0x3000 },
	{ .id = 9, .kind = FRAME_KERNEL, .binary = FIX_B_KERNEL, .addr = 0x4000, .flags = FRAME_RETURN_ADDRESS },
	{ .id = 10, .kind = FRAME_USER, .addr = 0x7f0000001234ull, .flags = FRAME_UNMAPPED },
};

/* parent = caller. 4: hot_loop, 3: handle_request, 5: guess, 8: schedule, 10: kthread's, 11: unmapped */
static const struct rec_node fixture_nodes[] = {
	{ 1, 0, 1 }, { 2, 1, 2 }, { 3, 2, 3 }, { 4, 3, 4 }, { 5, 3, 5 },
	{ 6, 0, 6 }, { 7, 6, 7 }, { 8, 7, 8 }, { 9, 0, 9 }, { 10, 9, 8 }, { 11, 0, 10 },
};

static const struct rec_func fixture_funcs[] = {
	{ .id = 1, .name = FIX_S_START, .sysname = FIX_S_START },
	{ .id = 2, .name = FIX_S_MAIN, .sysname = FIX_S_MAIN, .file = FIX_S_FILE, .start_line = 10, .lang = LANG_CXX },
	{ .id = 3, .name = FIX_S_HANDLE, .sysname = FIX_S_HANDLE_SYS, .file = FIX_S_FILE, .start_line = 30,
	  .lang = LANG_CXX },
	{ .id = 4, .name = FIX_S_PARSE, .sysname = FIX_S_PARSE, .file = FIX_S_FILE, .start_line = 50, .lang = LANG_CXX },
	{ .id = 5, .name = FIX_S_HOT, .sysname = FIX_S_HOT, .file = FIX_S_FILE, .start_line = 70, .lang = LANG_CXX },
	{ .id = 6, .name = FIX_S_ENTRY, .sysname = FIX_S_ENTRY },
	{ .id = 7, .name = FIX_S_SYSCALL, .sysname = FIX_S_SYSCALL },
	{ .id = 8, .name = FIX_S_SCHEDULE, .sysname = FIX_S_SCHEDULE },
	{ .id = 9, .name = FIX_S_KTHREAD, .sysname = FIX_S_KTHREAD },
};

static const struct rec_line fixture_lines[] = {
	{ 1, 0, 0, 0 }, { 2, 12, 5, 0 }, { 4, 55, 9, 0 }, { 3, 33, 3, 0 }, { 5, 71, 0, 0 }, { 6, 0, 0, 0 }, { 7, 0, 0, 0 }, { 8, 0, 0, 0 }, { 9, 0, 0, 0 },
};

static const struct rec_symbol fixture_symbols[] = {
	{ .frame = 1, .status = SYMBOL_OK_SYMTAB, .offset = 0x10, .lines = &fixture_lines[0], .nr_lines = 1 },
	{ .frame = 2, .status = SYMBOL_OK, .offset = 0x34, .lines = &fixture_lines[1], .nr_lines = 1 },
	{ .frame = 3, .status = SYMBOL_OK, .offset = 0x40, .lines = &fixture_lines[2], .nr_lines = 2 },
	{ .frame = 4, .status = SYMBOL_OK, .offset = 0x10, .lines = &fixture_lines[4], .nr_lines = 1 },
	{ .frame = 5, .status = SYMBOL_STRIPPED },
	{ .frame = 6, .status = SYMBOL_OK_SYMTAB, .offset = 0x80, .lines = &fixture_lines[5], .nr_lines = 1 },
	{ .frame = 7, .status = SYMBOL_OK_SYMTAB, .offset = 0x3c, .lines = &fixture_lines[6], .nr_lines = 1 },
	{ .frame = 8, .status = SYMBOL_OK_SYMTAB, .offset = 0x2f, .lines = &fixture_lines[7], .nr_lines = 1 },
	{ .frame = 9, .status = SYMBOL_OK_SYMTAB, .offset = 0xd3, .lines = &fixture_lines[8], .nr_lines = 1 },
};

static const struct rec_sample fixture_samples[FIX_SAMPLES] = {
	{ .time_ns = FIX_T0 + 10 * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_SERVER, .cpu = 0, .ustack = 4,
	  .weight = FIX_PERIOD, .state = TASK_RUNNING, .end = END_ROOT },
	{ .time_ns = FIX_T0 + 20 * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_SERVER, .cpu = 0, .ustack = 4,
	  .weight = FIX_PERIOD, .state = TASK_RUNNING, .end = END_ROOT },
	{ .time_ns = FIX_T0 + 21 * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_WORKER, .cpu = 1, .kstack = 8, .ustack = 3,
	  .weight = FIX_PERIOD, .state = TASK_RUNNING, .end = END_ROOT, .flags = SAMPLE_IN_KERNEL },
	{ .time_ns = FIX_T0 + 30 * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_SERVER, .cpu = 0, .ustack = 5,
	  .weight = FIX_PERIOD, .state = TASK_RUNNING, .end = END_ROOT_GUESS, .flags = SAMPLE_HAS_GUESS },
	{ .time_ns = FIX_T0 + 31 * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_WORKER, .cpu = 1, .ustack = 11,
	  .weight = FIX_PERIOD, .state = TASK_RUNNING, .end = END_NO_FDE },
	{ .time_ns = FIX_T0 + 40 * FIX_MS, .event = FIX_E_SCAN, .thread = FIX_T_SERVER, .cpu = UINT32_MAX, .kstack = 8,
	  .ustack = 3, .weight = 1, .state = TASK_SLEEPING, .end = END_ROOT, .scan = 1, .ran_ns = FIX_T0 + 7 * FIX_MS,
	  .syscall = 203, .wait = 0x7700, .owner = 101 },
	{ .time_ns = FIX_T0 + 40 * FIX_MS, .event = FIX_E_SCAN, .thread = FIX_T_WORKER, .cpu = 1, .weight = 1,
	  .state = TASK_RUNNING, .end = END_RUNNING, .scan = 1 },
	{ .time_ns = FIX_T0 + 41 * FIX_MS, .event = FIX_E_SCAN, .thread = FIX_T_KWORKER, .cpu = UINT32_MAX, .kstack = 10,
	  .weight = 1, .state = TASK_IDLE, .end = END_KTHREAD, .scan = 1 },
};

static const struct { const char *key, *value; } fixture_metas[] = {
	{ "tool", "probee 0.1.0" }, { "argv", "probee sample -a -F 99" }, { "mode", "sample" }, { "host", "fixture" },
	{ "kernel.release", "6.1.0-test" }, { "arch", "x86_64" }, { "cpus.online", "2" }, { "unwind", "mixed" },
};

/* Sends *rec when nothing has failed before. */
static inline void fixture_send(int *err, record_fn fn, void *ctx, const struct record *rec)
{
	if (!*err)
		*err = fn(ctx, rec);
}

#define FIX_SEND(TAG, field, ...) \
	fixture_send(&err, fn, ctx, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ })

static inline int fixture_emit_facts(record_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(fixture_metas) / sizeof(fixture_metas[0]); i++)
		FIX_SEND(META, meta, { fixture_metas[i].key, fixture_metas[i].value, strlen(fixture_metas[i].value) });
	FIX_SEND(CLOCK, clock, { FIX_T0, FIX_REAL, FIX_T0 + 5, 40 });
	for (uint32_t i = 1; i < FIX_STRINGS; i++)
		FIX_SEND(STRING, string, { i, fixture_strings[i], strlen(fixture_strings[i]) });
	FIX_SEND(EVENT, event, { .id = FIX_E_CPU, .name = FIX_S_CPU_CLOCK, .kind = EVENT_CPU_CLOCK,
				 .freq_mhz = 99000, .period = FIX_PERIOD, .unit = FIX_S_NS });
	FIX_SEND(EVENT, event, { .id = FIX_E_SCAN, .name = FIX_S_SNAPSHOT, .kind = EVENT_SNAPSHOT,
				 .period = 1, .unit = FIX_S_COUNT });
	return err;
}

static inline int fixture_emit_tasks(record_fn fn, void *ctx)
{
	static const struct rec_segment text = { 0x1000, 0x1000, 0x8000 };
	int err = 0;

	FIX_SEND(BINARY, binary, { .id = FIX_B_KERNEL, .kind = BINARY_KERNEL, .path = FIX_S_KERNEL_PATH });
	FIX_SEND(BINARY, binary, { .id = FIX_B_SERVER, .kind = BINARY_ELF, .path = FIX_S_SERVER_PATH,
				   .build_id = { 0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 },
				   .build_id_len = 20, .size_bytes = 123456, .mtime_ns = 1700000000000000000ll, .dev = 0xfe01,
				   .ino = 4242, .flags = BINARY_HAS_UNWIND_TABLE, .segments = &text, .nr_segments = 1 });
	FIX_SEND(PROCESS, process, { .id = FIX_P_SERVER, .tgid = 100, .start_boottime_ns = 5000000000ull,
				     .comm = FIX_S_SERVER, .exe = FIX_B_SERVER, .flags = PROCESS_FROM_SCAN, .uid = 1000,
				     .cgroup = FIX_S_CGROUP });
	FIX_SEND(THREAD, thread, { FIX_T_SERVER, FIX_P_SERVER, 100, FIX_S_SERVER, 5000000000ull, 0 });
	FIX_SEND(THREAD, thread, { FIX_T_WORKER, FIX_P_SERVER, 101, FIX_S_WORKER, 5100000000ull, 0 });
	FIX_SEND(PROCESS, process, { .id = FIX_P_KWORKER, .tgid = 7, .start_boottime_ns = 1, .comm = FIX_S_KWORKER,
				     .flags = PROCESS_KTHREAD | PROCESS_FROM_SCAN });
	FIX_SEND(THREAD, thread, { FIX_T_KWORKER, FIX_P_KWORKER, 7, FIX_S_KWORKER, 1, 0 });
	FIX_SEND(MAPPING, mapping, { .time_ns = FIX_T0, .process = FIX_P_SERVER, .op = MAPPING_SNAPSHOT, .prot = 5,
				     .start = 0x555555554000ull, .len = 0x8000, .pgoff_bytes = 0x1000,
				     .binary = FIX_B_SERVER });
	FIX_SEND(TASKEV, taskev, { FIX_T0 + 50 * FIX_MS, TASK_EXIT, FIX_P_SERVER, 0 });
	return err;
}

static inline int fixture_emit_stacks(record_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(fixture_frames) / sizeof(fixture_frames[0]); i++)
		FIX_SEND(FRAME, frame, fixture_frames[i]);
	for (size_t i = 0; i < sizeof(fixture_nodes) / sizeof(fixture_nodes[0]); i++)
		FIX_SEND(NODE, node, fixture_nodes[i]);
	for (size_t i = 0; i < sizeof(fixture_funcs) / sizeof(fixture_funcs[0]); i++)
		FIX_SEND(FUNC, func, fixture_funcs[i]);
	for (size_t i = 0; i < sizeof(fixture_symbols) / sizeof(fixture_symbols[0]); i++)
		FIX_SEND(SYMBOL, symbol, fixture_symbols[i]);
	return err;
}

static inline int fixture_emit_samples(record_fn fn, void *ctx)
{
	static const char warning[] = "kptr_restrict hides kernel addresses";
	int err = 0;

	for (size_t i = 0; i < FIX_SAMPLES; i++)
		FIX_SEND(SAMPLE, sample, fixture_samples[i]);
	FIX_SEND(SCAN, scan, { .scan = 1, .time_ns = FIX_T0 + 40 * FIX_MS, .duration_ns = 2 * FIX_MS,
			       .interval_ns = 60000 * FIX_MS, .tasks_seen = 4, .rows = FIX_SCAN_ROWS,
			       .skipped_idle_kthreads = 1, .on_cpu = 1 });
	FIX_SEND(LOST, lost, { FIX_T0 + 20 * FIX_MS, 5 * FIX_MS, LOSS_RING_FULL, 1, 7 });
	FIX_SEND(LOST, lost, { FIX_T0 + 25 * FIX_MS, 0, LOSS_THROTTLED, UINT32_MAX, 2 });
	FIX_SEND(NOTE, note, { 1, FIX_T0 + 1, warning, sizeof(warning) - 1 });
	FIX_SEND(END, end, { .time_ns = FIX_T0 + 60 * FIX_MS, .reason = ENDED_DURATION, .samples = FIX_SAMPLES,
			     .scans = 1, .lost = FIX_LOST, .unresolved = 1, .cpu_time_ns = 3 * FIX_MS,
			     .target_status = -1 });
	return err;
}

/* All records into fn; the first error of fn ends it. */
static inline int trace_fixture_emit(record_fn fn, void *ctx)
{
	int err = fixture_emit_facts(fn, ctx);

	if (!err)
		err = fixture_emit_tasks(fn, ctx);
	if (!err)
		err = fixture_emit_stacks(fn, ctx);
	if (!err)
		err = fixture_emit_samples(fn, ctx);
	return err;
}

static inline int trace_fixture_write(const char *path)
{
	struct trace_writer *w;
	int err = trace_writer_open(path, NULL, &w), closed;

	if (err)
		return err;
	err = trace_fixture_emit(trace_writer_record, w);
	closed = trace_writer_close(w);
	return err ? err : closed;
}
