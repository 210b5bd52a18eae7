/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of code objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/capture/session/code_owners.h"
#include "src/model/process.h"

#define OBJECTS 65536

static struct code_owners o;

static struct code_owner *add_user(uint32_t user)
{
	o.v[o.nr] = (struct code_owner){ .user = user };
	return &o.v[o.nr++];
}

/* Processes 4000 to 4999 are of user 4. */
static uint32_t thousands(void *ctx, uint32_t tgid)
{
	(void)ctx;
	return tgid / 1000;
}

static int setup(void **state)
{
	(void)state;
	code_owners_init(&o, OBJECTS, thousands, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	code_owners_release(&o);
	return 0;
}

static void each_user_has_a_part(void **state)
{
	struct code_owner *root = add_user(0), *user = add_user(1000), *other = add_user(1001);

	(void)state;
	user->nr = OBJECTS / 4;
	root->nr = OBJECTS / 4;
	assert_false(code_owner_may_add(&o, user));
	assert_true(code_owner_may_add(&o, other));
	assert_true(code_owner_may_add(&o, root));
	root->nr = OBJECTS / 2;
	assert_false(code_owner_may_add(&o, root));
}

static void who_has_many_waiting_comes_later(void **state)
{
	struct code_owner *user = add_user(1000), *other = add_user(1001);

	(void)state;
	for (int i = 0; i < OBJECTS / 8; i++) {
		assert_true(code_owner_may_add(&o, user));
		assert_int_equal(code_owner_waits(user), i);
	}
	assert_false(code_owner_may_add(&o, user));
	assert_false(code_owners_have_few_waiting(&o));
	assert_int_equal(code_owner_waits(other), 0);
	assert_true(code_owners_have_few_waiting(&o));
	code_owner_was_read(other);
	assert_false(code_owners_have_few_waiting(&o));
	code_owner_was_read(user);
	assert_true(code_owner_may_add(&o, user));
}

static void processes_of_a_user_share(void **state)
{
	struct processes ps;
	struct process *a, *b, *other;

	(void)state;
	processes_init(&ps);
	a = processes_add(&ps, 4001, 1);
	b = processes_add(&ps, 4002, 1);
	other = processes_add(&ps, 5001, 1);
	assert_ptr_equal(code_owner_of(&o, a), code_owner_of(&o, b));
	assert_int_equal(code_owner_of(&o, a)->user, 4);
	assert_int_equal(code_owner_of(&o, other)->user, 5);
	processes_release(&ps);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_user_has_a_part), TEST(who_has_many_waiting_comes_later),
		TEST(processes_of_a_user_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
