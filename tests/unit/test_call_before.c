/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/call_before.h"

#define ENDS(machine, ...) ends((machine), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Code that ends with these bytes, after others that say nothing. */
static bool ends(uint16_t machine, const uint8_t *bytes, size_t nr)
{
	uint8_t code[CALL_BYTES_MAX];

	memset(code, 0x90, sizeof(code));
	memcpy(code + sizeof(code) - nr, bytes, nr);
	return code_ends_in_call(machine, code);
}

static void test_x86_calls(void **state)
{
	(void)state;
	assert_true(ENDS(EM_X86_64, 0xe8, 0x10, 0, 0, 0));			/* call +16 */
	assert_true(ENDS(EM_X86_64, 0xe8, 0x10, 0xff, 0xff, 0xff));		/* call -240 */
	assert_true(ENDS(EM_X86_64, 0x67, 0xe8, 0x10, 0, 0, 0));		/* addr32 call */
	assert_true(ENDS(EM_X86_64, 0xff, 0xd0));				/* call *%rax */
	assert_true(ENDS(EM_X86_64, 0x41, 0xff, 0xd4));				/* call *%r12 */
	assert_true(ENDS(EM_X86_64, 0xff, 0x10));				/* call *(%rax) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x14, 0xc3));				/* call *(%rbx,%rax,8) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x50, 0xc3));				/* call *-61(%rax) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x54, 0x24, 0x08));			/* call *8(%rsp) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x15, 1, 2, 3, 4));			/* call *(%rip) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x90, 1, 2, 0, 0));			/* call *0x201(%rax) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x94, 0x24, 1, 2, 0, 0));		/* call *0x201(%rsp) */
	assert_true(ENDS(EM_X86_64, 0xff, 0x14, 0xc5, 1, 2, 0, 0));		/* call *0x201(,%rax,8) */
	assert_true(ENDS(EM_386, 0xe8, 0x10, 0, 0, 0));
}

static void test_x86_others(void **state)
{
	(void)state;
	assert_false(ENDS(EM_X86_64, 0xc3));
	assert_false(ENDS(EM_X86_64, 0xe8, 1, 0, 0xc3));			/* the end of something */
	assert_false(ENDS(EM_X86_64, 0xe8, 1, 2, 0, 0xc3));			/* too far: it ends with ret */
	assert_false(ENDS(EM_X86_64, 0xe8, 1, 2, 0, 0x90));
	assert_false(ENDS(EM_X86_64, 0xe9, 0x10, 0xff, 0xff, 0xff));		/* jmp */
	assert_false(ENDS(EM_X86_64, 0xff, 0xe0));				/* jmp *%rax */
	assert_false(ENDS(EM_X86_64, 0xff, 0x25, 1, 2, 3, 4));			/* jmp *(%rip) */
	assert_false(ENDS(EM_X86_64, 0xff, 0x14));				/* half of a call */
	assert_false(ENDS(EM_X86_64, 0xff, 0x50));
	assert_false(ENDS(EM_X86_64, 0xff, 0x15, 1, 2, 3));
	assert_false(ENDS(EM_X86_64, 0xff, 0xd0, 0xc3));			/* call *%rax; ret */
	assert_false(ENDS(EM_X86_64, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0));		/* padding */
	assert_false(ENDS(EM_X86_64, 0x0f, 0x0b));				/* ud2 */
	assert_false(ENDS(EM_X86_64, 0x0f, 0x05));				/* syscall */
}

static void test_arm64(void **state)
{
	(void)state;
	assert_true(ENDS(EM_AARCH64, 0x04, 0, 0, 0x94));			/* bl */
	assert_true(ENDS(EM_AARCH64, 0xfc, 0xff, 0xff, 0x97));			/* bl backwards */
	assert_true(ENDS(EM_AARCH64, 0x20, 0, 0x3f, 0xd6));			/* blr x1 */
	assert_true(ENDS(EM_AARCH64, 0x3f, 0x08, 0x3f, 0xd6));			/* blraaz x1 */
	assert_true(ENDS(EM_AARCH64, 0x22, 0x08, 0x3f, 0xd7));			/* blraa x1, x2 */
	assert_false(ENDS(EM_AARCH64, 0x04, 0, 0, 0x14));			/* b */
	assert_false(ENDS(EM_AARCH64, 0x20, 0, 0x1f, 0xd6));			/* br x1 */
	assert_false(ENDS(EM_AARCH64, 0xc0, 0x03, 0x5f, 0xd6));			/* ret */
	assert_false(ENDS(EM_AARCH64, 0x1f, 0x20, 0x03, 0xd5));			/* nop */
}

static void test_unknown_machine(void **state)
{
	(void)state;
	assert_true(ENDS(EM_RISCV, 0xc3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_calls),
		cmocka_unit_test(test_x86_others),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_unknown_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
