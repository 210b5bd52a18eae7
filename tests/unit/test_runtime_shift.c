/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of CPython up to 3.10 among loops, one of which may have none yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "src/capture/session/runtime_shift.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/process.h"
#include "src/runtimes/python/python_layout.h"
#include "tests/unit/runtime_own.h"
#include "unwind/unwind_limits.h"

#define FD 100
#define BINARY 7u
#define BIAS 0x7000000000ull
#define C (BIAS + 0x5000)		/* a function of C */
#define LOOP(n) ((BIAS + 0x1000 + (n)) | UNWIND_RETURN_ADDRESS)
#define FRAME(n) (UNWIND_RUNTIME | 0x10000 * (n)), (n)
#define MARK (UNWIND_RUNTIME | (uint64_t)RUNTIME_FRAME_MARK << UNWIND_RUNTIME_KIND_SHIFT), 1

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

static struct process_runtimes *r;
static struct processes ps;
static struct process *p;

static void begin(uint32_t minor)
{
	const struct process_runtimes_fds fds = { FD, FD };
	const struct mapping m = { .start = BIAS, .end = BIAS + 0x9000, .binary = BINARY,
				   .to_vaddr = 0 - BIAS, .born_ns = 2, .died_ns = TIME_NEVER };
	struct runtime_image image = { .kind = RUNTIME_PYTHON, .version = 3 << 24 | minor << 16,
				       .is_known = 1, .nr_loops = 2,
				       .loops = { { 0x1000, 0x1100 }, { 0x1200, 0x1210 } } };

	assert_int_equal(python_layout_of(minor, OWN(python_layout, image)), 0);
	assert_int_equal(process_runtimes_new(&r), 0);
	process_runtimes_set(r, &fds);
	process_runtimes_found(r, BINARY, &image);
	processes_init(&ps);
	p = processes_add(&ps, 100, 1);
	assert_int_equal(process_map(p, &m), 0);
}

static void end(void)
{
	process_runtimes_free(r);
	processes_release(&ps);
}

static int setup(void **state)
{
	(void)state;
	begin(10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	end();
	return 0;
}

#define WORDS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8

static void is_left_as_it_is(const uint64_t *words, size_t nr)
{
	uint64_t out[UNWIND_MAX_FRAMES];

	assert_false(runtime_shift(r, p, words, nr, out));
}

static void becomes(const uint64_t *words, size_t nr, const uint64_t *want, size_t nr_want)
{
	uint64_t out[UNWIND_MAX_FRAMES];

	assert_int_equal(nr, nr_want);
	assert_true(runtime_shift(r, p, words, nr, out));
	assert_memory_equal(out, want, nr * sizeof(*want));
}

static void frames_go_one_loop_further_out(void **state)
{
	(void)state;
	becomes(WORDS(LOOP(0x10), FRAME(1), C, LOOP(0x20), FRAME(2), C, C, LOOP(0x100), C),
		WORDS(LOOP(0x10), C, LOOP(0x20), FRAME(1), C, C, LOOP(0x100), FRAME(2), C));
	becomes(WORDS(C, LOOP(0x10), FRAME(1), LOOP(0x205)),
		WORDS(C, LOOP(0x10), LOOP(0x205), FRAME(1)));
}

static void whole_stacks_stay(void **state)
{
	(void)state;
	is_left_as_it_is(WORDS(LOOP(0x10), FRAME(1), C, LOOP(0x20), FRAME(2), C));
	is_left_as_it_is(WORDS(C, C));
	is_left_as_it_is(WORDS(LOOP(0x10), C));		/* the first loop of a thread begins */
}

static void what_is_not_understood_stays(void **state)
{
	(void)state;
	is_left_as_it_is(WORDS(LOOP(0x10), MARK, LOOP(0x20)));
	is_left_as_it_is(WORDS(LOOP(0x10), FRAME(1), LOOP(0x20), LOOP(0x30)));
	is_left_as_it_is(WORDS(LOOP(0x10), LOOP(0x20), FRAME(1)));
	is_left_as_it_is(WORDS(LOOP(0x10), FRAME(1), FRAME(2), LOOP(0x20)));
	is_left_as_it_is(WORDS(C, FRAME(1), LOOP(0x20)));
	is_left_as_it_is(WORDS(LOOP(0x10), FRAME(1), LOOP(0x101)));	/* just behind the loop's code */
}

static void later_versions_need_it_not(void **state)
{
	(void)state;
	end();
	begin(11);
	is_left_as_it_is(WORDS(LOOP(0x10), FRAME(1), C, LOOP(0x20), C));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_go_one_loop_further_out), TEST(whole_stacks_stay),
		TEST(what_is_not_understood_stays), TEST(later_versions_need_it_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
