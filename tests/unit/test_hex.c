/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void bytes_are_digits(void **state)
{
	static const uint8_t bytes[] = { 0x00, 0x0f, 0xf0, 0xff, 0x9a, 0x12 };
	char out[2 * sizeof(bytes) + 2];

	(void)state;
	memset(out, '#', sizeof(out));
	assert_ptr_equal(hex_put(out, bytes, sizeof(bytes)), out + 12);
	assert_string_equal(out, "000ff0ff9a12");
	assert_int_equal(out[13], '#');
}

static void nothing_is_an_empty_text(void **state)
{
	char out[2] = "##";

	(void)state;
	assert_ptr_equal(hex_put(out, NULL, 0), out);
	assert_string_equal(out, "");
	assert_int_equal(out[1], '#');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_digits),
		cmocka_unit_test(nothing_is_an_empty_text),
	};

	return cmocka_run_group_tests_name("hex", tests, NULL, NULL);
}
