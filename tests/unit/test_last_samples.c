/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/session/last_samples.h"

static struct wire_sample head(uint32_t tid, uint64_t start)
{
	struct wire_sample h = { .tid = tid, .start_boottime_ns = start };

	memcpy(h.comm, "name", 5);
	return h;
}

/* The same number is another thread when it began at another time. */
static void test_find(void **state)
{
	struct last_samples *l = last_samples_new();
	struct wire_sample a = head(7, 100), b = head(7, 200);
	struct rec_sample s = { .ustack = 5, .scan = 1 };

	(void)state;
	assert_null(last_samples_find(l, &a));
	assert_int_equal(last_samples_put(l, &a, &s, NULL), 0);
	assert_null(last_samples_find(l, &b));
	assert_int_equal(last_samples_find(l, &a)->sample.ustack, 5);
	assert_string_equal(last_samples_find(l, &a)->comm, "name");
	s.ustack = 6;
	assert_int_equal(last_samples_put(l, &a, &s, NULL), 0);
	assert_int_equal(last_samples_nr(l), 1);
	assert_int_equal(last_samples_find(l, &a)->sample.ustack, 6);
	last_samples_free(l);
}

static void test_prune(void **state)
{
	struct last_samples *l = last_samples_new();

	(void)state;
	for (uint32_t i = 1; i <= 1000; i++) {
		struct wire_sample h = head(i, i);
		struct rec_sample s = { .ustack = i, .scan = i % 2 ? 1 : 2 };

		assert_int_equal(last_samples_put(l, &h, &s, NULL), 0);
	}
	assert_int_equal(last_samples_prune(l, 2), 0);
	assert_int_equal(last_samples_nr(l), 500);
	for (uint32_t i = 1; i <= 1000; i++) {
		struct wire_sample h = head(i, i);
		const struct last_row *r = last_samples_find(l, &h);

		if (i % 2)
			assert_null(r);
		else
			assert_int_equal(r->sample.ustack, i);
	}
	last_samples_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_prune),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
