/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/timed_reader.h"
#include "src/proc/map_at.h"
#include "src/proc/procfs.h"

#define PAGE 4096

/* The mappings that were told of, with their paths. */
struct told {
	struct proc_map v[4096];
	size_t nr;
};

static int tell(void *ctx, const struct proc_map *map)
{
	struct told *t = ctx;

	assert_true(t->nr < 4096);
	t->v[t->nr] = *map;
	t->v[t->nr++].path = strdup(map->path);
	return 0;
}

static void forget(struct told *t)
{
	while (t->nr)
		free((char *)t->v[--t->nr].path);
}

static void assert_equal(const struct proc_map *a, const struct proc_map *b)
{
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->pgoff_bytes, b->pgoff_bytes);
	assert_int_equal(a->prot, b->prot);
	assert_int_equal(a->dev, b->dev);
	assert_int_equal(a->ino, b->ino);
	assert_string_equal(a->path, b->path);
	assert_int_equal(a->deleted, b->deleted);
}

/* Each answer is the mapping that the whole file shows. */
static void test_as_the_whole_file(void **state)
{
	struct timed_reader *r = procfs_reader_new(5000, NULL);
	static struct told all, one;
	char odd[] = "/tmp/map at\n(deleted).XXXXXX";
	int fd = mkstemp(odd);
	void *code;

	(void)state;
	assert_non_null(r);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4 * PAGE), 0);
	code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 2 * PAGE);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(procfs_maps(getpid(), tell, &all), 0);
	assert_true(all.nr > 3);
	for (size_t i = 0; i < all.nr; i++) {
		if (!strcmp(all.v[i].path, "[vsyscall]"))
			continue;	/* it belongs to no memory map */
		assert_int_equal(procfs_map_at_timed(r, getpid(), all.v[i].end - 1, tell, &one), 0);
		assert_int_equal(one.nr, 1);
		assert_equal(&one.v[0], &all.v[i]);
		forget(&one);
	}
	/* Where there is no code there is no answer. */
	assert_int_equal(procfs_map_at_timed(r, getpid(), 8, tell, &one), 0);
	assert_int_equal(procfs_map_at_timed(r, getpid(), (uintptr_t)&one, tell, &one), 0);
	assert_int_equal(one.nr, 0);
	assert_true(procfs_map_at_timed(r, 0x7ffffffe, 8, tell, &one) < 0);
	unlink(odd);
	assert_int_equal(procfs_map_at_timed(r, getpid(), (uintptr_t)code, tell, &one), 0);
	assert_int_equal(one.nr, 1);
	assert_true(one.v[0].deleted);
	forget(&one);
	forget(&all);
	munmap(code, PAGE);
	close(fd);
	timed_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_the_whole_file) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
