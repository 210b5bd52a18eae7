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

#include "src/proc/descriptors.h"
#include "src/proc/mounts.h"
#include "src/proc/path_mount.h"

/* What is mounted last at a place is what is there. */
static void proc_is_found(void **state)
{
	char text[MOUNT_TEXT_MAX];

	(void)state;
	assert_true(mounts_text_of_path(getpid(), "/proc/self/status", text));
	assert_string_equal(strrchr(text, ' '), " /proc");
	assert_int_equal(strncmp(text, "proc ", 5), 0);
	assert_true(path_mount(getpid(), "/proc/self/status", text));
	assert_int_equal(strncmp(text, "proc ", 5), 0);
	assert_true(path_mount(getpid(), "/proc/self/fd/no/such/file", text));
	assert_int_equal(strncmp(text, "proc ", 5), 0);
}

/* "/proc" is no beginning of "/processes". */
static void names_are_whole(void **state)
{
	char text[MOUNT_TEXT_MAX], root[MOUNT_TEXT_MAX];

	(void)state;
	assert_true(mounts_text_of_path(getpid(), "/", root));
	assert_true(mounts_text_of_path(getpid(), "/processes", text));
	assert_string_equal(text, root);
	assert_true(path_mount(getpid(), "/processes", text));
	assert_string_equal(text, root);
	assert_true(path_mount(getpid(), "/processes/of/the/machine", text));
	assert_string_equal(text, root);
}

static void a_link_leads_to_another_mount(void **state)
{
	char dir[] = "/tmp/probee-mounts.XXXXXX", link[64], path[80], text[MOUNT_TEXT_MAX] = "";

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/l", dir);
	snprintf(path, sizeof(path), "%s/self/none", link);
	assert_int_equal(symlink("/proc", link), 0);
	/* Somebody has looked the path up, as the thread has that hangs on it. */
	assert_int_equal(access(path, F_OK), -1);
	/* While others mount something, or caches are dropped, the link may count as one that is not cached. */
	for (int i = 0; i < 10000 && strncmp(text, "proc ", 5); i++) {
		assert_int_equal(access(path, F_OK), -1);
		assert_true(path_mount(getpid(), path, text));
		usleep(i ? 1000 : 0);
	}
	assert_int_equal(strncmp(text, "proc ", 5), 0);
	assert_true(mounts_text_of_path(getpid(), path, text));
	assert_int_not_equal(strncmp(text, "proc ", 5), 0);
	unlink(link);
	rmdir(dir);
}

static void a_descriptor_has_the_number_of_its_mount(void **state)
{
	FILE *f = fopen("/proc/self/status", "r");
	char text[MOUNT_TEXT_MAX];
	uint32_t id;

	(void)state;
	assert_non_null(f);
	assert_int_equal(descriptor_mount((uint32_t)getpid(), (uint32_t)getpid(),
					  (uint32_t)fileno(f), &id), 0);
	assert_true(mounts_text_of_id(getpid(), id, text));
	assert_int_equal(strncmp(text, "proc ", 5), 0);
	assert_false(mounts_text_of_id(getpid(), UINT32_MAX, text));
	fclose(f);
}

static void nothing_is_known_of_who_is_gone(void **state)
{
	char text[MOUNT_TEXT_MAX];

	(void)state;
	assert_false(mounts_text_of_path(4194303, "/", text));
	assert_false(path_mount(4194303, "/", text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proc_is_found),
		cmocka_unit_test(names_are_whole),
		cmocka_unit_test(a_link_leads_to_another_mount),
		cmocka_unit_test(a_descriptor_has_the_number_of_its_mount),
		cmocka_unit_test(nothing_is_known_of_who_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
