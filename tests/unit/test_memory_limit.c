/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/memory_limit.h"

#define MIB (1ull << 20)

static char root[] = "/tmp/probee-limit.XXXXXX";

/* Writes a file below root, with its directories. */
static void put(const char *path, const char *text)
{
	char command[1024];

	snprintf(command, sizeof(command), "mkdir -p '%s%s' && rmdir '%s%s' && printf '%s' >'%s%s'", root, path, root, path,
		 text, root, path);
	assert_int_equal(system(command), 0);
}

static void clear(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'/*", root);
	assert_int_equal(system(command), 0);
}

static void expect(uint64_t limit, uint64_t used)
{
	struct memory_limit m;

	assert_true(memory_limit_read(root, &m));
	assert_int_equal(m.limit_bytes, limit);
	assert_int_equal(m.used_bytes, used);
	clear();
}

static void expect_none(void)
{
	struct memory_limit m;

	assert_false(memory_limit_read(root, &m));
	clear();
}

static void test_version_1(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "12:cpu,cpuacct:/other\\n4:memory:/a/b\\n0::/\\n");
	put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "33554432\\n");
	put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "20971520\\n");
	put("/sys/fs/cgroup/memory/a/b/memory.stat", "inactive_file 7\\ntotal_inactive_file 4194304\\ntotal_active_file 1048576\\n");
	expect(32 * MIB, 15 * MIB);
}

/* The group above has less room: what others in it use counts, too. */
static void test_group_above(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/a/b\\n");
	put("/sys/fs/cgroup/a/b/memory.max", "67108864\\n");
	put("/sys/fs/cgroup/a/b/memory.current", "1048576\\n");
	put("/sys/fs/cgroup/a/memory.max", "104857600\\n");
	put("/sys/fs/cgroup/a/memory.current", "94371840\\n");
	put("/sys/fs/cgroup/a/memory.stat", "anon 90000000\\nactive_file 1048576\\ninactive_file 0\\n");
	expect(100 * MIB, 89 * MIB);
}

/* In a container the path is that of the host, and only the topmost directory is there. */
static void test_container(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "4:memory:/docker/0123abcd\\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "16777216\\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\\n");
	expect(16 * MIB, MIB);
}

static void test_no_limit(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "4:memory:/\\n0::/\\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\\n");
	expect_none();
	put("/proc/self/cgroup", "0::/a\\n");
	put("/sys/fs/cgroup/a/memory.max", "max\\n");
	put("/sys/fs/cgroup/a/memory.current", "1048576\\n");
	expect_none();
	put("/proc/self/cgroup", "nonsense\\n:\\n4:memory\\n");
	expect_none();
	put("/proc/self/cgroup", "");
	expect_none();
	expect_none();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_group_above),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_no_limit),
	};
	int failed;

	if (!mkdtemp(root))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(root) || failed;
}
