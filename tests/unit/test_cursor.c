/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/tui/tui_keycodes.h"

/* Ten rows, of which four are seen: a page is three, so that one row is seen before and after. */
static void each_key_moves_to_its_row(void **state)
{
	static const struct { int key; uint32_t from, to; } v[] = {
		{ 'j', 0, 1 }, { TUI_DOWN, 8, 9 }, { 'j', 9, 9 },
		{ 'k', 9, 8 }, { TUI_UP, 1, 0 }, { 'k', 0, 0 },
		{ 'f', 0, 3 }, { TUI_PAGE_DOWN, 7, 9 }, { 'f', 9, 9 },
		{ 'b', 9, 6 }, { TUI_PAGE_UP, 2, 0 }, { 'b', 0, 0 },
		{ 'g', 5, 0 }, { TUI_HOME, 9, 0 }, { 'G', 0, 9 }, { TUI_END, 4, 9 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct cursor c = { v[i].from, 0 };

		assert_true(cursor_key(&c, v[i].key, 10, 4));
		assert_int_equal(c.at, v[i].to);
	}
}

static void other_keys_move_nothing(void **state)
{
	struct cursor c = { 5, 2 };

	(void)state;
	for (int key = 0; key < 128; key++) {
		bool is_move = key == 'j' || key == 'k' || key == 'f' || key == 'b' || key == 'g' || key == 'G';

		if (is_move)
			continue;
		assert_false(cursor_key(&c, key, 10, 4));
		assert_int_equal(c.at, 5);
		assert_int_equal(c.top, 2);
	}
}

/* Whatever the list and the screen become, the cursor is on a row, the row is seen, and no room is wasted. */
static void the_cursor_is_seen_in_every_list(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr < 7; nr++)
		for (uint32_t seen = 0; seen < 9; seen++)
			for (uint32_t at = 0; at < 9; at++)
				for (uint32_t top = 0; top < 9; top++) {
					const uint32_t rows = seen ? seen : 1;
					struct cursor c = { at, top };

					cursor_fit(&c, nr, seen);
					assert_true(nr ? c.at < nr : c.at == 0);
					assert_true(c.at >= c.top && c.at < c.top + rows);
					assert_true(c.top == 0 || c.top + rows <= nr);
				}
}

static void an_empty_list_has_no_way_out(void **state)
{
	static const int keys[] = { 'j', 'k', 'f', 'b', 'g', 'G' };
	struct cursor c = { 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_true(cursor_key(&c, keys[i], 0, 0));
		assert_int_equal(c.at, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_moves_to_its_row),
		cmocka_unit_test(other_keys_move_nothing),
		cmocka_unit_test(the_cursor_is_seen_in_every_list),
		cmocka_unit_test(an_empty_list_has_no_way_out),
	};

	return cmocka_run_group_tests_name("cursor", tests, NULL, NULL);
}
