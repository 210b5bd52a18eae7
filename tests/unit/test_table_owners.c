/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of tables are taken back, and who has most of a room pays for more. */
#include <bpf/bpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "tests/unit/loader_world.h"

static uint32_t table_owner(void *ctx, uint32_t binary)
{
	(void)ctx;
	return binary < FLOOD ? 0 : binary < OTHERS ? 1000 : 1001;
}

static uint32_t process_owner(void *ctx, uint32_t tgid)
{
	(void)ctx;
	return tgid;
}

static int load(struct world *w, uint32_t binary, size_t rows)
{
	struct unwind_table *t = make_table(binary % 64, rows, 16, 8);
	int err = unwind_loader_table(w->l, binary, t);

	unwind_table_free(t);
	return err;
}

/* Loads again until there is room. */
static int load_at_last(struct world *w, uint32_t binary, size_t rows)
{
	int err = load(w, binary, rows);

	for (int i = 0; i < 1000 && err == -EAGAIN; i++) {
		usleep(5000);
		err = load(w, binary, rows);
	}
	return err;
}

static bool is_there(struct world *w, uint32_t binary)
{
	return place_at(w, binary).nr_pages > 0;
}

static void open_owned(struct world *w, uint64_t max_rows, uint32_t max_numbers)
{
	w->opts.table_owner = table_owner;
	w->opts.process_owner = process_owner;
	w->opts.max_numbers = max_numbers;
	w->opts.epoch_ns = 1000 * 1000;
	open_loader(w, max_rows);
}

/* Ten times as many binaries as there are numbers: each gets a table, the others keep theirs. */
static void test_numbers_are_taken_back(void **state)
{
	struct world *w = *state;

	open_owned(w, 0, 40);
	for (uint32_t b = 1; b <= 10; b++)
		assert_int_equal(load(w, b, 20), 0);
	for (uint32_t b = OTHERS; b < OTHERS + 10; b++)
		assert_int_equal(load(w, b, 20), 0);
	for (uint32_t b = FLOOD; b < FLOOD + 400; b++) {
		assert_int_equal(load_at_last(w, b, 20), 0);
		assert_true(is_there(w, b));
	}
	for (uint32_t b = 1; b <= 10; b++)
		assert_true(is_there(w, b) && is_there(w, OTHERS + b - 1));
	assert_true(is_there(w, FLOOD + 399));
	assert_false(is_there(w, FLOOD));
	assert_string_equal(w->what, "numbers of unwind tables");
}

static void test_rows_of_the_heaviest_go(void **state)
{
	struct world *w = *state;

	open_owned(w, 1000, 0);
	assert_int_equal(load(w, 1, 300), 0);
	assert_int_equal(load(w, OTHERS, 100), 0);
	for (uint32_t b = FLOOD; b < FLOOD + 100; b++)
		assert_int_equal(load_at_last(w, b, 100), 0);
	assert_true(is_there(w, 1) && is_there(w, OTHERS));
	/* Another one takes of the heaviest as well, up to his share. */
	assert_int_equal(load_at_last(w, OTHERS + 1, 100), 0);
	assert_true(is_there(w, 1) && is_there(w, OTHERS));
	/* A giant is refused rather than driving out what others use. */
	assert_int_equal(load_at_last(w, FLOOD + 200, 900), -ENOSPC);
	assert_true(is_there(w, 1) && is_there(w, OTHERS) && is_there(w, OTHERS + 1));
}

static void test_giant_of_the_heaviest_goes(void **state)
{
	struct world *w = *state;

	open_owned(w, 1000, 0);
	assert_int_equal(load(w, FLOOD, 900), 0);
	assert_int_equal(load_at_last(w, OTHERS, 200), 0);
	assert_false(is_there(w, FLOOD));
	assert_int_equal(load_at_last(w, 1, 700), 0);
	assert_true(is_there(w, OTHERS));
}

/* ---- slices ---- */

struct slices {
	struct processes processes;
	struct binaries binaries;
	const struct unwind_mapping *v;
	int map;
};

static void open_slices(struct world *w, struct slices *s, uint32_t nr_mappings)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	s->map = bpf_map_create(BPF_MAP_TYPE_HASH, "processes", 4, sizeof(struct unwind_process), 16, &opts);
	if (s->map < 0) {
		print_message("needs the right to create BPF maps\n");
		skip();
	}
	w->opts.fds.processes = s->map;
	w->opts.fds.nr_mappings = nr_mappings;
	processes_init(&s->processes);
	assert_int_equal(binaries_init(&s->binaries), 0);
	open_owned(w, 0, 0);
	s->v = mmap(NULL, nr_mappings * sizeof(*s->v), PROT_READ, MAP_SHARED, w->opts.fds.mappings, 0);
	assert_true(s->v != MAP_FAILED);
}

static void close_slices(struct world *w, struct slices *s)
{
	for (struct process *p = s->processes.all; p; p = p->next)
		unwind_loader_forget(w->l, p);
	processes_release(&s->processes);
	binaries_release(&s->binaries);
	close(s->map);
}

static struct process *add_process(struct slices *s, uint32_t tgid, uint32_t nr, uint32_t binary)
{
	struct process *p = processes_add(&s->processes, tgid, 1);

	for (uint32_t i = 0; i < nr; i++) {
		struct mapping m = { .start = 0x1000 * (i + 1), .end = 0x1000 * (i + 2), .binary = binary,
				     .born_ns = 1, .died_ns = TIME_NEVER };

		assert_int_equal(process_map(p, &m), 0);
	}
	return p;
}

/* The first mapping of a process as the kernel side has it; NULL: it has none. */
static const struct unwind_mapping *slice_of(const struct slices *s, uint32_t tgid)
{
	struct unwind_process value;

	return bpf_map_lookup_elem(s->map, &tgid, &value) ? NULL : &s->v[(uint32_t)value.slice];
}

/* Entries that are published follow the table: it comes, goes, and there never is one. */
static void test_entries_follow_their_table(void **state)
{
	struct world *w = *state;
	struct slices s;
	struct process *p;
	uint32_t number;

	open_slices(w, &s, 64);
	p = add_process(&s, 1000, 3, FLOOD);
	assert_int_equal(unwind_loader_process(w->l, &s.binaries, p), 0);
	assert_int_equal(slice_of(&s, 1000)[2].binary, UNWIND_NO_NUMBER);
	assert_int_equal(load(w, FLOOD, 20), 0);
	number = slice_of(&s, 1000)[2].binary;
	assert_true(number >= UNWIND_FIRST_NUMBER && number < UNWIND_NUMBERS);
	unwind_loader_drop(w->l, FLOOD);
	assert_int_equal(slice_of(&s, 1000)[0].binary, UNWIND_NO_NUMBER);
	unwind_loader_no_table(w->l, FLOOD);
	assert_int_equal(slice_of(&s, 1000)[1].binary, UNWIND_NUMBER_NEVER);
	close_slices(w, &s);
}

/* A user with most mappings gives some up for another one, and gets none of his. */
static void test_mappings_of_the_heaviest_go(void **state)
{
	struct world *w = *state;
	struct slices s;
	struct process *flood[5], *other;
	int err = -EAGAIN;

	open_slices(w, &s, 64);
	for (int i = 0; i < 5; i++)	/* all are user 1000's: only one tgid is told apart */
		flood[i] = add_process(&s, 1000, 16, 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(unwind_loader_process(w->l, &s.binaries, flood[i]), 0);
	assert_int_equal(unwind_loader_process(w->l, &s.binaries, flood[4]), -ENOSPC);
	other = add_process(&s, 1001, 8, 1);
	for (int i = 0; i < 1000 && err == -EAGAIN; i++, usleep(5000))
		err = unwind_loader_process(w->l, &s.binaries, other);
	assert_int_equal(err, 0);
	assert_non_null(slice_of(&s, 1001));
	assert_false(other->dirty);
	unwind_loader_process(w->l, &s.binaries, flood[4]);
	assert_non_null(slice_of(&s, 1001));
	close_slices(w, &s);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_numbers_are_taken_back),
		T(test_rows_of_the_heaviest_go),
		T(test_giant_of_the_heaviest_goes),
		T(test_entries_follow_their_table),
		T(test_mappings_of_the_heaviest_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
