/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/process_runtimes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "src/model/process.h"
#include "unwind/frame_program.h"

#define PROGRAMS 100		/* "descriptors" of the maps */
#define RUNTIMES 101
#define BINARY 7u
#define COPY 8u

/* What the kernel's side has; these functions take the place of libbpf's. */
static struct unwind_runtime published;
static int has_runtime;
static unsigned nr_programs;

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)flags;
	if (fd == PROGRAMS) {
		assert_int_equal(*(const uint32_t *)key, nr_programs);
		nr_programs++;
	} else {
		assert_int_equal(fd, RUNTIMES);
		memcpy(&published, value, sizeof(published));
		has_runtime = 1;
	}
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	(void)key;
	assert_int_equal(fd, RUNTIMES);
	has_runtime = 0;
	return 0;
}

static struct process_runtimes *r;
static struct processes ps;
static struct process *p;
static struct runtime_image image;

static int setup(void **state)
{
	const struct process_runtimes_fds fds = { PROGRAMS, RUNTIMES };

	(void)state;
	has_runtime = 0;
	nr_programs = 0;
	image = (struct runtime_image){ .kind = RUNTIME_CPYTHON, .version = 0x030b0200,
					.is_known = 1, .state_vaddr = 0x5000 };
	assert_int_equal(python_layout_of(11, &image.python), 0);
	assert_int_equal(process_runtimes_new(&r), 0);
	process_runtimes_set(r, &fds);
	processes_init(&ps);
	p = processes_add(&ps, 100, 1);
	return p ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	process_runtimes_free(r);
	processes_release(&ps);
	return 0;
}

static void map(uint32_t binary)
{
	const struct mapping m = { .start = 0x7000001000, .end = 0x7000009000, .binary = binary,
				   .to_vaddr = 0 - 0x7000000000ull, .born_ns = 2,
				   .died_ns = TIME_NEVER };

	assert_int_equal(process_map(p, &m), 0);
}

static void is_published_with_its_constants(void **state)
{
	struct unwind_runtime rt;
	uint64_t bias;

	(void)state;
	map(BINARY);
	process_runtimes_publish(r, p);
	assert_false(has_runtime);		/* nothing is known of the binary */
	assert_true(process_runtimes_found(r, BINARY, &image));
	assert_false(process_runtimes_found(r, BINARY, &image));
	assert_int_equal(nr_programs, 1);
	process_runtimes_publish(r, p);
	assert_true(has_runtime);
	assert_non_null(process_runtimes_of(r, p, &bias));
	assert_int_equal(bias, 0x7000000000);
	runtime_constants(&image, bias, &rt);
	assert_memory_equal(published.consts, rt.consts, sizeof(rt.consts));
	process_runtimes_forget(r, p->tgid);
	assert_false(has_runtime);
}

static void copies_are_the_same(void **state)
{
	(void)state;
	map(COPY);
	assert_false(process_runtimes_same(r, COPY, BINARY));
	process_runtimes_found(r, BINARY, &image);
	assert_true(process_runtimes_same(r, COPY, BINARY));
	process_runtimes_publish(r, p);
	assert_true(has_runtime);
	assert_int_equal(nr_programs, 1);
}

static void unknown_versions_have_no_program(void **state)
{
	(void)state;
	image.is_known = 0;
	image.version = 0x03630000;
	map(BINARY);
	process_runtimes_found(r, BINARY, &image);
	process_runtimes_publish(r, p);
	assert_false(has_runtime);
	assert_int_equal(nr_programs, 0);
}

static void a_shorter_way_stays(void **state)
{
	const struct unwind_runtime rt = { .program = 77, .consts = { 11, 22 } };

	(void)state;
	map(BINARY);
	process_runtimes_found(r, BINARY, &image);
	process_runtimes_shorten(r, p, 0x7000000000, &rt);
	assert_int_equal(published.consts[1], 22);
	assert_int_equal(published.program, 0);
	memset(&published, 0, sizeof(published));
	process_runtimes_publish(r, p);
	assert_int_equal(published.consts[1], 22);
	/* It was found where the runtime was mapped elsewhere. */
	process_runtimes_shorten(r, p, 0x1000, &rt);
	assert_int_not_equal(published.consts[1], 22);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_published_with_its_constants), TEST(copies_are_the_same),
		TEST(unknown_versions_have_no_program), TEST(a_shorter_way_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
