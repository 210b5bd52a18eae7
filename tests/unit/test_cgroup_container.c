/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/cgroup_container.h"

#define A "4f3a5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566779c"
#define B "00005b6c7d8e9f00112233445566778899aabbccddeeff00112233445566779c"

static void check(const char *cgroup, const char *want)
{
	size_t len;
	const char *id = cgroup_container(cgroup, strlen(cgroup), &len);

	if (!id != !want || (id && (len != strlen(want) || memcmp(id, want, len))))
		fail_msg("%s: %.*s, not %s", cgroup, (int)len, id ? id : "", want ? want : "none");
}

static void engines_put_ids_into_names(void **state)
{
	(void)state;
	check("/docker/" A, A);
	check("/system.slice/docker-" A ".scope", A);
	check("/kubepods.slice/kubepods-pod1b_2c.slice/cri-containerd-" A ".scope", A);
	check("/machine.slice/libpod-" A ".scope/container", A);
}

static void the_last_one_counts(void **state)
{
	(void)state;
	check("/docker/" A "/docker/" B "/init", B);
}

static void other_names_are_none(void **state)
{
	(void)state;
	check("", NULL);
	check("/", NULL);
	check("/system.slice/ssh.service", NULL);
	check("/user.slice/user-1000.slice/deadbeef", NULL);
	check("/docker/" A "0", NULL);		/* 65 digits */
	check("/docker/4F3A5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566779c", NULL);
}

static void check_unit(const char *cgroup, const char *want)
{
	size_t len;
	const char *unit = cgroup_unit(cgroup, strlen(cgroup), &len);

	if (!unit != !want || (unit && (len != strlen(want) || memcmp(unit, want, len))))
		fail_msg("%s: %.*s, not %s", cgroup, (int)len, unit ? unit : "", want ? want : "none");
}

static void units_are_parts_of_paths(void **state)
{
	(void)state;
	check_unit("/system.slice/ssh.service", "ssh.service");
	check_unit("/system.slice/ssh.service/sub", "ssh.service");
	check_unit("/user.slice/user-1000.slice/session-3.scope", "session-3.scope");
	check_unit("/system.slice/docker-" A ".scope", "docker-" A ".scope");
	check_unit("/a.slice/plain/", "a.slice");
	check_unit("/docker/" A, NULL);
	check_unit("/.service", NULL);
	check_unit("/", NULL);
	check_unit("", NULL);
}

static void reads_no_further_than_told(void **state)
{
	size_t len;

	(void)state;
	assert_null(cgroup_container("/docker/" A, 8 + 63, &len));
	assert_non_null(cgroup_container("/docker/" A, 8 + 64, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_put_ids_into_names),
		cmocka_unit_test(the_last_one_counts),
		cmocka_unit_test(other_names_are_none),
		cmocka_unit_test(units_are_parts_of_paths),
		cmocka_unit_test(reads_no_further_than_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
