/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where arguments of USDT probes are: each form, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/probes/usdt_arguments.h"

#define NO PROBE_NO_REGISTER

static const struct {
	const char *text;
	struct probe_argument a;
} good[] = {
	{ "8@%rax", { 0, ARGUMENT_REGISTER, 8, 0, 10, NO, 1, 0, 0 } },
	{ "-4@%edi", { 0, ARGUMENT_REGISTER, 4, 1, 14, NO, 1, 0, 0 } },
	{ "1@%sil", { 0, ARGUMENT_REGISTER, 1, 0, 13, NO, 1, 0, 0 } },
	{ "-1@%ah", { 0, ARGUMENT_REGISTER, 1, 1, 10, NO, 1, 8, 0 } },
	{ "2@%r15w", { 0, ARGUMENT_REGISTER, 2, 0, 0, NO, 1, 0, 0 } },
	{ "%rsp", { 0, ARGUMENT_REGISTER, 8, 0, 19, NO, 1, 0, 0 } },
	{ "-4@$-7", { -7, ARGUMENT_CONSTANT, 4, 1, NO, NO, 1, 0, 0 } },
	{ "8@$0xffffffffffffffff", { -1, ARGUMENT_CONSTANT, 8, 0, NO, NO, 1, 0, 0 } },
	{ "-4@-20(%rbp)", { -20, ARGUMENT_MEMORY, 4, 1, 4, NO, 1, 0, 0 } },
	{ "8@(%r12)", { 0, ARGUMENT_MEMORY, 8, 0, 3, NO, 1, 0, 0 } },
	{ "8@8(%rsi,%rdx)", { 8, ARGUMENT_MEMORY, 8, 0, 13, 12, 1, 0, 0 } },
	{ "2@(%rax,%rcx,4)", { 0, ARGUMENT_MEMORY, 2, 0, 10, 11, 4, 0, 0 } },
	{ "8@4096(,%r8,8)", { 4096, ARGUMENT_MEMORY, 8, 0, NO, 9, 8, 0, 0 } },
	{ "-4@x30", { 0, ARGUMENT_REGISTER, 4, 1, 30, NO, 1, 0, 0 } },
	{ "4@w7", { 0, ARGUMENT_REGISTER, 4, 0, 7, NO, 1, 0, 0 } },
	{ "8@[sp, 24]", { 24, ARGUMENT_MEMORY, 8, 0, 31, NO, 1, 0, 0 } },
	{ "8@[x1]", { 0, ARGUMENT_MEMORY, 8, 0, 1, NO, 1, 0, 0 } },
	{ "8@[x1,x2]", { 0, ARGUMENT_MEMORY, 8, 0, 1, 2, 1, 0, 0 } },
	{ "-4@5", { 5, ARGUMENT_CONSTANT, 4, 1, NO, NO, 1, 0, 0 } },
};

static void each_form(void **state)
{
	struct probe_argument v[USDT_ARGUMENTS];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(usdt_arguments_parse(good[i].text, v), 1);
		if (memcmp(&v[0], &good[i].a, sizeof(v[0])))
			fail_msg("%s", good[i].text);
	}
}

static void unknown_ones_keep_their_place(void **state)
{
	static const char *const bad[] = {
		"8@", "8@%", "8@%xmm0", "8f@%rax", "3@%rax", "--4@%eax", "8@40+Stats(%rip)",
		"8@Stats(%rip)", "8@8(%rip)", "8@(%eax)", "8@(%rax", "8@(%rax,%rcx,3)", "8@()",
		"8@[x1", "8@x31", "8@[x1, q]", "8@$", "8@$1x", "@%rax", "8@%raxx",
		"8@$99999999999999999999999",
	};
	struct probe_argument v[USDT_ARGUMENTS];
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(text, bad[i]);
		/* An open bracket takes all that follows. */
		strcat(text, strchr(bad[i], '[') ? "" : " 8@%rax");
		if (usdt_arguments_parse(text, v) != (strchr(bad[i], '[') ? 1 : 2) ||
		    v[0].kind != ARGUMENT_NONE)
			fail_msg("%s", text);
		if (!strchr(bad[i], '['))
			assert_int_equal(v[1].kind, ARGUMENT_REGISTER);
	}
}

static void many(void **state)
{
	struct probe_argument v[USDT_ARGUMENTS];
	char text[256] = "";

	(void)state;
	assert_int_equal(usdt_arguments_parse("", v), 0);
	assert_int_equal(usdt_arguments_parse("  8@%rdi\t-4@%ecx ", v), 2);
	for (int i = 0; i < 20; i++)
		strcat(text, "8@%rdi ");
	assert_int_equal(usdt_arguments_parse(text, v), USDT_ARGUMENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form),
		cmocka_unit_test(unknown_ones_keep_their_place),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
