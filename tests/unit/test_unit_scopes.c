/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scopes around entries; tests/oracle/lines_peers.sh compares the names that become of them with libdw's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/debug_info/unit_scopes.h"

#define UNIT 0x1000

static uint64_t around(const struct unit_scopes *s, uint64_t offset)
{
	const struct unit_scope *x = unit_scopes_around(s, UNIT + offset);

	return x ? x->offset : 0;
}

/* 0x10 namespace { 0x20 class { 0x28 }, 0x40 class {} }, 0x60 namespace { */
static void finds_the_innermost_one(void **state)
{
	struct unit_scopes s = { .unit = UNIT };
	uint32_t outer = unit_scopes_enter(&s, UNIT + 0x10, NO_SCOPE), inner, last;

	(void)state;
	inner = unit_scopes_enter(&s, UNIT + 0x20, outer);
	unit_scopes_leave(&s, inner, UNIT + 0x30);
	inner = unit_scopes_enter(&s, UNIT + 0x40, outer);
	unit_scopes_leave(&s, inner, UNIT + 0x44);
	unit_scopes_leave(&s, outer, UNIT + 0x50);
	last = unit_scopes_enter(&s, UNIT + 0x60, NO_SCOPE);
	assert_int_equal(last, 3);
	assert_int_equal(around(&s, 0x28), 0x20);
	assert_int_equal(around(&s, 0x38), 0x10);	/* between both */
	assert_int_equal(around(&s, 0x48), 0x10);
	assert_int_equal(around(&s, 0x40), 0x10);	/* an entry is not in itself */
	assert_int_equal(around(&s, 0x10), 0);
	assert_int_equal(around(&s, 0x5), 0);
	assert_int_equal(around(&s, 0x58), 0);
	assert_int_equal(around(&s, 0x1000), 0x60);	/* a damaged unit: one without an end */
	unit_scopes_release(&s);
	assert_int_equal(around(&s, 0x28), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_the_innermost_one) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
