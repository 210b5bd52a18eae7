/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/capture/session/definitions.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/symbolize/symbolizer.h"

#define NO_PID 0x3ffffff	/* above the kernel's limit: /proc knows nothing of it */
#define KEEP 64

/* Checks what readers rely on: ids ascend by one, and what is referred to has come before. */
struct sink {
	uint32_t strings, binaries, processes, threads, funcs, mappings;
	char *text[KEEP];		/* by string id */
	struct rec_binary binary;	/* the latest of each */
	struct rec_process process;
	struct rec_thread thread;
	struct rec_func func;
	struct rec_mapping mapping[KEEP];
	struct rec_segment segment;
	int err;
	unsigned calls;
};

struct world {
	struct sink sink;
	struct binaries binaries;
	struct processes processes;
	struct definitions *defs;
};

static void take_string(struct sink *s, const struct rec_string *r)
{
	assert_int_equal(r->id, ++s->strings);
	assert_true(r->id < KEEP);
	assert_true(r->len > 0);
	s->text[r->id] = strndup(r->bytes, r->len);
}

static void take_binary(struct sink *s, const struct rec_binary *r)
{
	assert_int_equal(r->id, ++s->binaries);
	assert_true(r->path && r->path <= s->strings);
	s->binary = *r;
	if (r->nr_segments)
		s->segment = r->segments[0];
}

static void take_process(struct sink *s, const struct rec_process *r)
{
	assert_int_equal(r->id, ++s->processes);
	assert_true(r->parent < r->id);
	assert_true(r->comm <= s->strings && r->cgroup <= s->strings && r->exe <= s->binaries);
	s->process = *r;
}

static void take_mapping(struct sink *s, const struct rec_mapping *r)
{
	assert_true(r->process && r->process <= s->processes);
	assert_true(r->binary <= s->binaries);
	assert_true(s->mappings < KEEP);
	s->mapping[s->mappings++] = *r;
}

static int sink(void *ctx, const struct record *rec)
{
	struct sink *s = ctx;

	s->calls++;
	if (s->err)
		return s->err;
	switch ((int)rec->tag) {
	case REC_STRING: take_string(s, &rec->string); break;
	case REC_BINARY: take_binary(s, &rec->binary); break;
	case REC_PROCESS: take_process(s, &rec->process); break;
	case REC_MAPPING: take_mapping(s, &rec->mapping); break;
	case REC_THREAD:
		assert_int_equal(rec->thread.id, ++s->threads);
		assert_true(rec->thread.process <= s->processes && rec->thread.comm <= s->strings);
		s->thread = rec->thread;
		break;
	case REC_FUNC:
		assert_int_equal(rec->func.id, ++s->funcs);
		assert_true(rec->func.name <= s->strings && rec->func.sysname <= s->strings);
		s->func = rec->func;
		break;
	default: fail_msg("record type %d", (int)rec->tag);
	}
	return 0;
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	processes_init(&w->processes);
	return binaries_init(&w->binaries) ||
	       definitions_new(sink, &w->sink, &w->binaries, &w->defs);
}

static int teardown(void **state)
{
	struct world *w = *state;

	definitions_free(w->defs);
	processes_release(&w->processes);
	binaries_release(&w->binaries);
	for (size_t i = 0; i < KEEP; i++)
		free(w->sink.text[i]);
	test_free(w);
	return 0;
}

static uint32_t add_binary(struct world *w, const char *path)
{
	struct file_id id = { .dev = 8, .ino = w->binaries.nr, .size_bytes = 4096, .mtime_ns = -5 };
	struct binary *b = binaries_add(&w->binaries, &id, path, BINARY_ELF);

	assert_non_null(b);
	return b->index;
}

static void map(struct process *p, uint64_t start, uint64_t end, uint32_t binary, uint64_t time_ns)
{
	struct mapping m = { .start = start,
			     .end = end,
			     .binary = binary,
			     .prot = 5,
			     .born_ns = time_ns,
			     .died_ns = TIME_NEVER };

	assert_int_equal(process_map(p, &m), 0);
}

static void expect_mapping(const struct world *w, uint32_t i, uint8_t op, uint64_t start,
			   uint64_t len, uint64_t time_ns)
{
	const struct rec_mapping *m = &w->sink.mapping[i];

	assert_true(i < w->sink.mappings);
	assert_int_equal(m->op, op);
	assert_int_equal(m->start, start);
	assert_int_equal(m->len, len);
	assert_int_equal(m->time_ns, time_ns);
}

static void test_strings(void **state)
{
	struct world *w = *state;

	assert_int_equal(definitions_string(w->defs, ""), 0);
	assert_int_equal(definitions_string(w->defs, "one"), 1);
	assert_int_equal(definitions_string(w->defs, "two"), 2);
	assert_int_equal(definitions_string(w->defs, "one"), 1);
	assert_int_equal(w->sink.calls, 2);
	assert_string_equal(w->sink.text[1], "one");
	assert_string_equal(w->sink.text[2], "two");
}

static void test_binaries(void **state)
{
	struct world *w = *state;
	uint32_t first = add_binary(w, "/bin/first"), second = add_binary(w, "/bin/second");
	struct binary *b = binaries_get(&w->binaries, second);

	b->segments = calloc(1, sizeof(*b->segments));
	b->segments[0] = (struct rec_segment){ 0x1000, 0x2000, 0x300 };
	b->nr_segments = 1;
	b->build_id_len = 20;
	b->build_id[19] = 0xab;
	/* Ids are given in the order of first use, not of discovery. */
	assert_int_equal(definitions_binary(w->defs, second), 1);
	assert_string_equal(w->sink.text[w->sink.binary.path], "/bin/second");
	assert_int_equal(w->sink.binary.build_id_len, 20);
	assert_int_equal(w->sink.binary.build_id[19], 0xab);
	assert_int_equal(w->sink.binary.mtime_ns, -5);
	assert_int_equal(w->sink.segment.vaddr, 0x2000);
	assert_int_equal(definitions_binary(w->defs, first), 2);
	assert_int_equal(definitions_binary(w->defs, second), 1);
	assert_int_equal(w->sink.binaries, 2);
	assert_int_equal(definitions_binary(w->defs, 0), 0);
	assert_int_equal(definitions_binary(w->defs, 99), 0);
}

static void test_process_from_proc(void **state)
{
	struct world *w = *state;
	struct process *p = processes_add(&w->processes, (uint32_t)getpid(), 10);

	strcpy(p->comm, "me");
	p->exe = add_binary(w, "/bin/me");
	p->start_boottime_ns = 77;
	assert_int_equal(definitions_process(w->defs, p, NULL), 1);
	assert_int_equal(definitions_process(w->defs, p, NULL), 1);
	assert_int_equal(w->sink.processes, 1);
	assert_int_equal(definitions_processes(w->defs), 1);
	assert_int_equal(w->sink.process.tgid, getpid());
	assert_int_equal(w->sink.process.uid, getuid());
	assert_int_equal(w->sink.process.ns_tgid, 0);
	assert_int_equal(w->sink.process.exe, 1);
	assert_int_equal(w->sink.process.flags, 0);
	assert_string_equal(w->sink.text[w->sink.process.comm], "me");
	assert_int_equal(w->sink.process.start_boottime_ns, 77);
}

static void test_process_that_is_gone(void **state)
{
	struct world *w = *state;
	struct process *parent = processes_add(&w->processes, NO_PID, 5),
		       *p = processes_add(&w->processes, NO_PID + 1, 10);

	process_exit(p, 20);
	p->scanned = true;
	p->cmdline = strdup("cat /etc/motd");
	/* A parent without a record is none: it would be a reference forwards. */
	assert_int_equal(definitions_process(w->defs, p, parent), 1);
	assert_int_equal(w->sink.process.parent, 0);
	assert_int_equal(w->sink.process.flags, PROCESS_EXITED | PROCESS_FROM_SCAN);
	assert_string_equal(w->sink.text[w->sink.process.cmdline], "cat /etc/motd");
	assert_int_equal(definitions_process(w->defs, parent, p), 2);
	assert_int_equal(w->sink.process.cmdline, 0);
	assert_int_equal(w->sink.process.parent, 1);
}

static void test_mappings_follow_the_process(void **state)
{
	struct world *w = *state;
	struct process *p = processes_add(&w->processes, NO_PID, 5);
	uint32_t one = add_binary(w, "/lib/one"), two = add_binary(w, "/lib/two");

	map(p, 0x1000, 0x3000, one, 6);
	definitions_process(w->defs, p, NULL);
	assert_int_equal(w->sink.mappings, 1);
	expect_mapping(w, 0, MAPPING_SNAPSHOT, 0x1000, 0x2000, 6);
	assert_int_equal(w->sink.mapping[0].prot, 5);
	assert_string_equal(w->sink.text[w->sink.binary.path], "/lib/one");
	definitions_process(w->defs, p, NULL);
	assert_int_equal(w->sink.mappings, 1);

	map(p, 0x8000, 0x9000, two, 7);
	definitions_process(w->defs, p, NULL);
	assert_int_equal(w->sink.mappings, 2);
	expect_mapping(w, 1, MAPPING_ADD, 0x8000, 0x1000, 7);
	assert_int_equal(w->sink.mapping[1].binary, 2);
}

/* Read from first to last they end in what is mapped: what goes, goes before its successor. */
static void test_mapping_replaced_and_cut(void **state)
{
	struct world *w = *state;
	struct process *p = processes_add(&w->processes, NO_PID, 5);
	uint32_t one = add_binary(w, "/lib/one"), two = add_binary(w, "/lib/two");

	map(p, 0x1000, 0x5000, one, 6);
	definitions_process(w->defs, p, NULL);
	map(p, 0x2000, 0x3000, two, 8);
	definitions_process(w->defs, p, NULL);
	assert_int_equal(w->sink.mappings, 5);
	expect_mapping(w, 1, MAPPING_DEL, 0x1000, 0x4000, 8);
	expect_mapping(w, 2, MAPPING_ADD, 0x1000, 0x1000, 8);
	expect_mapping(w, 3, MAPPING_ADD, 0x2000, 0x1000, 8);
	expect_mapping(w, 4, MAPPING_ADD, 0x3000, 0x2000, 8);
	/* Dead ones stay in the model for a while, and are not reported again. */
	map(p, 0x9000, 0xa000, one, 9);
	definitions_process(w->defs, p, NULL);
	assert_int_equal(w->sink.mappings, 6);
	expect_mapping(w, 5, MAPPING_ADD, 0x9000, 0x1000, 9);
}

/* Came and went between two mentions: nobody can have referred to it. */
static void test_mapping_never_seen(void **state)
{
	struct world *w = *state;
	struct process *p = processes_add(&w->processes, NO_PID, 5);
	uint32_t one = add_binary(w, "/lib/one");

	map(p, 0x1000, 0x2000, one, 6);
	map(p, 0x1000, 0x2000, 0, 7);
	definitions_process(w->defs, p, NULL);
	assert_int_equal(w->sink.mappings, 1);
	expect_mapping(w, 0, MAPPING_SNAPSHOT, 0x1000, 0x1000, 7);
	assert_int_equal(w->sink.mapping[0].binary, 0);
	assert_int_equal(w->sink.binaries, 0);
}

static void test_mappings_of_a_fork(void **state)
{
	struct world *w = *state;
	struct process *parent = processes_add(&w->processes, NO_PID, 5), *child;

	map(parent, 0x1000, 0x2000, add_binary(w, "/lib/one"), 6);
	definitions_process(w->defs, parent, NULL);
	child = processes_add(&w->processes, NO_PID + 1, 20);
	assert_int_equal(process_inherit(child, parent, 20), 0);
	assert_int_equal(definitions_process(w->defs, child, parent), 2);
	assert_int_equal(w->sink.process.parent, 1);
	assert_int_equal(w->sink.mappings, 2);
	expect_mapping(w, 1, MAPPING_SNAPSHOT, 0x1000, 0x1000, 20);
	assert_int_equal(w->sink.mapping[1].process, 2);
}

static void test_threads(void **state)
{
	struct world *w = *state;
	struct rec_thread t = { .process = 0, .tid = 7, .start_boottime_ns = 100 };

	assert_int_equal(definitions_thread(w->defs, &t, "main"), 1);
	assert_int_equal(definitions_thread(w->defs, &t, "main"), 1);
	assert_string_equal(w->sink.text[w->sink.thread.comm], "main");
	assert_int_equal(w->sink.thread.tid, 7);
	assert_int_equal(definitions_thread(w->defs, &t, "renamed"), 2);
	assert_int_equal(definitions_thread(w->defs, &t, "main"), 1);
	t.start_boottime_ns = 200;	/* its number was used again */
	assert_int_equal(definitions_thread(w->defs, &t, "main"), 3);
	t.tid = 8;
	assert_int_equal(definitions_thread(w->defs, &t, ""), 4);
	assert_int_equal(w->sink.thread.comm, 0);
	assert_int_equal(definitions_threads(w->defs), 4);
	assert_int_equal(w->sink.threads, 4);
}

static void test_functions(void **state)
{
	struct symbol_line plain = { .name = "f()", .sysname = "_Z1fv", .lang = LANG_CXX },
			   bare = { .name = "f()" };
	struct world *w = *state;

	assert_int_equal(definitions_func(w->defs, &plain), 1);
	assert_int_equal(w->sink.func.lang, LANG_CXX);
	assert_string_equal(w->sink.text[w->sink.func.name], "f()");
	assert_string_equal(w->sink.text[w->sink.func.sysname], "_Z1fv");
	assert_int_equal(definitions_func(w->defs, &bare), 2);
	assert_int_equal(w->sink.func.sysname, w->sink.func.name);
	bare.func_flags = FUNC_PLT;
	assert_int_equal(definitions_func(w->defs, &bare), 3);
	assert_int_equal(definitions_func(w->defs, &plain), 1);
	assert_int_equal(w->sink.funcs, 3);
}

/* Static functions of two files may have one name. */
static void test_namesakes(void **state)
{
	struct symbol_line f = { .name = "f", .decl_file = "/src/a.c", .decl_line = 7 };
	struct world *w = *state;

	assert_int_equal(definitions_func(w->defs, &f), 1);
	assert_string_equal(w->sink.text[w->sink.func.file], "/src/a.c");
	assert_int_equal(w->sink.func.start_line, 7);
	f.decl_file = "/src/b.c";
	assert_int_equal(definitions_func(w->defs, &f), 2);
	f.decl_file = NULL;
	assert_int_equal(definitions_func(w->defs, &f), 3);
	f.decl_file = "/src/a.c";
	assert_int_equal(definitions_func(w->defs, &f), 1);
}

static void test_lines(void **state)
{
	const struct symbol_line lines[] = { { .name = "in", .line = 3, .column = 4 },
					     { .name = "out", .line = 30 } };
	struct symbol sym = { .name = "out", .lines = lines, .nr_lines = 2 };
	struct rec_line v[SYMBOL_MAX_DEPTH];
	struct world *w = *state;

	assert_int_equal(definitions_lines(w->defs, &sym, v), 2);
	assert_int_equal(v[0].func, 1);
	assert_int_equal(v[0].line, 3);
	assert_int_equal(v[0].column, 4);
	assert_int_equal(v[1].func, 2);
	assert_int_equal(v[1].line, 30);
	sym.nr_lines = 0;
	assert_int_equal(definitions_lines(w->defs, &sym, v), 1);
	assert_int_equal(v[0].func, 2);
	assert_int_equal(v[0].line, 0);
	sym.name = NULL;
	assert_int_equal(definitions_lines(w->defs, &sym, v), 0);
}

static void test_many(void **state)
{
	struct world *w = *state;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 1; i <= 3000; i++) {
			struct rec_thread t = { .tid = i };

			assert_int_equal(definitions_thread(w->defs, &t, i % 2 ? "odd" : "even"),
					 i);
		}
	}
	assert_int_equal(w->sink.threads, 3000);
	assert_int_equal(w->sink.strings, 2);
}

#define A_WHILE_NS (15ull * 1000000000)

static void define_gone_threads(struct world *w, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct rec_thread t = { .tid = NO_PID - i, .start_boottime_ns = w->sink.threads };

		definitions_thread(w->defs, &t, "gone");
	}
}

/* Threads that have ended are forgotten, and those only: nobody is defined twice. */
static void test_retired_threads(void **state)
{
	struct world *w = *state;
	struct rec_thread own = { .tid = (uint32_t)getpid() }, late = { .tid = NO_PID - 100000 };
	uint32_t id = definitions_thread(w->defs, &own, "lives"), late_id;
	uint64_t now = A_WHILE_NS;
	size_t known, most = 0;

	for (int i = 0; i < 20; i++, now += A_WHILE_NS) {
		define_gone_threads(w, 5000);
		known = definitions_retire(w->defs, now);
		most = known > most ? known : most;
		assert_int_equal(definitions_retire(w->defs, now + A_WHILE_NS / 2), known);	/* too soon */
	}
	assert_int_equal(w->sink.threads, 100001);
	assert_int_equal(definitions_threads(w->defs), 100001);
	assert_true(known == 5001 && most == 5001);
	assert_int_equal(definitions_thread(w->defs, &own, "lives"), id);
	/* One that was met since the last time may still be met, and has its number then. */
	late_id = definitions_thread(w->defs, &late, "late");
	define_gone_threads(w, 25000);
	definitions_retire(w->defs, now);
	assert_int_equal(definitions_thread(w->defs, &late, "late"), late_id);
	define_gone_threads(w, 1);
	assert_int_equal(w->sink.thread.id, 100001 + 1 + 25000 + 1);
}

/* After the first error nothing more is written: a hole would make later references wrong. */
static void test_error_is_kept(void **state)
{
	struct world *w = *state;
	unsigned calls;

	assert_int_equal(definitions_error(w->defs), 0);
	w->sink.err = -ENOSPC;
	definitions_string(w->defs, "lost");
	assert_int_equal(definitions_error(w->defs), -ENOSPC);
	calls = w->sink.calls;
	w->sink.err = 0;
	definitions_string(w->defs, "later");
	assert_int_equal(w->sink.calls, calls);
	assert_int_equal(definitions_error(w->defs), -ENOSPC);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_strings),
		T(test_binaries),
		T(test_process_from_proc),
		T(test_process_that_is_gone),
		T(test_mappings_follow_the_process),
		T(test_mapping_replaced_and_cut),
		T(test_mapping_never_seen),
		T(test_mappings_of_a_fork),
		T(test_threads),
		T(test_functions),
		T(test_namesakes),
		T(test_lines),
		T(test_many),
		T(test_retired_threads),
		T(test_error_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
