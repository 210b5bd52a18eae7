/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug information of this program itself, and the cache of it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/debug_info/debug_cache.h"
#include "src/debug_info/debug_lines.h"
#include "src/parse/line_cache.h"

#define LATE (UINT64_MAX / 2)

struct world {
	int fd;
	uint64_t addr;			/* in inner(), which is inlined in outer() */
	int line;
};

static volatile int sink;
static uintptr_t here;

static inline __attribute__((always_inline)) void inner(void)
{
	__asm__ volatile("lea 0f(%%rip), %0\n0:" : "=r"(here));
	sink++;
}

enum { INNER_LINE = __LINE__ - 4 };

static __attribute__((noinline)) void outer(void)
{
	inner();
	sink++;
}

enum { OUTER_LINE = __LINE__ - 4 };

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	unsigned long start, end, off;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");

	outer();
	w->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &off) == 3 && here >= start && here < end)
			w->addr = here - start + off;
	if (f)
		fclose(f);
	*state = w;
	return w->fd < 0 || !w->addr;
}

static int teardown(void **state)
{
	struct world *w = *state;

	close(w->fd);
	test_free(w);
	return 0;
}

static struct debug_lines *open_lines(const struct world *w, int cache)
{
	const struct debug_lines_source src = { .fds = &w->fd, .nr_fds = w->fd >= 0, .cache_fd = cache,
						.keeps_news = true };
	struct debug_lines *d;

	return debug_lines_open(&src, &d, &(uint32_t){ 0 }) ? NULL : d;
}

static void check_lines(struct debug_lines *d, uint64_t addr)
{
	struct unit_place v[8];
	uint8_t lang;

	assert_non_null(d);
	assert_int_equal(debug_lines_find(d, addr, LATE, v, 8, &lang), 2);
	assert_string_equal(v[0].name, "inner");
	assert_int_equal(v[0].line, INNER_LINE);
	assert_non_null(strstr(v[0].file, "tests/unit/test_debug_lines.c"));
	assert_string_equal(v[1].name, "outer");
	assert_int_equal(v[1].line, OUTER_LINE);
}

/* An address in setup(), which was not asked for before. */
static void find_other(struct debug_lines *d, uint64_t addr)
{
	struct unit_place v[8];
	uint8_t lang;

	assert_true(debug_lines_find(d, addr, LATE, v, 8, &lang) > 0);
	assert_string_equal(v[0].name, "setup");
}

static void test_own_lines(void **state)
{
	const struct world *w = *state;
	struct debug_lines *d = open_lines(w, -1);
	struct unit_place v[8];
	uint8_t lang;

	check_lines(d, w->addr);
	assert_int_equal(debug_lines_find(d, 1, LATE, v, 8, &lang), 0);
	debug_lines_close(d);
}

/* Without time the answer is late; what was made already needs none. */
static void test_no_time(void **state)
{
	const struct world *w = *state;
	struct debug_lines *d = open_lines(w, -1);
	struct unit_place v[8];
	uint8_t lang;

	assert_int_equal(debug_lines_find(d, w->addr, 0, v, 8, &lang), -ETIMEDOUT);
	check_lines(d, w->addr);
	assert_int_equal(debug_lines_find(d, w->addr, 0, v, 8, &lang), 2);
	debug_lines_close(d);
}

/*
 * A compressed file takes memory as long as it is read, and is unpacked again when a unit is wanted
 * that has no table.
 */
static void test_leaves_files(void **state)
{
	struct world *w = *state, packed = *w;
	char path[] = "/tmp/test_debug_linesXXXXXX", command[200];
	uint64_t now, until;
	struct debug_lines *d;

	packed.fd = mkstemp(path);
	snprintf(command, sizeof(command), "objcopy --compress-debug-sections=zlib /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	close(packed.fd);
	packed.fd = open(path, O_RDONLY | O_CLOEXEC);
	d = open_lines(&packed, -1);
	now = now_ns();
	until = debug_lines_leave_files(d, now);
	assert_true(until >= now + 4 * NSEC_PER_SEC);
	check_lines(d, w->addr);
	assert_true(debug_lines_leave_files(d, until) > until);		/* it was used since */
	until = debug_lines_leave_files(d, until);
	assert_int_equal(debug_lines_leave_files(d, until - 1), until);
	assert_int_equal(debug_lines_leave_files(d, until), 0);
	assert_int_equal(debug_lines_leave_files(d, until + NSEC_PER_SEC), 0);	/* nothing is left */
	/* The table is there, and so is the rest of the file, as soon as it is wanted. */
	check_lines(d, w->addr);
	assert_int_equal(debug_lines_leave_files(d, until), 0);
	assert_int_equal(debug_lines_lack(d), 0);
	find_other(d, (uintptr_t)setup - here + w->addr);
	assert_true(debug_lines_leave_files(d, now_ns()));
	debug_lines_close(d);
	/* What lies in the file itself takes no memory. */
	d = open_lines(w, -1);
	check_lines(d, w->addr);
	assert_int_equal(debug_lines_leave_files(d, now_ns()), 0);
	debug_lines_close(d);
	close(packed.fd);
	unlink(path);
}

/* Into a directory of this test's own. */
static struct cache_folder *new_cache(char dir[64])
{
	struct cache_folder *c;

	strcpy(dir, "/tmp/test_debug_linesXXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("XDG_CACHE_HOME", dir, 1);
	assert_int_equal(cache_folder_new(&c), 0);
	return c;
}

static void remove_cache(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static const uint8_t build_id[] = { 0xab, 0xcd };
static const struct cache_key key = { build_id, sizeof(build_id), 1000, 8, 9, { 10, 11 } };

static void test_cache(void **state)
{
	struct world *w = *state, none = { .fd = -1 };
	struct debug_lines *d = open_lines(w, -1);
	struct byte_buf news = { 0 };
	struct cache_folder *c;
	char dir[64];
	int fd;

	c = new_cache(dir);
	assert_true(line_cache_open(c, &key) < 0);
	check_lines(d, w->addr);
	assert_int_equal(debug_lines_news(d, &news), 0);
	debug_lines_close(d);
	line_cache_append(c, &key, news.v, news.nr);
	fd = line_cache_open(c, &key);
	assert_true(fd >= 0);
	/* The program itself is not needed any more. */
	d = open_lines(&none, fd);
	check_lines(d, w->addr);
	bb_release(&news);
	assert_int_equal(debug_lines_news(d, &news), 0);
	assert_int_equal(news.nr, 0);
	debug_lines_close(d);
	close(fd);
	cache_folder_free(c);
	remove_cache(dir);
}

/* The line of an address, or 0. */
static uint32_t line_at(struct debug_lines *d, uint64_t addr)
{
	struct unit_place v[8];
	uint8_t lang;

	return debug_lines_find(d, addr, LATE, v, 8, &lang) > 0 ? v[0].line : 0;
}

/* Partial tables of one unit, none of which has what the other has, count together. */
static void test_cache_of_parts(void **state)
{
	struct world *w = *state, none = { .fd = -1 };
	uint64_t other = w->addr + (uint64_t)((uintptr_t)setup - here);
	struct byte_buf news = { 0 };
	struct cache_folder *c;
	struct debug_lines *d;
	uint32_t line = 0;
	char dir[64];
	int fd;

	c = new_cache(dir);
	for (unsigned i = 0; i < 2; i++) {
		d = open_lines(w, -1);
		if (i)
			check_lines(d, w->addr);
		else
			line = line_at(d, other);
		assert_int_equal(debug_lines_news(d, &news), 0);
		debug_lines_close(d);
		line_cache_append(c, &key, news.v, news.nr);
		bb_release(&news);
	}
	fd = line_cache_open(c, &key);
	d = open_lines(&none, fd);
	check_lines(d, w->addr);
	assert_true(line > OUTER_LINE);
	assert_int_equal(line_at(d, other), line);
	debug_lines_close(d);
	close(fd);
	cache_folder_free(c);
	remove_cache(dir);
}

/* What was not expected is read when it is asked for, and what was read stays; at last all of a unit is. */
static void test_surprises(void **state)
{
	struct world *w = *state;
	struct debug_lines *d = open_lines(w, -1);
	uint64_t begin = w->addr - 64;

	debug_lines_expect(d, &w->addr, 1);
	check_lines(d, w->addr);
	for (uint64_t addr = begin; addr < begin + 400; addr += 7)
		line_at(d, addr);
	check_lines(d, w->addr);
	assert_int_equal(line_at(d, w->addr + (uint64_t)((uintptr_t)outer - here)), OUTER_LINE - 1);
	debug_lines_close(d);
}

/* Another file has another cache: a build-id can be put into any file. */
static void test_cache_of_files(void **state)
{
	struct cache_key others[] = { key, key, key, key, key };
	static const char record[16];
	struct cache_folder *c;
	char dir[64];
	int fd;

	(void)state;
	c = new_cache(dir);
	others[0].owner++;
	others[1].dev++;
	others[2].ino++;
	others[3].changed.tv_sec++;
	others[4].changed.tv_nsec++;
	line_cache_append(c, &key, record, sizeof(record));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_true(line_cache_open(c, &others[i]) < 0);
	fd = line_cache_open(c, &key);
	assert_true(fd >= 0);
	close(fd);
	cache_folder_free(c);
	remove_cache(dir);
}

/* Others could put tables into a directory that they may write to. */
static void test_cache_of_others(void **state)
{
	struct cache_folder *c;
	char dir[64], own[80];

	(void)state;
	cache_folder_free(new_cache(dir));
	snprintf(own, sizeof(own), "%s/probee", dir);
	assert_int_equal(chmod(own, 0777), 0);
	assert_int_equal(cache_folder_new(&c), -EPERM);
	assert_null(c);
	assert_true(line_cache_open(c, &key) < 0);
	line_cache_append(c, &key, "12345678", 8);
	remove_cache(dir);
}

/* A file that ends early, or whose head says too much, is as good as its whole records. */
static void test_cache_with_damage(void **state)
{
	struct world *w = *state, none = { .fd = -1 };
	struct debug_lines *d = open_lines(w, -1);
	struct byte_buf file = { 0 }, news = { 0 };
	struct cache_head head;
	int fd;

	check_lines(d, w->addr);
	debug_lines_news(d, &news);
	debug_lines_close(d);
	head = (struct cache_head){ CACHE_MAGIC, UINT64_MAX };
	bb_bytes(&file, &head, sizeof(head));
	bb_bytes(&file, news.v, news.nr);
	for (size_t len = 0; len <= file.nr; len += len < 64 ? 1 : file.nr / 50 + 1) {
		fd = memfd_create("cache", MFD_CLOEXEC);
		assert_int_equal(write(fd, file.v, len), len);
		d = open_lines(w, fd);
		check_lines(d, w->addr);
		debug_lines_close(d);
		d = open_lines(&none, fd);
		debug_lines_close(d);
		close(fd);
	}
	bb_release(&file);
	bb_release(&news);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_lines),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_leaves_files),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_of_parts),
		cmocka_unit_test(test_surprises),
		cmocka_unit_test(test_cache_of_files),
		cmocka_unit_test(test_cache_of_others),
		cmocka_unit_test(test_cache_with_damage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
