/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of frames of runtimes: code objects of a made CPython 3.11 in this process's own memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/capture/session/runtime_names.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/model/record.h"
#include "src/model/stacks.h"
#include "src/runtimes/python/python_layout.h"
#include "src/symbolize/symbolizer.h"
#include "tests/unit/python_world.h"
#include "tests/unit/runtime_own.h"
#include "unwind/unwind_limits.h"

#define FD 100
#define BINARY 7u
#define BIAS 0x1000ull
#define CODE(i) (WORLD_BASE + 0x1000 * (uint64_t)(i))
#define PART(i, n) (CODE(i) + 0x400 + 0x100 * (n))	/* strings and lines of object i */
#define COOKIE(i) ((uint32_t)PART(i, 3))
#define FIRST 184			/* offset of the first instruction */

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)key;
	(void)value;
	(void)flags;
	assert_int_equal(fd, FD);
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	(void)key;
	assert_int_equal(fd, FD);
	return 0;
}

struct answer {
	uint32_t frame;
	uint64_t addr;
	uint8_t status, lang, tier;
	char name[32], file[32];
	uint32_t line, first_line;
};

static struct world {
	struct python_world *memory;
	struct processes processes;
	struct process *p;
	struct binaries binaries;
	struct process_runtimes *runtimes;
	struct runtime_names *n;
	struct answer v[8];
	size_t nr;
} w;

static void put_code(int i, const char *name, uint32_t line)
{
	static const uint8_t lines[] = { 0x80 | 13 << 3 | 1, 4, 0x80 | 15 << 3 | 0 };
	struct python_world *m = w.memory;

	world_u64(m, CODE(i), 3);
	world_u64(m, CODE(i) + 8, 0x5000 + BIAS);
	world_u64(m, CODE(i) + 16, 3);
	world_u32(m, CODE(i) + 72, line);
	for (int n = 0; n < 4; n++)
		world_u64(m, CODE(i) + 112 + 8 * (uint64_t)n, PART(i, n));
	world_string(m, PART(i, 0), 1, 1, "/x.py", 5);
	world_string(m, PART(i, 1), 1, 1, name, strlen(name));
	world_string(m, PART(i, 2), 1, 1, name, strlen(name));
	world_u64(m, PART(i, 3) + 16, sizeof(lines));
	world_put(m, PART(i, 3) + 32, lines, sizeof(lines));
}

static int setup(void **state)
{
	const struct process_runtimes_fds fds = { FD, FD };
	const struct mapping m = { .start = BIAS, .end = BIAS + 0x1000, .binary = BINARY,
				   .to_vaddr = 0 - BIAS, .born_ns = 2, .died_ns = TIME_NEVER };
	struct runtime_image image = { .kind = RUNTIME_PYTHON, .version = 0x030b02f0,
				       .is_known = 1, .code_type_vaddr = 0x5000, .nr_loops = 1,
				       .loops = { { 0x100, 0x200 } } };
	struct runtime_names_deps deps = { .binaries = &w.binaries };

	(void)state;
	memset(&w, 0, sizeof(w));
	/* The reader reads it as it does that of another process. */
	w.memory = mmap((void *)WORLD_BASE, sizeof(*w.memory), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_ptr_equal(w.memory, (void *)WORLD_BASE);
	processes_init(&w.processes);
	assert_int_equal(binaries_init(&w.binaries), 0);
	w.p = processes_add(&w.processes, (uint32_t)getpid(), 1);
	assert_int_equal(process_map(w.p, &m), 0);
	assert_int_equal(python_layout_of(11, OWN(python_layout, image)), 0);
	assert_int_equal(process_runtimes_new(&w.runtimes), 0);
	process_runtimes_set(w.runtimes, &fds);
	assert_true(process_runtimes_found(w.runtimes, BINARY, &image));
	deps.runtimes = w.runtimes;
	return runtime_names_new(&deps, &w.n);
}

static int teardown(void **state)
{
	(void)state;
	runtime_names_free(w.n);
	process_runtimes_free(w.runtimes);
	processes_release(&w.processes);
	binaries_release(&w.binaries);
	return munmap(w.memory, sizeof(*w.memory));
}

static int on_symbol(void *ctx, uint32_t frame, uint64_t addr, const struct symbol *s)
{
	struct answer *a = &w.v[w.nr++];

	(void)ctx;
	assert_true(w.nr <= 8);
	*a = (struct answer){ .frame = frame, .addr = addr, .status = s->status, .lang = s->lang };
	if (s->status != SYMBOL_OK)
		return 0;
	assert_int_equal(s->nr_lines, 1);
	strncpy(a->name, s->lines[0].name, sizeof(a->name) - 1);
	strncpy(a->file, s->lines[0].file, sizeof(a->file) - 1);
	a->line = s->lines[0].line;
	a->first_line = s->lines[0].decl_line;
	a->tier = func_flags_tier(s->lines[0].func_flags);
	return 0;
}

static uint64_t first_word(uint32_t slot, uint32_t kind, uint64_t code)
{
	return UNWIND_RUNTIME | (uint64_t)slot << UNWIND_RUNTIME_SLOT_SHIFT |
	       (uint64_t)kind << UNWIND_RUNTIME_KIND_SHIFT | code;
}

/* Asks for frame number id: its place in the trace. */
static struct stack_frame ask(uint32_t id, uint32_t kind, int code, uint32_t cookie,
			      uint32_t instruction)
{
	const uint64_t words[2] = { first_word(0, kind, CODE(code)),
				    (uint64_t)cookie << 32 | instruction };
	struct stack_frame f;

	assert_int_equal(runtime_names_frame(w.n, w.p, words, &f), 0);
	assert_int_equal(runtime_names_request(w.n, w.p, id, words), 0);
	return f;
}

static const struct answer *answer_of(uint32_t frame)
{
	for (size_t i = 0; i < w.nr; i++)
		if (w.v[i].frame == frame)
			return &w.v[i];
	fail_msg("no answer for frame %u", frame);
	return NULL;
}

static void collect(void)
{
	assert_int_equal(runtime_names_collect(w.n, on_symbol, NULL, &(struct patience){ 0 }), 0);
}

/* Generated code that calls the loop of CPython has no frame of its own: but only that one's. */
static void only_loops_have_trampolines(void **state)
{
	const uint64_t words[2] = { first_word(0, RUNTIME_FRAME_INTERPRETED, CODE(1)), 1ull << 32 | 2 };
	const uint64_t compiled[2] = { first_word(0, RUNTIME_FRAME_COMPILED, CODE(1)), 1ull << 32 | 2 };
	const uint64_t elsewhere[2] = { first_word(3, RUNTIME_FRAME_INTERPRETED, CODE(1)), 1ull << 32 | 2 };

	(void)state;
	assert_true(runtime_names_has_trampolines(w.n, w.p, words));
	assert_false(runtime_names_has_trampolines(w.n, w.p, compiled));
	assert_false(runtime_names_has_trampolines(w.n, w.p, elsewhere));
}

static void names_and_lines_come(void **state)
{
	struct runtime_names_stats stats;
	const struct answer *a;
	struct stack_frame f, g;

	(void)state;
	put_code(1, "C.f", 5);
	f = ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST);
	g = ask(12, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST + 4);
	assert_int_equal(f.kind, FRAME_JIT);
	assert_int_equal(f.flags, FRAME_RUNTIME);
	assert_int_equal(f.addr >> 32, 1);
	assert_int_equal(g.addr >> 32, 1);		/* the same object */
	assert_string_equal(binaries_get(&w.binaries, f.binary)->path, "[python 3.11.2]");
	collect();
	assert_int_equal(w.nr, 2);
	a = answer_of(11);
	assert_int_equal(a->status, SYMBOL_OK);
	assert_int_equal(a->addr, f.addr);
	assert_string_equal(a->name, "C.f");
	assert_string_equal(a->file, "/x.py");
	assert_int_equal(a->line, 7);
	assert_int_equal(a->first_line, 5);
	assert_int_equal(a->lang, LANG_PYTHON);
	assert_int_equal(a->tier, TIER_INTERPRETED);
	a = answer_of(12);
	assert_string_equal(a->name, "C.f");
	assert_int_equal(a->line, 0);			/* it has none */
	runtime_names_stats(w.n, &stats);
	assert_int_equal(stats.named, 1);
	assert_int_equal(stats.gone, 0);
}

static void kinds_are_told(void **state)
{
	struct stack_frame f;

	(void)state;
	put_code(1, "f", 5);
	f = ask(11, RUNTIME_FRAME_COMPILED, 1, COOKIE(1), FIRST);
	assert_int_equal(f.flags, FRAME_RUNTIME | FRAME_COMPILED);
	f = ask(12, RUNTIME_FRAME_INLINED, 1, COOKIE(1), FIRST);
	assert_int_equal(f.flags, FRAME_RUNTIME | FRAME_INLINED);
	collect();
	assert_int_equal(answer_of(11)->tier, TIER_COMPILED);
	assert_int_equal(answer_of(12)->tier, TIER_COMPILED);
}

static void an_object_that_is_gone_has_no_name(void **state)
{
	struct runtime_names_stats stats;

	(void)state;
	put_code(1, "other", 5);
	ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1) + 1, FIRST);	/* was another one */
	ask(12, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST + 100);	/* has no such place */
	collect();
	assert_int_equal(answer_of(11)->status, SYMBOL_GONE);
	assert_int_equal(answer_of(12)->status, SYMBOL_GONE);
	runtime_names_stats(w.n, &stats);
	assert_int_equal(stats.gone, 2);
	assert_int_equal(stats.named, 1);
}

/* Meets a frame that is known, some time later. */
static void meet_again(int code, uint32_t cookie)
{
	const uint64_t words[2] = { first_word(0, RUNTIME_FRAME_INTERPRETED, CODE(code)),
				    (uint64_t)cookie << 32 | FIRST };
	struct stack_frame f;

	usleep(2000);
	assert_int_equal(runtime_names_frame(w.n, w.p, words, &f), 0);
}

/* The same code was made anew meanwhile, as PHP does for each request. */
static void an_object_that_is_there_again_has_its_name(void **state)
{
	struct runtime_names_stats stats;

	(void)state;
	put_code(1, "other", 5);
	ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1) + 0x80, FIRST);
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		assert_int_equal(runtime_names_collect(w.n, on_symbol, NULL, NULL), 0);
		assert_int_equal(w.nr, 0);
		meet_again(1, COOKIE(1) + 0x80);
	}
	put_code(1, "made", 9);
	world_u64(w.memory, CODE(1) + 136, PART(1, 3) + 0x80);
	world_put(w.memory, PART(1, 3) + 0x80, w.memory->bytes + 0x1000 + 0x700, 0x40);
	usleep(20000);
	assert_int_equal(runtime_names_collect(w.n, on_symbol, NULL, NULL), 0);
	meet_again(1, COOKIE(1) + 0x80);
	collect();
	assert_int_equal(w.nr, 1);
	assert_string_equal(answer_of(11)->name, "made");
	runtime_names_stats(w.n, &stats);
	assert_int_equal(stats.gone, 0);
	assert_int_equal(stats.named, 1);
}

/* Rows that are shown while recording wait for an answer, so it comes before the recording ends; once. */
static void an_object_that_stays_gone_is_told(void **state)
{
	uint64_t begin = now_ns();

	(void)state;
	put_code(1, "other", 5);
	ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1) + 0x80, FIRST);
	while (!w.nr && now_ns() < begin + 20 * NSEC_PER_SEC) {
		usleep(20000);
		assert_int_equal(runtime_names_collect(w.n, on_symbol, NULL, NULL), 0);
	}
	assert_true(now_ns() >= begin + NSEC_PER_SEC);
	assert_int_equal(answer_of(11)->status, SYMBOL_GONE);
	collect();
	assert_int_equal(w.nr, 1);
}

/* Frames whose objects are not read in time are answered all the same, and counted. */
static void what_is_late_is_said(void **state)
{
	struct runtime_names_stats stats;
	uint64_t late = 0;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		ask(11 + i, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1) + 0x1000 * i, FIRST);
	assert_int_equal(runtime_names_settle(w.n, on_symbol, NULL, NULL), 0);
	assert_int_equal(w.nr, 8);
	for (size_t i = 0; i < w.nr; i++)
		late += w.v[i].status == SYMBOL_LIMITED;
	runtime_names_stats(w.n, &stats);
	assert_int_equal(stats.late, late);
}

/* At one address, one after the other: two objects, two places in the trace. */
static void another_object_is_not_mistaken(void **state)
{
	struct stack_frame f, g;

	(void)state;
	put_code(1, "first", 5);
	f = ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST);
	collect();
	put_code(1, "second", 9);
	world_u64(w.memory, CODE(1) + 136, PART(1, 3) + 0x80);
	world_put(w.memory, PART(1, 3) + 0x80, w.memory->bytes + 0x1000 + 0x700, 0x40);
	g = ask(12, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1) + 0x80, FIRST);
	assert_int_not_equal(f.addr, g.addr);
	collect();
	assert_string_equal(answer_of(11)->name, "first");
	assert_string_equal(answer_of(12)->name, "second");
}

static void a_slot_without_a_runtime_has_no_frames(void **state)
{
	const uint64_t words[2] = { first_word(1, RUNTIME_FRAME_INTERPRETED, CODE(1)), 0 };
	struct stack_frame f;

	(void)state;
	put_code(1, "f", 5);
	assert_int_equal(runtime_names_frame(w.n, w.p, words, &f), RUNTIME_FAILED_PROGRAM);
}

static uint64_t kept(void)
{
	struct runtime_names_stats stats;

	runtime_names_stats(w.n, &stats);
	return stats.kept;
}

/* What a process had that has ended is given up, and no other object gets its place in the trace. */
static void objects_go_with_their_process(void **state)
{
	struct stack_frame f, g;

	(void)state;
	for (int i = 1; i <= 3; i++)
		put_code(i, "f", 5);
	f = ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST);
	ask(12, RUNTIME_FRAME_INTERPRETED, 2, COOKIE(2), FIRST);
	ask(13, RUNTIME_FRAME_INTERPRETED, 3, COOKIE(3), FIRST);
	collect();
	assert_int_equal(kept(), 3);
	runtime_names_forget(w.n, w.p);
	assert_int_equal(kept(), 0);
	g = ask(14, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST);
	assert_int_not_equal(g.addr >> 32, f.addr >> 32);
	assert_int_equal(g.addr >> 32, 4);
	collect();
	assert_string_equal(answer_of(14)->name, "f");
	assert_int_equal(kept(), 1);
}

/* Frames that wait for a name get it, although their process is forgotten before. */
static void frames_outlive_their_process(void **state)
{
	(void)state;
	put_code(1, "f", 5);
	put_code(2, "g", 5);
	ask(11, RUNTIME_FRAME_INTERPRETED, 1, COOKIE(1), FIRST);
	ask(12, RUNTIME_FRAME_INTERPRETED, 2, COOKIE(2) + 0x80, FIRST);		/* is gone */
	ask(13, RUNTIME_FRAME_INTERPRETED, 2, COOKIE(2), FIRST);
	runtime_names_forget(w.n, w.p);
	assert_int_equal(kept(), 3);
	collect();
	assert_string_equal(answer_of(11)->name, "f");
	assert_int_equal(answer_of(12)->status, SYMBOL_GONE);
	assert_string_equal(answer_of(13)->name, "g");
	assert_int_equal(w.nr, 3);
	assert_int_equal(kept(), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_and_lines_come), TEST(kinds_are_told),
		TEST(only_loops_have_trampolines), TEST(kinds_are_told),
		TEST(an_object_that_is_gone_has_no_name),
		TEST(an_object_that_is_there_again_has_its_name), TEST(an_object_that_stays_gone_is_told),
		TEST(what_is_late_is_said),
		TEST(another_object_is_not_mistaken),
		TEST(a_slot_without_a_runtime_has_no_frames),
		TEST(objects_go_with_their_process), TEST(frames_outlive_their_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
