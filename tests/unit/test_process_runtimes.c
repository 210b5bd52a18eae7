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
#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/ruby/ruby_layout.h"
#include "tests/unit/hotspot_layout_17.h"
#include "tests/unit/runtime_own.h"
#include "unwind/frame_program.h"

#define PROGRAMS 100		/* "descriptors" of the maps */
#define RUNTIMES 101
#define BINARY 7u
#define COPY 8u

/* What the kernel's side has; these functions take the place of libbpf's. */
static struct unwind_runtimes published;
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
	image = (struct runtime_image){ .kind = RUNTIME_PYTHON, .version = 0x030b0200,
					.is_known = 1, .state_vaddr = 0x5000, .nr_loops = 2,
					.loops = { { 0x3000, 0x3100 }, { 0x2000, 0x2010 } } };
	assert_int_equal(python_layout_of(11, OWN(python_layout, image)), 0);
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

static void map_at(uint64_t base, uint32_t binary, uint64_t born_ns)
{
	const struct mapping m = { .start = base + 0x1000, .end = base + 0x9000, .binary = binary,
				   .to_vaddr = 0 - base, .born_ns = born_ns,
				   .died_ns = TIME_NEVER };

	assert_int_equal(process_map(p, &m), 0);
}

static void map(uint32_t binary)
{
	map_at(0x7000000000, binary, 2);
}

#define OTHER_BINARY (BINARY + 20)

/* Generated code is V8's where both could have made it. */
static void code_belongs_to_those_without_loops(void **state)
{
	struct runtime_image ruby = { .kind = RUNTIME_RUBY, .version = 0x03040000, .is_known = 1, .nr_loops = 1,
				      .loops = { { 0x4000, 0x4100 } } };
	const struct ruby_image own = { .way = RUBY_WAY_OFFSET, .text_vaddr = 0x4000, .text_bytes = 0x1000 };
	struct runtime_image v8 = { .kind = RUNTIME_V8, .version = 0x0b030000, .is_known = 1, .nr_loops = 1,
				    .loops = { { 0x6000, 0x7000 } } };

	(void)state;
	*OWN(ruby_image, ruby) = own;
	assert_int_equal(ruby_layout_of(0x0304, &OWN(ruby_image, ruby)->layout), 0);
	assert_true(process_runtimes_found(r, BINARY, &ruby));
	map(BINARY);
	process_runtimes_publish(r, p);
	assert_int_equal(published.slots[0].flags, RUNTIME_IS_THERE | RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS);
	assert_true(process_runtimes_found(r, OTHER_BINARY, &v8));
	map_at(0x7100000000, OTHER_BINARY, 3);
	process_runtimes_publish(r, p);
	assert_int_equal(published.slots[0].flags, RUNTIME_IS_THERE);
	assert_int_equal(published.slots[1].flags, RUNTIME_IS_THERE | RUNTIME_OWNS_CODE);
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
	assert_non_null(process_runtimes_of(r, p, 0, &bias));
	assert_int_equal(bias, 0x7000000000);
	runtime_constants(&image, bias, &rt);
	assert_memory_equal(published.slots[0].consts, rt.consts, sizeof(rt.consts));
	process_runtimes_forget(r, p->tgid);
	assert_false(has_runtime);
}

static void count(void *ctx, const struct process *told)
{
	assert_ptr_equal(told, p);
	++*(int *)ctx;
}

/* A process that has mapped a runtime is told when it is published, and no other one. */
static void processes_with_a_runtime_are_told(void **state)
{
	int nr = 0;

	(void)state;
	process_runtimes_watch(r, count, &nr);
	map(COPY);
	process_runtimes_found(r, BINARY, &image);
	process_runtimes_publish(r, p);
	assert_int_equal(nr, 0);
	map(BINARY);
	process_runtimes_publish(r, p);
	assert_int_equal(nr, 1);
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
	uint64_t bias;

	(void)state;
	map(BINARY);
	process_runtimes_found(r, BINARY, &image);
	process_runtimes_shorten(r, p, process_runtimes_of(r, p, 0, &bias), 0x7000000000, &rt);
	assert_int_equal(published.slots[0].consts[1], 22);
	assert_int_equal(published.slots[0].program, 0);
	memset(&published, 0, sizeof(published));
	process_runtimes_publish(r, p);
	assert_int_equal(published.slots[0].consts[1], 22);
}

/* The state's address in the constants tells them apart. */
static uint64_t state_of(uint32_t slot)
{
	uint64_t bias;
	const struct runtime_image *i = process_runtimes_of(r, p, slot, &bias);

	return i ? i->state_vaddr + bias : 0;
}

static void each_runtime_has_a_slot(void **state)
{
	const uint64_t base = 0x7000000000;

	(void)state;
	map(BINARY);
	map_at(base + 0x100000, COPY, 3);
	process_runtimes_found(r, COPY, &image);
	image.state_vaddr = 0x6000;
	process_runtimes_found(r, BINARY, &image);
	process_runtimes_publish(r, p);
	assert_int_equal(nr_programs, 2);
	/* In the order in which they became known. */
	assert_int_equal(state_of(0), base + 0x100000 + 0x5000);
	assert_int_equal(state_of(1), base + 0x6000);
	assert_int_equal(state_of(2), 0);
	assert_int_equal(published.slots[0].lo, base + 0x100000 + 0x2000);
	assert_int_equal(published.slots[0].bytes, 0x1100);
	assert_int_equal(published.slots[1].lo, base + 0x2000);
	assert_int_equal(published.slots[1].program, 1);
	assert_int_equal(published.slots[1].flags, RUNTIME_IS_THERE);
	assert_int_equal(published.slots[2].flags, 0);
}

static void a_slot_is_kept(void **state)
{
	struct mapping kept;

	(void)state;
	map(BINARY);
	process_runtimes_found(r, COPY, &image);
	process_runtimes_found(r, BINARY, &image);
	process_runtimes_publish(r, p);
	map_at(0x7000100000, COPY, 3);		/* was known before, but not here */
	process_runtimes_publish(r, p);
	assert_int_equal(state_of(0), 0x7000005000);
	assert_int_equal(state_of(1), 0x7000105000);
	kept = p->maps[1];
	assert_true(process_keep(p, &kept, 1, 4));
	process_runtimes_publish(r, p);
	assert_int_equal(published.slots[0].flags, 0);
	assert_int_equal(published.slots[1].lo, 0x7000102000);
	assert_int_equal(state_of(0), 0x7000005000);	/* frames of it may still come */
}

static void a_process_may_have_too_many(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= PROGRAM_SLOTS; i++) {
		map_at(0x7000000000 + i * 0x100000, BINARY + i, 2 + i);
		process_runtimes_found(r, BINARY + i, &image);
	}
	process_runtimes_publish(r, p);
	assert_int_equal(state_of(PROGRAM_SLOTS - 1), 0x7000305000);
	assert_int_equal(state_of(PROGRAM_SLOTS), 0);
}

/* HotSpot tells only when it runs where its code is: until then nothing is published. */
static void a_jvm_is_looked_at_first(void **state)
{
	const struct unwind_runtime rt = { .flags = RUNTIME_OWNS_CODE, .consts = { 11, 22 } };
	struct runtime_image jvm = { .kind = RUNTIME_HOTSPOT, .is_known = 1 }, read = jvm;
	uint64_t serial, bias;
	uint32_t tgid;

	(void)state;
	map(BINARY);
	assert_true(process_runtimes_found(r, BINARY, &jvm));
	process_runtimes_publish(r, p);
	process_runtimes_publish(r, p);
	assert_false(has_runtime);
	assert_true(process_runtimes_take_late(r, &tgid, &serial));
	assert_int_equal(tgid, p->tgid);
	assert_int_equal(serial, p->serial);
	assert_false(process_runtimes_take_late(r, &tgid, &serial));
	assert_non_null(process_runtimes_late_of(r, p, &bias));
	assert_int_equal(bias, 0x7000000000);
	OWN(hotspot_image, read)->layout = layout_17();
	process_runtimes_attached(r, p, 0x1000, &read, &rt);	/* of where it was mapped before */
	assert_false(has_runtime);
	process_runtimes_attached(r, p, bias, &read, &rt);
	assert_true(has_runtime);
	assert_int_equal(nr_programs, 1);
	assert_int_equal(published.slots[0].consts[1], 22);
	assert_null(process_runtimes_late_of(r, p, &bias));
	process_runtimes_publish(r, p);
	assert_true(has_runtime);
	assert_false(process_runtimes_take_late(r, &tgid, &serial));
}

static void a_jvm_that_is_not_known_is_left_alone(void **state)
{
	struct runtime_image jvm = { .kind = RUNTIME_HOTSPOT, .is_known = 1 };
	uint64_t serial, bias;
	uint32_t tgid;

	(void)state;
	map(BINARY);
	process_runtimes_found(r, BINARY, &jvm);
	process_runtimes_publish(r, p);
	assert_true(process_runtimes_take_late(r, &tgid, &serial));
	process_runtimes_attached(r, p, 0x7000000000, &jvm, NULL);
	assert_null(process_runtimes_late_of(r, p, &bias));
	process_runtimes_publish(r, p);
	assert_false(has_runtime);
	assert_false(process_runtimes_take_late(r, &tgid, &serial));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(code_belongs_to_those_without_loops),
		TEST(is_published_with_its_constants),
		TEST(processes_with_a_runtime_are_told), TEST(copies_are_the_same),
		TEST(unknown_versions_have_no_program), TEST(a_shorter_way_stays),
		TEST(each_runtime_has_a_slot), TEST(a_slot_is_kept),
		TEST(a_process_may_have_too_many),
		TEST(a_jvm_is_looked_at_first),
		TEST(a_jvm_that_is_not_known_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
