/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A state on the disk, cut short wherever that is possible. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/agent/ring_journal.h"
#include "tests/unit/kill_points.h"

struct state {
	uint64_t a, b;			/* b is twice a */
};

static char folder[] = "/tmp/probee-ring.XXXXXX";
static int dir;

static int setup(void **s)
{
	(void)s;
	if (!mkdtemp(folder))
		return -1;
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	return dir < 0 ? -1 : 0;
}

static int teardown(void **s)
{
	(void)s;
	unlinkat(dir, "j", 0);
	close(dir);
	return rmdir(folder);
}

static uint64_t last(void)
{
	struct state st = { 0 };
	struct ring_journal j;

	assert_int_equal(ring_journal_open(dir, "j", &st, sizeof(st), &j), 0);
	ring_journal_close(&j);
	assert_int_equal(st.b, 2 * st.a);
	return st.a;
}

static void put_until(uint64_t from, uint64_t to)
{
	struct state st = { 0 };
	struct ring_journal j;

	assert_int_equal(ring_journal_open(dir, "j", &st, sizeof(st), &j), 0);
	for (uint64_t i = from; i <= to; i++) {
		st = (struct state){ i, 2 * i };
		assert_int_equal(ring_journal_put(&j, &st), 0);
	}
	ring_journal_close(&j);
}

static void test_the_last_one_counts(void **s)
{
	struct stat st;

	(void)s;
	unlinkat(dir, "j", 0);
	assert_int_equal(last(), 0);
	put_until(1, 1);
	assert_int_equal(last(), 1);
	put_until(2, 3 * RING_SLOTS + 5);
	assert_int_equal(last(), 3 * RING_SLOTS + 5);
	assert_int_equal(fstatat(dir, "j", &st, 0), 0);
	assert_int_equal(st.st_size, RING_SLOTS * RING_SLOT_BYTES);
}

/* Each byte of the last slot, changed: then the one before counts. */
static void test_a_damaged_slot_does_not_count(void **s)
{
	uint64_t number = 10;
	off_t at = (off_t)(number % RING_SLOTS) * RING_SLOT_BYTES;
	int fd;

	(void)s;
	unlinkat(dir, "j", 0);
	put_until(1, number);
	fd = openat(dir, "j", O_RDWR);
	for (off_t i = 0; i < RING_SLOT_BYTES; i++) {
		uint8_t was, other;

		assert_int_equal(pread(fd, &was, 1, at + i), 1);
		other = was ^ 1;
		assert_int_equal(pwrite(fd, &other, 1, at + i), 1);
		assert_int_equal(last(), number - 1);
		assert_int_equal(pwrite(fd, &was, 1, at + i), 1);
	}
	assert_int_equal(last(), number);
	/* A file that was cut. */
	assert_int_equal(ftruncate(fd, at + 100), 0);
	assert_int_equal(last(), number - 1);
	close(fd);
}

static void test_another_length_is_no_state(void **s)
{
	struct { uint64_t a, b, c; } st = { 0, 0, 7 };
	struct ring_journal j;

	(void)s;
	unlinkat(dir, "j", 0);
	put_until(1, 3);
	assert_int_equal(ring_journal_open(dir, "j", &st, sizeof(st), &j), 0);
	ring_journal_close(&j);
	assert_true(!st.a && st.c == 7);
}

static void put_five(void *ctx)
{
	uint64_t *told = ctx;
	struct state st = { 0 };
	struct ring_journal j;

	if (ring_journal_open(dir, "j", &st, sizeof(st), &j))
		_exit(1);
	for (uint64_t i = 1; i <= 5; i++) {
		st = (struct state){ i, 2 * i };
		if (ring_journal_put(&j, &st))
			_exit(1);
		*told = i;
	}
}

/* What ring_journal_put() returned for is there; what it was in is there or not. */
static void test_killed_at_each_call(void **s)
{
	uint64_t *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned n;

	(void)s;
	for (n = 1;; n++) {
		unlinkat(dir, "j", 0);
		*told = 0;
		if (!kill_at_call(n, put_five, told))
			break;
		if (last() != *told && last() != *told + 1)
			fail_msg("killed at call %u: %lu is there, %lu was told", n,
				 (unsigned long)last(), (unsigned long)*told);
	}
	assert_true(n > 10);
	assert_int_equal(last(), 5);
	munmap(told, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_one_counts),
		cmocka_unit_test(test_a_damaged_slot_does_not_count),
		cmocka_unit_test(test_another_length_is_no_state),
		cmocka_unit_test(test_killed_at_each_call),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
