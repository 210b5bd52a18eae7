/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/capture/waits/peer_samples.h"
#include "src/capture/waits/wait_peers.h"

struct answers {
	uint32_t holders[4];
	size_t asked;
	int rc;
};

static int find(void *ctx, struct peer_question *q, size_t nr)
{
	struct answers *a = ctx;

	a->asked = nr;
	for (size_t i = 0; i < nr && !a->rc; i++) {
		q[i].holders = a->holders[q[i].key.id];
		q[i].tgid = 100 + (uint32_t)q[i].key.id;
	}
	return a->rc;
}

static void add(struct peer_samples *p, uint64_t id, bool same, uint32_t holders)
{
	struct peer_row row = { .key = { .id = id, .end = PEER_WRITERS }, .same = same, .sample.holders = holders,
				.sample.owner = 7 };

	assert_int_equal(peer_samples_add(p, &row), 0);
}

/* One holder is an owner; none, several and an unknown number are not. */
static void names_the_only_holder(void **state)
{
	struct answers a = { .holders = { 1, 0, 3, PEERS_UNKNOWN } };
	struct peer_samples p = { 0 };

	(void)state;
	for (uint64_t id = 0; id < 4; id++)
		add(&p, id, false, 0);
	assert_int_equal(peer_samples_ask(&p, find, &a), 0);
	assert_int_equal(a.asked, 4);
	assert_int_equal(p.v[0].sample.holders, 2);
	assert_int_equal(p.v[0].sample.owner, 100);
	assert_int_equal(p.v[1].sample.holders, 1);
	assert_int_equal(p.v[2].sample.holders, 4);
	assert_int_equal(p.v[3].sample.holders, 0);
	for (int i = 1; i < 4; i++)
		assert_int_equal(p.v[i].sample.owner, 0);
	peer_samples_release(&p);
}

static void asks_only_when_there_is_something_new(void **state)
{
	struct answers a = { .holders = { 1, 1, 1, 1 } };
	struct peer_samples p = { 0 };

	(void)state;
	add(&p, 0, true, 3);
	assert_int_equal(peer_samples_ask(&p, find, &a), 0);
	assert_int_equal(a.asked, 0);
	add(&p, 1, true, 2);		/* settled */
	add(&p, 2, false, 0);
	assert_int_equal(peer_samples_ask(&p, find, &a), 0);
	assert_int_equal(a.asked, 2);
	assert_int_equal(p.v[0].sample.owner, 100);
	assert_int_equal(p.v[1].sample.owner, 7);
	assert_int_equal(p.v[2].sample.owner, 102);
	/* No time to look: everything stays as it was. */
	peer_samples_clear(&p);
	a = (struct answers){ .rc = 1 };
	add(&p, 0, true, 3);
	add(&p, 1, false, 0);
	assert_int_equal(peer_samples_ask(&p, find, &a), 0);
	assert_int_equal(a.asked, 2);
	assert_int_equal(p.v[0].sample.holders, 3);
	assert_int_equal(p.v[1].sample.holders, 0);
	assert_int_equal(peer_samples_ask(&p, NULL, NULL), 0);
	peer_samples_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_only_holder), cmocka_unit_test(asks_only_when_there_is_something_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
