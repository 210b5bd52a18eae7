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

#define GENERIC \
	"#define __BITS_PER_LONG 64\\n#define __ARCH_WANT_RENAMEAT\\n#define __ARCH_WANT_NEW_STAT\\n" \
	"#define __ARCH_WANT_SET_GET_RLIMIT\\n#define __ARCH_WANT_SYS_CLONE3\\n#define __ARCH_WANT_MEMFD_SECRET\\n"

/* How many "#define __NR_name number" the compiler sees in a header, each the same as in our table. */
static unsigned compare(const char *arch, const char *prefix, const char *header)
{
	char command[512], line[256], name[128];
	unsigned nr, found = 0;
	FILE *f;

	snprintf(command, sizeof(command), "printf '%s#include <%s>\\n' | ${CC:-cc} -E -dM - 2>/dev/null", prefix, header);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "#define __NR_%127s %u", name, &nr) != 2 || !strcmp(name, "syscalls") ||
		    !strcmp(name, "arch_specific_syscall"))
			continue;
		if (!syscall_name(arch, nr) || strcmp(syscall_name(arch, nr), name))
			fail_msg("%s: %u is %s, not %s", arch, nr, name, syscall_name(arch, nr));
		found++;
	}
	pclose(f);
	return found;
}

static void test_x86_64(void **state)
{
	unsigned found = compare("x86_64", "", "asm/unistd_64.h");

	(void)state;
	if (!found)
		skip();		/* headers of another architecture, or no compiler */
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
	const char *arch = "x86_64";
#else
	const char *arch = "aarch64";
#endif

	(void)state;
	assert_string_equal(syscall_name(arch, SYS_futex), "futex");
	assert_string_equal(syscall_name(arch, SYS_epoll_pwait), "epoll_pwait");
	assert_string_equal(syscall_name(arch, SYS_wait4), "wait4");
}

static void test_unknown(void **state)
{
	(void)state;
	assert_string_equal(syscall_name("x86_64", 202), "futex");
	assert_string_equal(syscall_name("aarch64", 98), "futex");
	assert_null(syscall_name("x86_64", 335));	/* a gap */
	assert_null(syscall_name("x86_64", 100000));
	assert_null(syscall_name("x86_64", UINT32_MAX));
	assert_null(syscall_name("riscv64", 1));
	assert_null(syscall_name("", 1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
