/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread holds, and that what it gave up is gone in every set. /proc is the judge. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/capability.h>

int capset(struct __user_cap_header_struct *head, const struct __user_cap_data_struct *data);

#include "src/rights/capabilities.h"

#define IMPLIED (CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON))

/* What the kernel says of the calling thread. */
struct shown {
	uint64_t inheritable, permitted, effective, bounding, ambient;
	int no_new_privs;
};

static struct shown look(void)
{
	FILE *f = fopen("/proc/thread-self/status", "re");
	struct shown s = { .no_new_privs = -1 };
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		(void)!sscanf(line, "CapInh: %" SCNx64, &s.inheritable);
		(void)!sscanf(line, "CapPrm: %" SCNx64, &s.permitted);
		(void)!sscanf(line, "CapEff: %" SCNx64, &s.effective);
		(void)!sscanf(line, "CapBnd: %" SCNx64, &s.bounding);
		(void)!sscanf(line, "CapAmb: %" SCNx64, &s.ambient);
		(void)!sscanf(line, "NoNewPrivs: %d", &s.no_new_privs);
	}
	if (f)
		fclose(f);
	return s;
}

/* Runs fn in a child, since it cannot be undone; 0: all that it looked at was right. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void need_root(void)
{
	if (geteuid())
		skip();
}

static void test_names(void **state)
{
	char buf[64];

	(void)state;
	assert_int_equal(capabilities_names(0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(capabilities_names(IMPLIED, buf, sizeof(buf)), 2);
	assert_string_equal(buf, "cap_bpf,cap_perfmon");
	assert_int_equal(capabilities_names(UINT64_MAX, buf, 10), CAP_LAST_CAP + 1);
	assert_string_equal(buf, "cap_check");	/* cut, never past the end */
	assert_int_equal(capabilities_number("cap_bpf"), CAP_BPF);
	assert_int_equal(capabilities_number("cap_checkpoint_restore"), CAP_CHECKPOINT_RESTORE);
	assert_int_equal(capabilities_number("bpf"), -EINVAL);
	assert_int_equal(capabilities_number("cap_none"), -EINVAL);
}

static void test_held(void **state)
{
	struct shown s = look();
	struct capability_sets held;

	(void)state;
	assert_int_equal(capabilities_held(&held), 0);
	assert_int_equal(held.effective, s.effective);
	assert_int_equal(held.permitted, s.permitted);
	assert_int_equal(held.inheritable, s.inheritable);
	assert_int_equal(held.bounding, s.bounding);
	assert_int_equal(held.ambient, s.ambient);
	assert_int_equal(capabilities_effective() & ~IMPLIED, s.effective & ~IMPLIED);
	assert_int_equal(capabilities_effective() & IMPLIED,
			 s.effective & CAP_BIT(CAP_SYS_ADMIN) ? IMPLIED : s.effective & IMPLIED);
}

static int is_shed(uint64_t kept, uint64_t bounding)
{
	struct shown s = look();

	return s.permitted != kept ? 1
	       : s.effective != kept ? 2
	       : s.inheritable || s.ambient ? 3
	       : s.bounding != bounding ? 4
	       : s.no_new_privs != 1 ? 5
				     : 0;
}

static int drop_all(void)
{
	return rights_drop_all() ? 10 : is_shed(0, 0);
}

static int keep_two(void)
{
	const int two[] = { CAP_PERFMON, CAP_BPF };

	return rights_keep(two, 2) ? 10 : is_shed(IMPLIED, 0);
}

/* What was given up does not come back by being asked for. */
static int keep_what_is_gone(void)
{
	const int one[] = { CAP_PERFMON }, two[] = { CAP_PERFMON, CAP_BPF };

	if (rights_keep(one, 1) || rights_keep(two, 2))
		return 10;
	return is_shed(CAP_BIT(CAP_PERFMON), 0);
}

/* Without CAP_SETPCAP the bounding set stays, and that is no error. */
static int keep_without_setpcap(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	const int one[] = { CAP_PERFMON };
	uint64_t bounding = look().bounding;

	data[1].effective = data[1].permitted = (uint32_t)(IMPLIED >> 32);
	if (capset(&head, data))
		return 20;
	return rights_keep(one, 1) ? 10 : is_shed(CAP_BIT(CAP_PERFMON), bounding);
}

/* A program of root's gets nothing back. */
static int drop_and_exec(void)
{
	if (rights_drop_all())
		return 10;
	execl("/bin/sh", "sh", "-c", "grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status",
	      (char *)NULL);
	return 11;
}

static void *keep_one(void *result)
{
	const int one[] = { CAP_PERFMON };

	*(int *)result = rights_keep(one, 1) ? 10 : is_shed(CAP_BIT(CAP_PERFMON), 0);
	return NULL;
}

/* Sets belong to threads: one that sheds its rights leaves the others theirs. */
static int keep_in_thread(void)
{
	struct shown before = look(), after;
	pthread_t thread;
	int result = 30;

	if (pthread_create(&thread, NULL, keep_one, &result) || pthread_join(thread, NULL))
		return 31;
	after = look();
	return result ? result : memcmp(&before, &after, sizeof(before)) ? 32 : 0;
}

static void test_shed(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(in_child(drop_all), 0);
	assert_int_equal(in_child(keep_two), 0);
	assert_int_equal(in_child(keep_what_is_gone), 0);
	assert_int_equal(in_child(keep_without_setpcap), 0);
	assert_int_equal(in_child(drop_and_exec), 0);
	assert_int_equal(in_child(keep_in_thread), 0);
}

/* Whoever has no rights can give them up as well: that closes the way by set-user-ID programs. */
static int drop_as_nobody(void)
{
	uint64_t bounding = look().bounding;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534))
		return 20;
	return rights_drop_all() ? 10 : is_shed(0, bounding);
}

static void test_nothing_to_shed(void **state)
{
	(void)state;
	assert_int_equal(in_child(drop_as_nobody), 0);
}

static void test_whose(void **state)
{
	(void)state;
	assert_int_equal(rights_are_of_root(), getuid() == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_shed),
		cmocka_unit_test(test_nothing_to_shed),
		cmocka_unit_test(test_whose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
