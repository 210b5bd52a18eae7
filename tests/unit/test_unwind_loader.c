/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "tests/unit/loader_world.h"
#include "tests/unit/stderr_text.h"

static int load(struct world *w, uint32_t binary, size_t nr)
{
	struct unwind_table *t = make_table(binary, nr, 16, 8);
	int err = unwind_loader_table(w->l, binary, t);

	unwind_table_free(t);
	return err;
}

/* Places it; when something has to go first, waits until that is gone. */
static void load_in_time(struct world *w, uint32_t binary, struct unwind_table *t)
{
	int err = unwind_loader_table(w->l, binary, t);

	if (err == -EAGAIN) {
		usleep(GRACE_NS / 1000 + 2000);
		err = unwind_loader_table(w->l, binary, t);
	}
	assert_int_equal(err, 0);
	unwind_table_free(t);
}

/* ---- the kernel's lookup: unwind/unwind_step.h itself ---- */

struct unwinder;

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from)
{
	(void)env;
	(void)w;
	(void)addr;
	(void)from;
	return 1;
}

static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr)
{
	(void)env;
	(void)w;
	(void)addr;
	return 1;
}

static int unwind_process_slice(void *env, uint32_t tgid, uint32_t *first, uint32_t *nr)
{
	(void)env;
	(void)tgid;
	*first = *nr = 0;
	return 1;
}

static const struct unwind_mapping *unwind_mapping_at(void *env, uint32_t i)
{
	(void)env;
	(void)i;
	return NULL;
}

static const struct unwind_binary *unwind_binary_at(void *env, uint32_t i)
{
	return &place_at(((struct world *)env), i);
}

static const struct unwind_page *unwind_page_at(void *env, uint32_t i)
{
	return &((struct world *)env)->view.pages[i];
}

static const struct unwind_row *unwind_rows_at(void *env, uint32_t first, uint32_t nr)
{
	return unwind_loader_rows(((struct world *)env)->l, first, nr);
}

static const struct unwind_rule *unwind_rule_at(void *env, uint32_t i)
{
	return &((struct world *)env)->view.rules[i];
}

static uint64_t *unwind_cache_word(void *env, uint32_t i)
{
	return &((struct world *)env)->rule_cache[i];
}

static int unwind_thread_pointer(void *env, uint64_t *value)
{
	(void)env;
	(void)value;
	return 1;
}

#include "unwind/unwind_step.h"

/* Where the table of a binary is, read as a walk does. */
static uint64_t place_of(struct world *w, uint32_t binary)
{
	return *(const volatile unwind_word *)unwind_binary_at(w, binary);
}

/* 0 and the rule's cfa_off, or the code with which a walk would end that has read place. */
static int look_up_at(struct world *w, uint64_t place, uint64_t rel, int32_t *cfa_off)
{
	static __thread struct unwinder unwinder;
	uint32_t rule = 0;
	int code;

	unwinder.map_binary = 1;
	unwinder.map_bias = 0;
	unwinder.map_page0 = (uint32_t)place;
	unwinder.map_nr_pages = place >> 32;
	code = unwind_find_rule(w, &unwinder, rel, &rule);
	*cfa_off = code ? 0 : unwind_rule_at(w, rule)->cfa_off;
	return code;
}

static int look_up(struct world *w, uint32_t binary, uint64_t rel, int32_t *cfa_off)
{
	return look_up_at(w, place_of(w, binary), rel, cfa_off);
}

/* Every row of a table of load() is found, twice: the second time through the rule cache. */
static void assert_whole(struct world *w, uint32_t binary, size_t nr, uint32_t whose)
{
	int32_t off;

	for (size_t i = 0; i < nr; i++) {
		for (int again = 0; again < 2; again++) {
			assert_int_equal(look_up(w, binary, i * 16 + 3, &off), 0);
			assert_int_equal(off, whose << 20 | (uint32_t)i % 8);
		}
	}
}

static void assert_ends(struct world *w, uint32_t binary, int want)
{
	int32_t off;

	assert_int_equal(look_up(w, binary, 5, &off), want);
}

static void assert_pending(struct world *w, uint32_t binary)
{
	assert_ends(w, binary, UNWIND_NO_TABLE);
}

static struct unwind_loader_stats stats_of(struct world *w)
{
	struct unwind_loader_stats s;

	unwind_loader_stats(w->l, &s);
	return s;
}

static void wait_epoch(void)
{
	usleep(GRACE_NS / 1000 + 2000);
}

static void test_tables_are_found(void **state)
{
	struct world *w = *state;

	open_loader(w, 0);
	assert_int_equal(load(w, 1, 9000), 0);	/* more than two pages */
	assert_int_equal(load(w, 2, 10), 0);
	unwind_loader_no_table(w->l, 3);
	assert_whole(w, 1, 9000, 1);
	assert_whole(w, 2, 10, 2);
	assert_ends(w, 3, UNWIND_NO_FDE);
	assert_pending(w, 4);
	assert_int_equal(stats_of(w).rows, 9010);
	assert_int_equal(stats_of(w).rules, 17);
	assert_int_equal(stats_of(w).binaries, 2);
}

/* 30 slabs' worth of rows in tables of all sizes: hardly anything is wasted. */
static void test_slabs_are_full(void **state)
{
	struct world *w = *state;
	size_t rows = 0;

	open_loader(w, 0);
	for (uint32_t i = 1; rows < 30 * UNWIND_SLAB_ROWS; i++) {
		size_t nr = 200 + (i * 7919u) % 20011 + (i % 50 ? 0 : 400000);
		struct unwind_table *t = make_table(i % MAX_BINARIES, nr, 16, 8);

		assert_int_equal(unwind_loader_table(w->l, i, t), 0);
		unwind_table_free(t);
		rows += nr;
	}
	assert_int_equal(stats_of(w).rows, rows);
	assert_true(stats_of(w).slabs <= rows / UNWIND_SLAB_ROWS + 1);
}

static void test_least_used_goes_first(void **state)
{
	struct world *w = *state;

	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 400), 0);
	assert_int_equal(load(w, 2, 400), 0);
	unwind_loader_touch(w->l, 1, now_ns());
	assert_int_equal(load(w, 3, 400), -EAGAIN);
	assert_int_equal(w->evictions[2], 1);
	assert_string_equal(w->what, "unwind rows");
	assert_pending(w, 2);
	assert_whole(w, 1, 400, 1);

	/* As long as somebody may read it nothing is used again, and nobody else has to go. */
	assert_int_equal(load(w, 3, 400), -EAGAIN);
	assert_int_equal(stats_of(w).evicted, 1);
	wait_epoch();
	assert_int_equal(load(w, 3, 400), 0);
	assert_whole(w, 3, 400, 3);
	assert_whole(w, 1, 400, 1);
	assert_pending(w, 2);
	assert_int_equal(stats_of(w).rows, 800);
	assert_int_equal(stats_of(w).refused, 0);
}

static void test_nothing_is_used_again_during_a_pass(void **state)
{
	struct world *w = *state;

	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 900), 0);
	unwind_loader_iterating(w->l, true);
	assert_int_equal(load(w, 2, 900), -EAGAIN);
	wait_epoch();
	assert_int_equal(load(w, 2, 900), -EAGAIN);
	unwind_loader_iterating(w->l, false);
	unwind_loader_iterating(w->l, true);		/* a pass that began later has never seen it */
	assert_int_equal(load(w, 2, 900), 0);
	assert_whole(w, 2, 900, 2);
	assert_int_equal(stats_of(w).evicted, 1);
}

static size_t cached_words(struct world *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < UNWIND_CACHE_WORDS; i++)
		nr += w->rule_cache[i] != 0;
	return nr;
}

static void test_rule_cache_is_cleared(void **state)
{
	struct world *w = *state;
	uint32_t page0;
	int32_t off;

	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 450), 0);
	assert_int_equal(load(w, 2, 450), 0);
	page0 = place_at(w, 1).page0;
	for (uint64_t rel = 0; rel < 100; rel++) {
		look_up(w, 1, rel, &off);
		look_up(w, 2, rel + 2000, &off);
	}
	assert_true(cached_words(w) > 80);
	unwind_loader_touch(w->l, 2, now_ns());
	assert_int_equal(load(w, 3, 450), -EAGAIN);
	wait_epoch();
	assert_int_equal(load(w, 3, 450), 0);
	for (size_t i = 0; i < UNWIND_CACHE_WORDS; i++)
		if (w->rule_cache[i])
			assert_int_equal(w->rule_cache[i] >> 32, place_at(w, 2).page0);
	assert_true(cached_words(w) > 40);
	assert_int_equal(place_at(w, 3).page0, page0);
	assert_whole(w, 3, 450, 3);
}

static uint64_t tables_version(struct world *w)
{
	uint64_t word;

	memcpy(&word, &w->view.pages[UNWIND_TABLES_VERSION], sizeof(word));
	return word;
}

/* One of the two pages of a table. */
static struct unwind_table *make_part(uint32_t page)
{
	struct cfi_row v[] = { { LO, { .cfa = CFA_SP } }, { LO + PAGE, { .cfa = CFA_FP } }, { LO + 2 * PAGE - 1, { 0 } } };
	struct cfi_rows rows = { .v = v, .nr = 3 };
	struct unwind_part *b;

	assert_int_equal(unwind_part_begin(LO, 2, &b), 0);
	assert_int_equal(unwind_part_add(b, &rows, page, 1), 0);
	return unwind_part_end(b);
}

/* Whatever makes another rule hold for an address drops what the kernel side remembers of rules. */
static void test_tables_version_changes(void **state)
{
	struct world *w = *state;
	uint64_t before;

	open_loader(w, 1000);
	before = tables_version(w);
	assert_int_equal(load(w, 1, 900), 0);
	assert_int_not_equal(tables_version(w), before);
	before = tables_version(w);
	assert_int_equal(load(w, 2, 900), -EAGAIN);	/* evicts the first */
	assert_int_not_equal(tables_version(w), before);
	wait_epoch();
	for (uint32_t page = 0; page < 2; page++) {
		struct unwind_table *t = make_part(page);

		before = tables_version(w);
		assert_int_equal(unwind_loader_table(w->l, 3, t), 0);
		assert_int_not_equal(tables_version(w), before);
		unwind_table_free(t);
	}
}

/*
 * A window of code of which nothing can be decoded has a table without pages. It has no place in
 * the pages that others use meanwhile, and none to give back.
 */
static void test_table_without_pages(void **state)
{
	struct unwind_table *empty = make_table(1, 0, 16, 1);
	struct world *w = *state;

	w->opts.epoch_ns = 1;
	open_loader(w, 1000);
	assert_int_equal(empty->nr_pages, 0);
	assert_int_equal(unwind_loader_table(w->l, 1, empty), 0);
	assert_ends(w, 1, UNWIND_NO_FDE);
	assert_int_equal(stats_of(w).binaries, 0);
	assert_int_equal(load(w, 2, 10), 0);
	unwind_loader_drop(w->l, 1);
	assert_pending(w, 1);
	assert_int_equal(load(w, 3, 10), 0);
	unwind_loader_drop(w->l, 2);
	assert_int_equal(load(w, 2, 10), 0);
	assert_int_equal(unwind_loader_table(w->l, 2, empty), 0);
	assert_ends(w, 2, UNWIND_NO_FDE);
	assert_whole(w, 3, 10, 3);
	unwind_table_free(empty);
}

/* Small tables that come again and again do not take the room that a large one waits for. */
static void test_room_is_promised(void **state)
{
	struct world *w = *state;

	open_loader(w, 1000);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(load(w, i, 240), 0);
	for (int i = 0; i < 3; i++)
		unwind_loader_wanted(w->l, 9);
	unwind_loader_wanted(w->l, 5);
	assert_int_equal(load(w, 5, 240), -EAGAIN);
	assert_int_equal(load(w, 9, 700), -EAGAIN);	/* is wanted more, so the room is promised to it */
	wait_epoch();
	assert_int_equal(load(w, 5, 240), -EAGAIN);
	assert_int_equal(load(w, 6, 240), -EAGAIN);
	assert_int_equal(load(w, 9, 700), 0);
	assert_whole(w, 9, 700, 9);
	/* The promise is kept, and no other one was made. */
	assert_int_equal(load(w, 5, 40), 0);
}

static void test_copies_share_a_table(void **state)
{
	struct world *w = *state;

	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 900), 0);
	unwind_loader_same(w->l, 2, 1);
	assert_whole(w, 2, 900, 1);
	assert_int_equal(stats_of(w).rows, 900);
	unwind_loader_no_table(w->l, 4);
	unwind_loader_same(w->l, 5, 4);
	assert_ends(w, 5, UNWIND_NO_FDE);

	assert_int_equal(load(w, 3, 900), -EAGAIN);
	assert_int_equal(w->evictions[1] + w->evictions[2], 2);
	assert_pending(w, 1);
	assert_pending(w, 2);
	wait_epoch();
	assert_int_equal(load(w, 3, 900), 0);
}

/* A copy that is in use keeps the table of both. */
static void test_touch_by_a_copy(void **state)
{
	struct world *w = *state;

	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 450), 0);
	unwind_loader_same(w->l, 2, 1);
	assert_int_equal(load(w, 3, 450), 0);
	unwind_loader_touch(w->l, 2, now_ns());
	assert_int_equal(load(w, 4, 450), -EAGAIN);
	assert_int_equal(w->evictions[3], 1);
	assert_int_equal(w->evictions[1], 0);
}

static void test_too_big_for_all(void **state)
{
	struct world *w = *state;
	int err;

	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 500), 0);
	stderr_begin();
	err = load(w, 2, 1001);
	assert_non_null(strstr(stderr_end(), "unwind rows is full"));
	assert_int_equal(err, -E2BIG);
	assert_int_equal(stats_of(w).refused, 1);
	assert_int_equal(stats_of(w).evicted, 0);
	assert_whole(w, 1, 500, 1);
}

/* Whose table is full is said, once, and nothing useless is advised. */
static void test_too_many_mappings(void **state)
{
	struct world *w = *state;
	struct process p = { .tgid = 1234, .comm = "java", .nr_live = 16385 };
	struct binaries none = { 0 };
	const char *text;
	int err;

	open_loader(w, 1000);
	stderr_begin();
	err = unwind_loader_process(w->l, &none, &p);
	text = stderr_end();
	assert_int_equal(err, -EFBIG);
	assert_non_null(strstr(text, "process 1234 (java) has 16385 executable mappings"));
	assert_null(strstr(text, "Try: "));
	stderr_begin();
	unwind_loader_process(w->l, &none, &p);
	assert_string_equal(stderr_end(), "");
	assert_int_equal(stats_of(w).refused, 2);
}

static void test_pages_run_out(void **state)
{
	uint32_t pages = (UNWIND_MAX_PAGES - UNWIND_VERSIONS) / 3;
	struct world *w = *state;
	int32_t off;

	open_loader(w, 0);
	for (uint32_t b = 1; b <= 4; b++)
		load_in_time(w, b, make_table(b, pages, PAGE, 2));
	assert_int_equal(w->evictions[1], 1);
	assert_string_equal(w->what, "pages of unwind tables");
	assert_pending(w, 1);
	for (uint32_t b = 2; b <= 4; b++) {
		assert_int_equal(look_up(w, b, (pages - 1) * PAGE + 7, &off), 0);
		assert_int_equal(off, b << 20 | (pages - 1) % 2);
	}
}

static void test_rules_run_out_and_come_back(void **state)
{
	uint32_t nr = UNWIND_MAX_RULES / 2 - 10;
	struct world *w = *state;
	int32_t off;

	open_loader(w, 0);
	for (uint32_t b = 1; b <= 5; b++)
		load_in_time(w, b, make_table(b, nr, 16, nr));
	assert_int_equal(stats_of(w).evicted, 3);
	assert_string_equal(w->what, "unwind rules");
	assert_int_equal(stats_of(w).rules, 2 * nr + 1);
	for (uint32_t i = 0; i < nr; i++) {
		assert_int_equal(look_up(w, 5, i * 16, &off), 0);
		assert_int_equal(off, 5 << 20 | i);
	}
}

/* Any user can make a file with such a table. It must not throw those of others out. */
static void test_table_that_never_fits(void **state)
{
	struct world *w = *state;
	struct unwind_table *t;

	open_loader(w, 0);
	for (uint32_t b = 1; b <= 3; b++)
		assert_int_equal(load(w, b, 400), 0);
	t = make_table(4, UNWIND_MAX_RULES + 1, 16, UNWIND_MAX_RULES + 1);
	assert_int_equal(unwind_loader_table(w->l, 4, t), -E2BIG);
	unwind_table_free(t);
	t = make_table(4, UNWIND_MAX_PAGES - UNWIND_VERSIONS + 1, PAGE, 2);
	assert_int_equal(unwind_loader_table(w->l, 4, t), -E2BIG);
	unwind_table_free(t);
	assert_int_equal(stats_of(w).evicted, 0);
	for (uint32_t b = 1; b <= 3; b++)
		assert_whole(w, b, 400, b);
}

/* A table that is thrown out takes only the rules with it that nobody else has. */
static void test_shared_rules_stay(void **state)
{
	struct world *w = *state;
	struct unwind_table *t = make_table(7, 400, 16, 8);

	open_loader(w, 1000);
	assert_int_equal(unwind_loader_table(w->l, 1, t), 0);
	assert_int_equal(unwind_loader_table(w->l, 2, t), 0);
	unwind_table_free(t);
	assert_int_equal(stats_of(w).rules, 9);
	load_in_time(w, 3, make_table(3, 400, 16, 8));
	assert_int_equal(w->evictions[1], 1);
	assert_int_equal(stats_of(w).rules, 17);
	assert_whole(w, 2, 400, 7);
}

/* ---- walks while tables come and go ---- */

#define STRESS_BINARIES 12
#define STRESS_PASSES 300
#define STRESS_LOOKUPS 20000

struct reader {
	struct world *w;
	sem_t begin, end;
	uint64_t found, pending, wrong;
	int stop;
};

static size_t stress_rows(uint32_t binary)
{
	return 3000 + binary * 700;
}

/*
 * One pass: thousands of lookups, every second one of a table as it is published at that moment, the others as they were
 * when the pass began: a walk may have slept since.
 */
static void pass_over_tables(struct reader *r, unsigned *seed)
{
	uint64_t places[STRESS_BINARIES + 1];
	int32_t off;

	for (uint32_t b = 1; b <= STRESS_BINARIES; b++)
		places[b] = place_of(r->w, b);
	for (int i = 0; i < STRESS_LOOKUPS; i++) {
		uint32_t b = 1 + (uint32_t)rand_r(seed) % STRESS_BINARIES;
		uint64_t row = (uint32_t)rand_r(seed) % stress_rows(b);
		int code = look_up_at(r->w, i & 1 ? places[b] : place_of(r->w, b), row * 16 + 1, &off);

		r->found += !code;
		r->pending += code == UNWIND_NO_TABLE;
		r->wrong += code ? code != UNWIND_NO_TABLE : off != (int32_t)(b << 20 | row % 8);
	}
}

static void *read_tables(void *arg)
{
	struct reader *r = arg;
	unsigned seed = 1;

	for (;;) {
		sem_wait(&r->begin);
		if (r->stop)
			return NULL;
		pass_over_tables(r, &seed);
		sem_post(&r->end);
	}
}

/*
 * With room for half of the tables and no grace time but the passes themselves: a walk gets the
 * right rule or none.
 */
static void stress(struct world *w, struct reader *r)
{
	unsigned seed = 2;
	pthread_t thread;

	*r = (struct reader){ .w = w };
	w->opts.epoch_ns = 1;
	open_loader(w, 45000);
	sem_init(&r->begin, 0, 0);
	sem_init(&r->end, 0, 0);
	unwind_loader_rows(w->l, 0, 0);
	assert_int_equal(load(w, 1, stress_rows(1)), 0);
	unwind_loader_rows(w->l, 0, 0);		/* mapped before there are two threads */
	assert_int_equal(pthread_create(&thread, NULL, read_tables, r), 0);
	for (int pass = 0; pass < STRESS_PASSES; pass++) {
		unwind_loader_iterating(w->l, true);
		sem_post(&r->begin);
		do {
			uint32_t b = 1 + (uint32_t)rand_r(&seed) % STRESS_BINARIES;

			if (!place_at(w, b).nr_pages)
				load(w, b, stress_rows(b));
		} while (sem_trywait(&r->end));
		unwind_loader_iterating(w->l, false);
	}
	r->stop = 1;
	sem_post(&r->begin);
	pthread_join(thread, NULL);
}

static void test_walks_never_meet_a_reused_table(void **state)
{
	struct world *w = *state;
	struct reader r;

	stress(w, &r);
	assert_int_equal(r.wrong, 0);
	assert_true(r.found > STRESS_PASSES * 1000);
	assert_true(r.pending > STRESS_PASSES);
	assert_true(stats_of(w).evicted > STRESS_PASSES / 4);
}

/*
 * What the stress looks for: a walk has read where a table is, and sleeps while that is thrown out
 * and its pages are used again. Says whether the walk then meets the rules of another table.
 */
static bool sleeping_walk_is_misled(struct world *w, bool protected)
{
	uint64_t place;
	int32_t off;

	w->opts.epoch_ns = 1;
	open_loader(w, 1000);
	assert_int_equal(load(w, 1, 400), 0);
	place = place_of(w, 1);
	unwind_loader_iterating(w->l, protected);
	for (uint32_t pass = 0; pass < 20; pass++)
		load(w, 2 + pass % 4, 400);
	unwind_loader_iterating(w->l, false);
	assert_int_equal(w->evictions[1], 1);
	return !look_up_at(w, place, 5, &off) && off >> 20 != 1;
}

static void test_a_walk_that_sleeps_is_protected(void **state)
{
	assert_false(sleeping_walk_is_misled(*state, true));
}

/* The same without the protection does go wrong, so the test above can fail. */
static void test_a_walk_without_protection_is_misled(void **state)
{
	assert_true(sleeping_walk_is_misled(*state, false));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tables_are_found),
		TEST(test_slabs_are_full),
		TEST(test_least_used_goes_first),
		TEST(test_nothing_is_used_again_during_a_pass),
		TEST(test_rule_cache_is_cleared),
		TEST(test_tables_version_changes),
		TEST(test_table_without_pages),
		TEST(test_room_is_promised),
		TEST(test_copies_share_a_table),
		TEST(test_touch_by_a_copy),
		TEST(test_too_big_for_all),
		TEST(test_too_many_mappings),
		TEST(test_pages_run_out),
		TEST(test_rules_run_out_and_come_back),
		TEST(test_table_that_never_fits),
		TEST(test_shared_rules_stay),
		TEST(test_walks_never_meet_a_reused_table),
		TEST(test_a_walk_that_sleeps_is_protected),
		TEST(test_a_walk_without_protection_is_misled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
