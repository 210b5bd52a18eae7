/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes fit which rules, and how rules are written. tests/live/targets.sh has real ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/proc/container_names.h"
#include "src/proc/target_rules.h"
#include "tests/unit/stderr_text.h"

#define ID "4f3a5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566779c"

typedef int (*parse_fn)(const struct opt *o, const char *value, void *dst);

static const struct {
	parse_fn parse;
	const char *value;
	struct target_facts facts;
	bool fits;
} cases[] = {
	{ target_rules_parse_names, "postgres", { "postgres", "postgres", "/", false, 0 }, true },
	{ target_rules_parse_names, "postgres", { "postmaster", "postgres", "/", false, 0 }, true },
	{ target_rules_parse_names, "postgres", { "postgresql", "x", "/", false, 0 }, false },
	{ target_rules_parse_names, "x,java*", { "java", "", "/", false, 0 }, true },
	{ target_rules_parse_names, "x,java*", { "ajava", "", "/", false, 0 }, false },
	{ target_rules_parse_names, "7z", { "7z", "", "/", false, 0 }, true },
	{ target_rules_parse_names, "12,cat,13-14", { "cat", "", "/", false, 0 }, true },
	{ target_rules_parse_names, "a-name-of-more-than-15", { "a-name-of-more-", "", "/", false, 0 }, true },
	{ target_rules_parse_names, "a-name-of-more", { "a-name-of-more-", "", "/", false, 0 }, false },
	{ target_rules_parse_comms, "worker", { "worker", "app", "/", false, 0 }, true },
	{ target_rules_parse_comms, "app", { "worker", "app", "/", false, 0 }, false },
	{ target_rules_parse_cgroups, "/system.slice", { "", "", "/system.slice/ssh.service", false, 0 }, true },
	{ target_rules_parse_cgroups, "/system.slice/", { "", "", "/system.slice", false, 0 }, true },
	{ target_rules_parse_cgroups, "/system.slice", { "", "", "/system.slice2/x", false, 0 }, false },
	{ target_rules_parse_cgroups, "system.slice", { "", "", "/system.slice/ssh.service", false, 0 }, true },
	{ target_rules_parse_cgroups, "docker-1.scope", { "", "", "/system.slice/docker-1.scope", false, 0 }, true },
	{ target_rules_parse_cgroups, "docker-*", { "", "", "/system.slice/docker-1.scope/init", false, 0 }, true },
	{ target_rules_parse_cgroups, "system.slice", { "", "", "/my-system.slice/x", false, 0 }, false },
	{ target_rules_parse_cgroups, "*/ssh.service", { "", "", "/system.slice/ssh.service/sub", false, 0 }, true },
	{ target_rules_parse_cgroups, "/", { "", "", "/anything", false, 0 }, true },
	{ target_rules_parse_cgroups, "/", { "", "", "/", false, 0 }, true },
	{ target_rules_parse_cgroups, "/a", { "", "", "/", false, 0 }, false },
	{ target_rules_parse_units, "ssh", { "", "", "/system.slice/ssh.service", false, 0 }, true },
	{ target_rules_parse_units, "ssh.service", { "", "", "/system.slice/ssh.service/sub", false, 0 }, true },
	{ target_rules_parse_units, "ssh.scope", { "", "", "/system.slice/ssh.service", false, 0 }, false },
	{ target_rules_parse_units, "ss*", { "", "", "/system.slice/ssh.service", false, 0 }, true },
	{ target_rules_parse_units, "plain", { "", "", "/plain", false, 0 }, false },
	{ target_rules_parse_containers, "4f3a", { "", "", "/docker/" ID, false, 0 }, true },
	{ target_rules_parse_containers, "4f3a5b6c7d8e", { "", "", "/x.slice/cri-containerd-" ID ".scope", false, 0 }, true },
	{ target_rules_parse_containers, ID, { "", "", "/machine.slice/libpod-" ID ".scope/container", false, 0 }, true },
	{ target_rules_parse_containers, "4f3", { "", "", "/docker/" ID, false, 0 }, false },
	{ target_rules_parse_containers, "5b6c", { "", "", "/docker/" ID, false, 0 }, false },
	{ target_rules_parse_containers, "4f3a", { "", "", "/system.slice", false, 0 }, false },
	{ target_rules_parse_users, "0", { "", "", "/", true, 0 }, true },
	{ target_rules_parse_users, "root", { "", "", "/", true, 0 }, true },
	{ target_rules_parse_users, "1000-1002", { "", "", "/", true, 1001 }, true },
	{ target_rules_parse_users, "1000", { "", "", "/", true, 0 }, false },
	{ target_rules_parse_users, "0", { "", "", "/", false, 0 }, false },
};

static void test_what_fits(void **state)
{
	static const struct opt o = { .name = "target" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target_rules r = { .tree = false };

		assert_int_equal(cases[i].parse(&o, cases[i].value, &r), 0);
		assert_true(target_rules_are_open(&r));
		if (target_rules_match(&r, &cases[i].facts) != cases[i].fits)
			fail_msg("'%s' and %s, %s, %s", cases[i].value, cases[i].facts.comm, cases[i].facts.exe,
				 cases[i].facts.cgroup);
		target_rules_release(&r);
	}
}

static void test_numbers_and_names_apart(void **state)
{
	static const struct opt o = { .name = "pid" };
	struct target_rules r = { .tree = false };

	(void)state;
	assert_int_equal(target_rules_parse_names(&o, "12,cat,14-16", &r), 0);
	assert_int_equal(r.pids.nr, 4);
	assert_true(id_list_has(&r.pids, 12) && id_list_has(&r.pids, 16));
	assert_int_equal(r.names.nr, 1);
	target_rules_release(&r);
	assert_int_equal(target_rules_parse_names(&o, "12", &r), 0);
	assert_false(target_rules_are_open(&r));
	target_rules_release(&r);
}

static void test_mistakes(void **state)
{
	static const struct { parse_fn parse; const char *value, *said; } bad[] = {
		{ target_rules_parse_names, "", "not a list" },
		{ target_rules_parse_names, "1,,2", "not a list" },
		{ target_rules_parse_names, "5-3", "not a list" },
		{ target_rules_parse_names, "1-", "not a list" },
		{ target_rules_parse_comms, "", "is no name" },
		{ target_rules_parse_comms, "a,", "is no name" },
		{ target_rules_parse_users, "no-such-user-here", "there is no user" },
	};
	static const struct opt o = { .name = "x" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct target_rules r = { .tree = false };
		const char *said;

		stderr_begin();
		assert_int_equal(bad[i].parse(&o, bad[i].value, &r), -EINVAL);
		said = stderr_end();
		if (!strstr(said, bad[i].said))
			fail_msg("'%s': %s", bad[i].value, said);
		target_rules_release(&r);
	}
}

static void test_ended_numbers(void **state)
{
	struct target_rules r = { .tree = false };
	struct id_list found = { .nr = 0 };
	char line[64];
	static const struct opt o = { .name = "pid" };

	(void)state;
	snprintf(line, sizeof(line), "%d,4194303", getpid());	/* the last number is the kernel's limit */
	assert_int_equal(target_rules_parse_names(&o, line, &r), 0);
	stderr_begin();
	assert_int_equal(target_rules_find(&r, &found), 0);
	assert_non_null(strstr(stderr_end(), "process 4194303 has ended"));
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.v[0], getpid());
	free(found.v);
	target_rules_release(&r);

	found = (struct id_list){ .nr = 0 };
	assert_int_equal(target_rules_parse_names(&o, "4194303", &r), 0);
	stderr_begin();
	assert_int_equal(target_rules_find(&r, &found), -ESRCH);
	stderr_end();
	free(found.v);
	target_rules_release(&r);
}

static void test_names_in_state_files(void **state)
{
	static const char docker[] = "{\"ID\":\"x\",\"Name\":\"/web-1\",\"Other\":\"Name\"}";
	static const char cri[] = "{\"annotations\":{\"io.kubernetes.cri.container-name\": \"api\"}}";

	(void)state;
	assert_true(container_file_names(docker, strlen(docker), "Name", "web-1"));
	assert_true(container_file_names(docker, strlen(docker), "Name", "web*"));
	assert_false(container_file_names(docker, strlen(docker), "Name", "web"));
	assert_true(container_file_names(cri, strlen(cri), "io.kubernetes.cri.container-name", "api"));
	/* Cut anywhere it is no name, and nothing behind the end is read. */
	for (size_t len = 0; len < strlen(docker); len++) {
		char *part = malloc(len ? len : 1);

		memcpy(part, docker, len);
		assert_int_equal(container_file_names(part, len, "Name", "web-1"), len >= 25);
		free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits),
		cmocka_unit_test(test_numbers_and_names_apart),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_ended_numbers),
		cmocka_unit_test(test_names_in_state_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
