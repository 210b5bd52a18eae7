/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --usdt-stack takes, and what it knows of the arguments. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/opt.h"
#include "src/capture/collectors/usdt_stack_list.h"
#include "tests/unit/stderr_text.h"

static const struct opt option = { .name = "usdt-stack" };

static void parts(void **state)
{
	struct usdt_stack_list l = { .nr = 0 };

	(void)state;
	assert_int_equal(usdt_stack_list_add(&option, "/bin/php:php:function-entry,php:function__return", &l), 0);
	assert_string_equal(l.v[0]->entry.spec.name, "usdt:/bin/php:php:function-entry");
	assert_string_equal(l.v[0]->returns.spec.function, "php:function__return");
	assert_true(l.v[0]->entry.spec.wants_frame && l.v[0]->returns.spec.wants_frame);
	assert_int_equal(l.v[0]->texts[SHADOW_CLASS], 4);
	assert_int_equal(l.v[0]->texts[SHADOW_NAME], 1);
	assert_int_equal(l.v[0]->texts[SHADOW_FILE], 2);
	assert_int_equal(l.v[0]->line, 3);
	assert_string_equal(l.v[0]->between, "::");
	assert_false(l.v[0]->every);
	assert_int_equal(usdt_stack_list_add(&option, "usdt:a:in,usdt:a:out,every,name=arg2,line=arg12", &l), 0);
	assert_int_equal(l.v[1]->texts[SHADOW_CLASS], 0);
	assert_int_equal(l.v[1]->texts[SHADOW_NAME], 2);
	assert_int_equal(l.v[1]->line, 12);
	assert_true(l.v[1]->every);
	assert_int_equal(l.nr, 2);
	usdt_stack_list_release(&l);
	assert_int_equal(l.nr, 0);
}

static void bad_ones(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "php:function__entry", "an entry and a return are wanted" },
		{ "a:b,", "an entry and a return are wanted" },
		{ "a,a:c", "a provider and a name" },
		{ "a:b,c", "a provider and a name" },
		{ "a:b,a:c,", "what is " },
		{ "python:function-entry,python:function__return", "returns before the call begins" },
		{ "a:b,a:c,name=arg0", "what is name=arg0" },
		{ "a:b,a:c,name=arg13", "what is name=arg13" },
		{ "a:b,a:c,name=argx", "what is name=argx" },
	};
	struct usdt_stack_list l = { .nr = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int err;

		stderr_begin();
		err = usdt_stack_list_add(&option, bad[i].text, &l);
		assert_non_null(strstr(stderr_end(), bad[i].why));
		assert_int_equal(err, -EINVAL);
	}
	assert_int_equal(l.nr, 0);
	for (int i = 0; i < USDT_STACKS_MAX; i++)
		assert_int_equal(usdt_stack_list_add(&option, "a:b,a:c", &l), 0);
	stderr_begin();
	assert_int_equal(usdt_stack_list_add(&option, "a:b,a:c", &l), -EINVAL);
	assert_non_null(strstr(stderr_end(), "at most 8"));
	usdt_stack_list_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(bad_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
