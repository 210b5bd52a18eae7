/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Against the numbers in this system's kernel headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "src/model/syscall_names.h"

#define GENERIC                                                                                    \
	"#define __BITS_PER_LONG 64\\n#define __ARCH_WANT_RENAMEAT\\n#define "                     \
	"__ARCH_WANT_NEW_STAT\\n"                                                                  \
	"#define __ARCH_WANT_SET_GET_RLIMIT\\n#define __ARCH_WANT_SYS_CLONE3\\n#define "           \
	"__ARCH_WANT_MEMFD_SECRET\\n"

/* How many "#define __NR_name number" the compiler sees in a header, each the same as in our table. */
static unsigned compare(const char *arch, const char *prefix, const char *header)
{
	char command[512], line[256], name[128];
	unsigned nr, found = 0;
	struct syscall_names *names = syscall_names_new(arch);
	FILE *f;

	assert_non_null(names);
	snprintf(command, sizeof(command),
		 "printf '%s#include <%s>\\n' | ${CC:-cc} -E -dM - 2>/dev/null", prefix, header);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "#define __NR_%127s %u", name, &nr) != 2 ||
		    !strcmp(name, "syscalls") || !strcmp(name, "arch_specific_syscall"))
			continue;
		if (!syscall_name(names, nr) || strcmp(syscall_name(names, nr), name))
			fail_msg("%s: %u is %s, not %s", arch, nr, name, syscall_name(names, nr));
		found++;
	}
	pclose(f);
	syscall_names_free(names);
	return found;
}

static void test_x86_64(void **state)
{
	unsigned found = compare("x86_64", "", "asm/unistd_64.h");

	(void)state;
	if (!found)
		skip(); /* headers of another architecture, or no compiler */
	assert_true(found > 350);
}

static void test_aarch64(void **state)
{
	unsigned found = compare("aarch64", GENERIC, "asm-generic/unistd.h");

	(void)state;
	if (!found)
		skip();
	assert_true(found > 280);
}

static void test_this_machine(void **state)
{
#ifdef __x86_64__
	struct syscall_names *names = syscall_names_new("x86_64");
#else
	struct syscall_names *names = syscall_names_new("aarch64");
#endif

	(void)state;
	assert_string_equal(syscall_name(names, SYS_futex), "futex");
	assert_string_equal(syscall_name(names, SYS_epoll_pwait), "epoll_pwait");
	assert_string_equal(syscall_name(names, SYS_wait4), "wait4");
	syscall_names_free(names);
}

static void test_both_architectures(void **state)
{
	struct syscall_names *x86 = syscall_names_new("x86_64"),
			     *arm = syscall_names_new("aarch64");
	unsigned nr_x86 = 0, nr_arm = 0;

	(void)state;
	assert_string_equal(syscall_name(x86, 202), "futex");
	assert_string_equal(syscall_name(arm, 98), "futex");
	assert_null(syscall_name(x86, 335)); /* a gap */
	assert_null(syscall_name(x86, 100000));
	assert_null(syscall_name(x86, UINT32_MAX));
	for (uint32_t nr = 0; nr < 470; nr++) {
		nr_x86 += syscall_name(x86, nr) != NULL;
		nr_arm += syscall_name(arm, nr) != NULL;
	}
	assert_int_equal(nr_x86, 381); /* all of Linux 6.17, whatever libseccomp knows */
	assert_int_equal(nr_arm, 325);
	syscall_names_free(x86);
	syscall_names_free(arm);
}

static void test_new_ones(void **state)
{
	struct syscall_names *x86 = syscall_names_new("x86_64"),
			     *arm = syscall_names_new("aarch64");

	(void)state;
	assert_string_equal(syscall_name(x86, 456), "futex_requeue");
	assert_string_equal(syscall_name(x86, 457), "statmount");
	assert_string_equal(syscall_name(arm, 462), "mseal");
	assert_string_equal(syscall_name(arm, 469), "file_setattr");
	syscall_names_free(x86);
	syscall_names_free(arm);
}

static void test_no_such_architecture(void **state)
{
	struct syscall_names *riscv = syscall_names_new("riscv64"), *none = syscall_names_new("");

	(void)state;
	assert_null(syscall_name(riscv, 1));
	assert_null(syscall_name(none, 462));
	syscall_names_free(riscv);
	syscall_names_free(none);
	syscall_names_free(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),	     cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_this_machine), cmocka_unit_test(test_both_architectures),
		cmocka_unit_test(test_new_ones),     cmocka_unit_test(test_no_such_architecture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
