/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/model/per_process.h"
#include "src/model/process.h"

struct mine {
	uint64_t serial;
	uint32_t value;
};

static void ignore(void *ctx, struct process *p)
{
	(void)ctx;
	(void)p;
}

/* Processes come and go in any order: each finds what was kept of it, and nobody else's. */
static void test_like_a_model(void **state)
{
	struct per_process all = { .size = sizeof(struct mine) };
	struct processes ps;
	uint64_t seed = 7;

	(void)state;
	processes_init(&ps);
	for (uint32_t step = 1; step <= 5000; step++) {
		struct process *p = processes_add(&ps, step, step);
		struct mine *m;

		assert_non_null(p);
		assert_null(per_process_find(&all, p));
		m = per_process_at(&all, p);
		assert_non_null(m);
		assert_int_equal(m->value, 0);
		m->value = step;
		for (p = ps.all; p; p = p->next) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if (seed >> 33 & 1)
				process_exit(p, step);
			assert_int_equal(((struct mine *)per_process_find(&all, p))->value,
					 p->tgid);
			assert_ptr_equal(per_process_at(&all, p), per_process_find(&all, p));
		}
		processes_prune(&ps, step + 1, step + 1, ignore, NULL);
	}
	assert_true(all.cap < 100);		/* slots are used again */
	per_process_release(&all);
	processes_release(&ps);
}

static void test_nothing_kept(void **state)
{
	struct per_process all = { .size = sizeof(struct mine) };

	(void)state;
	assert_null(per_process_find(&all, &(struct process){ .slot = 5, .serial = 1 }));
	assert_non_null(per_process_at(&all, &(struct process){ .slot = 5, .serial = 1 }));
	assert_null(per_process_find(&all, &(struct process){ .slot = 4, .serial = 1 }));
	assert_null(per_process_find(&all, &(struct process){ .slot = 5, .serial = 2 }));
	assert_non_null(per_process_find(&all, &(struct process){ .slot = 5, .serial = 1 }));
	per_process_release(&all);
	assert_null(per_process_find(&all, &(struct process){ .slot = 5, .serial = 1 }));
	per_process_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_a_model),
		cmocka_unit_test(test_nothing_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
