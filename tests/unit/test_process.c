/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/process.h"

#define PAGE 0x1000ull

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % n;
}

/* ---- mappings ---- */

static int setup(void **state)
{
	struct processes *ps = test_calloc(1, sizeof(*ps));

	processes_init(ps);
	*state = ps;
	return processes_add(ps, 100, 1) ? 0 : -1;
}

static int teardown(void **state)
{
	processes_release(*state);
	test_free(*state);
	return 0;
}

static void map(struct process *p, uint64_t start, uint64_t end, uint32_t binary, uint64_t time_ns)
{
	struct mapping m = {
		.start = start,
		.end = end,
		.pgoff_bytes = start % 0x100000,
		.to_vaddr = binary * 1000 - start,
		.binary = binary,
		.born_ns = time_ns,
		.died_ns = TIME_NEVER,
	};

	assert_int_equal(process_map(p, &m), 0);
}

/* Binary mapped at addr at that time; 0: none. */
static uint32_t binary_at(const struct process *p, uint64_t addr, uint64_t time_ns)
{
	const struct mapping *m = process_find_mapping(p, addr, time_ns);

	return m ? m->binary : 0;
}

static void test_bounds(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);

	map(p, 0x3000, 0x5000, 1, 10);
	map(p, 0x1000, 0x2000, 2, 10);
	assert_int_equal(binary_at(p, 0xfff, 20), 0);
	assert_int_equal(binary_at(p, 0x1000, 20), 2);
	assert_int_equal(binary_at(p, 0x1fff, 20), 2);
	assert_int_equal(binary_at(p, 0x2000, 20), 0);
	assert_int_equal(binary_at(p, 0x3000, 20), 1);
	assert_int_equal(binary_at(p, 0x4fff, 20), 1);
	assert_int_equal(binary_at(p, 0x5000, 20), 0);
	assert_int_equal(binary_at(p, UINT64_MAX, 20), 0);
	/* Seen by a scan a little after a sample was taken: better than nothing. */
	assert_int_equal(binary_at(p, 0x3000, 5), 1);
	map(p, 0x7000, 0x7000, 3, 10);
	assert_int_equal(p->nr_live, 2);
}

static void test_replaced(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);

	map(p, 0x1000, 0x2000, 1, 10);
	map(p, 0x2000, 0x3000, 2, 10);
	map(p, 0x1000, 0x3000, 3, 20);
	assert_int_equal(p->nr_live, 1);
	assert_int_equal(binary_at(p, 0x1800, 19), 1);
	assert_int_equal(binary_at(p, 0x2800, 19), 2);
	assert_int_equal(binary_at(p, 0x1800, 20), 3);
	assert_int_equal(binary_at(p, 0x2800, 20), 3);
}

static void test_cut(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	const struct mapping *m;

	map(p, 0x10000, 0x20000, 1, 10);
	p->maps[0].written = true;
	map(p, 0x14000, 0x18000, 2, 20);
	assert_int_equal(p->nr_live, 3);
	assert_int_equal(binary_at(p, 0x13fff, 30), 1);
	assert_int_equal(binary_at(p, 0x14000, 30), 2);
	assert_int_equal(binary_at(p, 0x17fff, 30), 2);
	assert_int_equal(binary_at(p, 0x18000, 30), 1);
	assert_int_equal(binary_at(p, 0x15000, 15), 1);
	assert_int_equal(binary_at(p, 0x13000, 15), 1);
	/* What is left begins later in the file, and an address means what it meant. */
	m = process_find_mapping(p, 0x18000, 30);
	assert_int_equal(m->start, 0x18000);
	assert_int_equal(m->end, 0x20000);
	assert_int_equal(m->pgoff_bytes, 0x18000);
	assert_int_equal(m->to_vaddr, 1000 - 0x10000);
	/* The trace knows only the whole: its end will be written, so must be the parts. */
	assert_false(m->written);
	assert_false(process_find_mapping(p, 0x10000, 30)->written);
	assert_true(p->ended[0].written);
}

static void test_equal_one_is_kept(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	uint32_t generation;

	map(p, 0x1000, 0x3000, 1, 10);
	p->maps[0].written = true;
	p->dirty = false;
	generation = p->generation;
	map(p, 0x1000, 0x3000, 1, 20);
	assert_int_equal(process_nr_mappings(p), 1);
	assert_int_equal(p->maps[0].born_ns, 10);
	assert_true(p->maps[0].written);
	assert_false(p->dirty);
	assert_int_equal(p->generation, generation);
	/* Another file at the same place is a change. */
	map(p, 0x1000, 0x3000, 2, 30);
	assert_true(p->dirty);
	assert_int_not_equal(p->generation, generation);
	assert_int_equal(process_nr_mappings(p), 2);
}

/* A compiler in the program changes the rights of its memory again and again: no mapping dies of that. */
static void test_anonymous_memory_that_grows(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);

	for (uint64_t i = 0; i < 100; i++) {
		map(p, 0x10000, 0x20000 + (i + 1) * 0x1000, 0, 10 + i);
		map(p, 0x10000, 0x20000 + i * 0x1000, 0, 10 + i);
	}
	assert_int_equal(process_nr_mappings(p), 1);
	assert_int_equal(p->maps[0].end, 0x20000 + 100 * 0x1000);
	assert_true(p->dirty);
	/* Over others it is a new one. */
	map(p, 0x100000, 0x101000, 7, 200);
	map(p, 0x10000, 0x200000, 0, 201);
	assert_int_equal(p->nr_live, 1);
	assert_int_equal(p->maps[0].end, 0x200000);
	assert_int_equal(process_nr_mappings(p), 3);
	/* A file is another one. */
	map(p, 0x300000, 0x301000, 7, 210);
	map(p, 0x300000, 0x302000, 7, 211);
	assert_int_equal(process_nr_mappings(p), 5);
}

/* Of what is mapped now only that which overlaps none of the ranges dies. */
static void test_keep(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	struct mapping found[] = { { .start = 1 * PAGE, .end = 2 * PAGE }, { .start = 6 * PAGE, .end = 9 * PAGE } };

	map(p, 1 * PAGE, 2 * PAGE, 1, 1);
	map(p, 3 * PAGE, 4 * PAGE, 2, 1);
	map(p, 7 * PAGE, 8 * PAGE, 3, 1);
	p->dirty = false;
	assert_true(process_keep(p, found, 2, 5));
	assert_true(p->dirty);
	assert_int_equal(p->nr_live, 2);
	assert_non_null(process_find_mapping(p, 1 * PAGE, 6));
	assert_non_null(process_find_mapping(p, 7 * PAGE, 6));
	assert_non_null(process_find_mapping(p, 3 * PAGE, 4));
	assert_null(process_find_mapping(p, 3 * PAGE, 6));
	assert_false(process_keep(p, found, 2, 6));
	assert_true(process_keep(p, NULL, 0, 7));
	assert_int_equal(p->nr_live, 0);
}

static void meet(struct process *p, uint64_t page, uint32_t binary, uint64_t time_ns)
{
	const struct mapping m = { .start = page * PAGE, .end = (page + 1) * PAGE, .binary = binary,
				   .born_ns = time_ns, .died_ns = TIME_NEVER };

	assert_int_equal(process_meet(p, &m), 0);
}

/* Very many mappings: the first ones stay, others are there when a stack has met them. */
static void test_crowded(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	const uint64_t end = PROCESS_MAPPINGS + 5000;
	uint32_t generation;

	for (uint64_t i = 0; i < end; i++)
		map(p, i * PAGE, (i + 1) * PAGE, (uint32_t)i + 1, 10);
	assert_true(p->is_crowded);
	assert_int_equal(p->nr_live, PROCESS_MAPPINGS);
	assert_int_equal(binary_at(p, 7 * PAGE, 20), 8);
	assert_null(process_find_mapping(p, (end - 1) * PAGE, 20));
	meet(p, end - 1, 77, 30);
	assert_int_equal(binary_at(p, (end - 1) * PAGE, 40), 77);
	/* What is mapped over a mapping ends it, although it is not followed itself. */
	map(p, (end - 1) * PAGE, end * PAGE, 78, 50);
	assert_null(process_find_mapping(p, (end - 1) * PAGE, 50));
	assert_int_equal(binary_at(p, (end - 1) * PAGE, 49), 77);
	generation = p->generation;
	map(p, (end + 9) * PAGE, (end + 10) * PAGE, 79, 60);
	assert_int_equal(p->generation, generation);
}

/* Those that stacks meet find room, and of these the oldest go at last. */
static void test_crowded_by_met_ones(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	const uint64_t most = PROCESS_MAPPINGS + PROCESS_MET;

	for (uint64_t i = 0; i <= PROCESS_MAPPINGS; i++)
		map(p, i * PAGE, (i + 1) * PAGE, 1, 10);
	for (uint64_t i = 0; i < 3 * most; i++) {
		meet(p, 100000 + i, 2, 20);
		assert_true(p->nr_live <= most);
		assert_int_equal(binary_at(p, (100000 + i) * PAGE, 30), 2);
	}
	assert_true(process_nr_mappings(p) <= most + PROCESS_ENDED);
	assert_int_equal(binary_at(p, 8 * PAGE, 30), 0);	/* no stack has met it */
}

/* With very many mappings of all processes, each has less room. */
static void test_room_for_all(void **state)
{
	struct processes *ps = *state;
	struct process *p = processes_find(ps, 100, TIME_NEVER), *other = processes_add(ps, 101, 1);
	size_t before = ps->nr_mappings;

	assert_non_null(other);
	ps->nr_mappings += 2u << 20;
	for (uint64_t i = 0; i < 2000; i++)
		map(other, i * PAGE, (i + 1) * PAGE, 1, 10);
	assert_true(other->is_crowded);
	assert_int_equal(other->nr_live, 128);
	ps->nr_mappings -= 2u << 20;
	assert_int_equal(ps->nr_mappings, before + 128);
	for (uint64_t i = 0; i < 2000; i++)
		map(p, i * PAGE, (i + 1) * PAGE, 1, 10);
	assert_int_equal(p->nr_live, 2000);
	process_keep(p, NULL, 0, 20);
	assert_int_equal(ps->nr_mappings, before + 128 + 2000);
}

/* A mapping that comes and goes thousands of times: those that the trace knows of are not lost. */
static void test_ended_ones_are_bounded(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	size_t written = 0;

	map(p, 1 * PAGE, 2 * PAGE, 1, 1);
	p->maps[0].written = true;
	for (uint32_t i = 2; i < 3 * PROCESS_ENDED; i++)
		map(p, 1 * PAGE, 2 * PAGE, i, i);
	assert_int_equal(p->nr_live, 1);
	assert_true(p->nr_ended <= PROCESS_ENDED);
	for (size_t i = 0; i < p->nr_ended; i++)
		written += p->ended[i].written;
	assert_int_equal(written, 1);
	for (uint32_t i = 3 * PROCESS_ENDED - 3000; i < 3 * PROCESS_ENDED; i++)
		assert_int_equal(binary_at(p, 1 * PAGE, i), i);
}

#define SECOND 1000000000ull

/* Two libraries are opened and closed in turn at one place; then one of them stays. */
static void test_files_take_turns(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	uint64_t now = SECOND;

	map(p, 9 * PAGE, 10 * PAGE, 9, now);
	map(p, PAGE, 2 * PAGE, 1, now);
	assert_false(p->has_fleeting);
	for (int i = 0; i < 100; i++) {
		now += SECOND / 1000;
		map(p, PAGE, 2 * PAGE, 2 - i % 2, now);
		assert_true(process_find_mapping(p, PAGE, now)->is_fleeting);
	}
	assert_false(process_find_mapping(p, 9 * PAGE, now)->is_fleeting);
	/* Before all of them: what is there now says nothing of that, unlike elsewhere. */
	assert_null(process_find_mapping(p, PAGE, SECOND / 2));
	assert_non_null(process_find_mapping(p, 9 * PAGE, SECOND / 2));
	/* /proc shows none of them, and then one of them, before the events are read. */
	process_keep(p, &(struct mapping){ .start = 9 * PAGE, .end = 10 * PAGE }, 1, now + 1);
	map(p, PAGE, 2 * PAGE, 2, now + 2);
	assert_true(process_find_mapping(p, PAGE, now + 2)->is_fleeting);
	assert_false(process_has_settled(p, now + SECOND));
	assert_true(p->has_fleeting);
	p->dirty = false;
	assert_true(process_has_settled(p, now + 3 * SECOND));
	assert_true(p->dirty);
	assert_false(p->has_fleeting);
	/* A library that was there for long is replaced, and memory of a compiler changes. */
	map(p, PAGE, 2 * PAGE, 3, now + 10 * SECOND);
	map(p, 9 * PAGE, 10 * PAGE, 0, now + 10 * SECOND);
	map(p, 9 * PAGE, 11 * PAGE, 0, now + 10 * SECOND + 5);
	assert_false(p->has_fleeting);
}

/* /proc was read before the event that tells since when a mapping is there. */
static void test_event_behind_a_scan(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);

	map(p, PAGE, 2 * PAGE, 1, 20);
	map(p, PAGE, 2 * PAGE, 1, 10);
	map(p, PAGE, 2 * PAGE, 2, 30);
	assert_int_equal(binary_at(p, PAGE, 15), 1);
	assert_int_equal(binary_at(p, PAGE, 35), 2);
}

/* A file that is read later is that of the mapping from its beginning on. */
static void test_unread(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	struct mapping m = { .start = PAGE, .end = 2 * PAGE, .is_unread = true, .dev = 3, .ino = 4,
			     .born_ns = 10, .died_ns = TIME_NEVER };
	uint32_t generation;

	assert_int_equal(process_map(p, &m), 0);
	assert_true(process_find_mapping(p, PAGE, 20)->is_unread);
	generation = p->generation;
	process_file_read(p, process_find_mapping(p, PAGE, 20), 7, 70);
	assert_int_not_equal(p->generation, generation);
	assert_int_equal(binary_at(p, PAGE, 10), 7);
	assert_int_equal(process_find_mapping(p, PAGE, 10)->to_vaddr, 70);
	/* The same mapping, seen again without its file, is no news. */
	m.born_ns = 30;
	assert_int_equal(process_map(p, &m), 0);
	assert_int_equal(binary_at(p, PAGE, 40), 7);
	m.ino = 5;
	assert_int_equal(process_map(p, &m), 0);
	assert_true(process_find_mapping(p, PAGE, 40)->is_unread);
	assert_int_equal(binary_at(p, PAGE, 29), 7);
}

/* A mapping is known to the kernel from the publication after it on. */
static void test_publications(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	const struct mapping *old, *young;

	map(p, 1 * PAGE, 2 * PAGE, 1, 10);
	old = process_find_mapping(p, 1 * PAGE, 10);
	assert_true(process_knew(p, old, 11));		/* no table at all: no old one was used */
	process_published(p, 20);
	map(p, 3 * PAGE, 4 * PAGE, 2, 30);
	young = process_find_mapping(p, 3 * PAGE, 30);
	old = process_find_mapping(p, 1 * PAGE, 30);
	assert_true(process_knew(p, old, 35));
	assert_false(process_knew(p, young, 35));
	process_published(p, 40);
	assert_false(process_knew(p, young, 39));
	assert_true(process_knew(p, young, 40));
	for (uint64_t t = 50; t < 50 + 2 * PROCESS_PUBLICATIONS; t++)
		process_published(p, t);
	assert_true(process_knew(p, young, 100));
}

/* A child walks on its parent's table, so it knows what that did. */
static void test_child_knows_what_its_parent_knew(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER), *child;

	for (uint32_t i = 1; i < 9; i++)
		map(p, i * PAGE, (i + 1) * PAGE, i, i);
	process_published(p, 10);
	map(p, 20 * PAGE, 21 * PAGE, 9, 11);
	child = processes_add(*state, 101, 12);
	assert_non_null(child);
	assert_int_equal(process_inherit(child, p, 12), 0);
	assert_true(process_knew(child, process_find_mapping(child, 8 * PAGE, 13), 13));
	assert_false(process_knew(child, process_find_mapping(child, 20 * PAGE, 13), 13));
}

static void test_inherit(void **state)
{
	struct process *parent = processes_find(*state, 100, TIME_NEVER), *child;

	map(parent, 0x1000, 0x2000, 1, 10);
	map(parent, 0x1000, 0x2000, 2, 20);
	map(parent, 0x3000, 0x4000, 3, 20);
	parent->maps[0].written = parent->maps[1].written = true;
	parent->exe = 7;
	strcpy(parent->comm, "parent");
	parent->cmdline = strdup("parent -x");
	child = processes_add(*state, 101, 50);
	assert_int_equal(process_inherit(child, parent, 50), 0);
	assert_int_equal(child->nr_live, 2);
	assert_int_equal(process_nr_mappings(child), 2);
	assert_int_equal(child->exe, 7);
	assert_string_equal(child->comm, "parent");
	assert_string_equal(child->cmdline, "parent -x");
	assert_int_equal(binary_at(child, 0x1000, 50), 2);
	assert_int_equal(child->maps[0].born_ns, 50);
	assert_false(child->maps[0].written);
	/* From here on they live apart. */
	map(child, 0x1000, 0x2000, 9, 60);
	assert_int_equal(binary_at(parent, 0x1000, 70), 2);
	assert_int_equal(binary_at(child, 0x1000, 70), 9);
}

static void ignore(void *ctx, struct process *p)
{
	(void)p;
	++*(unsigned *)ctx;
}

/* ---- mappings against a model: an array of pages, one for each moment ---- */

#define PAGES 48u
#define STEPS 3000u

struct cell {
	uint32_t binary;	/* 0: nothing */
	uint32_t file_page;
	uint64_t to_vaddr;
};

struct model {
	struct cell at[STEPS + 1][PAGES];
};

static void random_map(struct process *p, struct model *model, uint32_t step, uint64_t *seed)
{
	uint32_t first = random_below(seed, PAGES),
		 nr = 1 + random_below(seed, random_below(seed, 4) ? 6 : PAGES);
	uint32_t binary = 1 + random_below(seed, 3), file_page = random_below(seed, 3);
	struct mapping m = {
		.start = first * PAGE,
		.pgoff_bytes = file_page * PAGE,
		.binary = binary,
		.born_ns = step,
		.died_ns = TIME_NEVER,
	};

	if (first + nr > PAGES)
		nr = PAGES - first;
	m.end = m.start + nr * PAGE;
	m.to_vaddr = binary * 0x100000000ull + m.pgoff_bytes - m.start;
	assert_int_equal(process_map(p, &m), 0);
	memcpy(model->at[step], model->at[step - 1], sizeof(model->at[step]));
	for (uint32_t i = 0; i < nr; i++)
		model->at[step][first + i] = (struct cell){ binary, file_page + i, m.to_vaddr };
}

static void check_shape(const struct process *p)
{
	assert_true(p->nr_live <= p->cap_maps && p->nr_ended <= p->cap_ended);
	for (size_t i = 0; i < process_nr_mappings(p); i++) {
		const struct mapping *m = process_mapping(p, i);

		assert_true(m->start < m->end);
		assert_true(i < p->nr_live ? m->died_ns == TIME_NEVER : m->died_ns != TIME_NEVER);
		if (i && i < p->nr_live)
			assert_true(p->maps[i - 1].end <= m->start);
		if (i > p->nr_live)
			assert_true(process_mapping(p, i - 1)->died_ns <= m->died_ns);
	}
}

static void check_moment(const struct process *p, const struct model *model, uint32_t time_ns)
{
	for (uint32_t i = 0; i < PAGES; i++) {
		const struct cell *c = &model->at[time_ns][i];
		const struct mapping *m = process_find_mapping(p, i * PAGE + 17, time_ns);

		if (!c->binary)
			continue;	/* whatever came later may answer */
		assert_non_null(m);
		assert_int_equal(m->binary, c->binary);
		assert_int_equal(m->pgoff_bytes + (i * PAGE - m->start), c->file_page * PAGE);
		assert_int_equal(m->to_vaddr, c->to_vaddr);
	}
}

static void test_mappings_like_the_model(void **state)
{
	struct process *p = processes_find(*state, 100, TIME_NEVER);
	struct model *model = test_calloc(1, sizeof(*model));
	uint32_t pruned = 1;
	unsigned released = 0;
	uint64_t seed = 4711;

	for (uint32_t step = 1; step <= STEPS; step++) {
		random_map(p, model, step, &seed);
		check_shape(p);
		check_moment(p, model, step);
		if (step % 200 == 0) {
			pruned = step - 100;
			processes_prune(*state, pruned, pruned, ignore, &released);
			check_shape(p);
		}
		check_moment(p, model, pruned + random_below(&seed, step - pruned + 1));
	}
	assert_true(process_nr_mappings(p) < 1000);		/* the dead ones did go */
	assert_int_equal(released, 0);
	test_free(model);
}

/* ---- processes ---- */

static void test_lives_of_one_pid(void **state)
{
	struct processes *ps = *state;
	struct process *first = processes_find(ps, 100, TIME_NEVER), *second;

	assert_ptr_equal(processes_find(ps, 100, 5), first);
	assert_null(processes_find(ps, 100, 0));
	assert_null(processes_find(ps, 99, 5));
	second = processes_add(ps, 100, 50);
	assert_int_equal(first->died_ns, 50);
	assert_int_not_equal(first->serial, second->serial);
	assert_ptr_equal(processes_find(ps, 100, 49), first);
	assert_ptr_equal(processes_find(ps, 100, 50), second);
	assert_ptr_equal(processes_find(ps, 100, TIME_NEVER), second);
	process_exit(second, 80);
	process_exit(second, 90);
	assert_int_equal(second->died_ns, 80);
	assert_null(processes_find(ps, 100, TIME_NEVER));
	/* A task is still seen a little after its exit event. */
	assert_ptr_equal(processes_find(ps, 100, 81), second);
}

static void test_prune_middle_of_chain(void **state)
{
	struct processes *ps = *state;
	struct process *oldest = processes_find(ps, 100, TIME_NEVER), *middle, *newest;
	unsigned released = 0;

	middle = processes_add(ps, 100, 50);
	newest = processes_add(ps, 100, 60);
	oldest->died_ns = 1000;		/* as if its end had been learnt late */
	processes_prune(ps, 61, 61, ignore, &released);
	assert_int_equal(released, 1);
	assert_int_equal(ps->nr, 2);
	assert_ptr_equal(processes_find(ps, 100, 70), newest);
	assert_ptr_equal(processes_find(ps, 100, 55), oldest);
	assert_ptr_not_equal(processes_find(ps, 100, 55), middle);
	processes_prune(ps, 60, 60, ignore, &released);
	assert_int_equal(ps->nr, 2);
}

static void test_pid_is_reused_after_prune(void **state)
{
	struct processes *ps = *state;
	unsigned released = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct process *p = processes_add(ps, 200 + i % 7, 10 * i + 10);

		assert_non_null(p);
		map(p, 0x1000, 0x2000, i + 1, 10 * i + 10);
		assert_int_equal(
			binary_at(processes_find(ps, 200 + i % 7, TIME_NEVER), 0x1000, 10 * i + 10),
			i + 1);
		process_exit(p, 10 * i + 15);
		if (i % 3 == 0)
			processes_prune(ps, 10 * i + 20, 10 * i + 20, ignore, &released);
	}
	assert_int_equal(released, 1000);
	assert_int_equal(ps->nr, 1);
	assert_true(ps->nr_newest < 16);	/* slots are used again */
}

/* ---- processes against a model: a list of lives ---- */

#define LIVES 4000
#define TGIDS 12u

struct life {
	uint32_t tgid;
	uint64_t born, died, serial;
	bool gone;
};

static const struct life *model_find(const struct life *lives, size_t nr, uint32_t tgid,
				     uint64_t time_ns)
{
	for (size_t i = nr; i-- > 0;)
		if (lives[i].tgid == tgid && !lives[i].gone && lives[i].born <= time_ns)
			return &lives[i];
	return NULL;
}

static struct life *model_living(struct life *lives, size_t nr, uint32_t tgid)
{
	struct life *l = (struct life *)model_find(lives, nr, tgid, TIME_NEVER);

	return l && l->died == TIME_NEVER ? l : NULL;
}

static size_t model_prune(struct life *lives, size_t nr, uint64_t time_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!lives[i].gone && lives[i].died < time_ns) {
			lives[i].gone = true;
			n++;
		}
	}
	return n;
}

static void check_find(const struct processes *ps, struct life *lives, size_t nr, uint64_t time_ns)
{
	for (uint32_t tgid = 1; tgid <= TGIDS; tgid++) {
		const struct life *l = time_ns == TIME_NEVER ? model_living(lives, nr, tgid) :
							       model_find(lives, nr, tgid, time_ns);
		const struct process *p = processes_find(ps, tgid, time_ns);

		assert_int_equal(!p, !l);
		if (p) {
			assert_int_equal(p->tgid, tgid);
			assert_int_equal(p->serial, l->serial);
		}
	}
}

static void random_change(struct processes *ps, struct life *lives, size_t *nr, uint64_t now,
			  uint64_t *seed)
{
	uint32_t tgid = 1 + random_below(seed, TGIDS);
	struct life *living = model_living(lives, *nr, tgid);
	struct process *p;

	if (random_below(seed, 3) && living) {
		process_exit(processes_find(ps, tgid, TIME_NEVER), now);
		living->died = now;
		return;
	}
	p = processes_add(ps, tgid, now);
	if (living)
		living->died = now;
	assert_non_null(p);
	lives[(*nr)++] = (struct life){ tgid, now, TIME_NEVER, p->serial, false };
}

static void test_processes_like_the_model(void **state)
{
	struct life *lives = test_calloc(LIVES, sizeof(*lives));
	struct processes ps;
	uint64_t seed = 99;
	size_t nr = 0, pruned = 0;
	unsigned released = 0;

	(void)state;
	processes_init(&ps);
	for (uint64_t now = 1; nr < LIVES; now++) {
		random_change(&ps, lives, &nr, now, &seed);
		if (random_below(&seed, 40) == 0) {
			uint64_t until = now - random_below(&seed, now < 30 ? (uint32_t)now : 30);

			pruned += model_prune(lives, nr, until);
			processes_prune(&ps, until, until, ignore, &released);
		}
		assert_int_equal(released, pruned);
		assert_int_equal(ps.nr, nr - pruned);
		check_find(&ps, lives, nr, TIME_NEVER);
		check_find(&ps, lives, nr,
			   now - random_below(&seed, now < 60 ? (uint32_t)now : 60));
	}
	assert_true(ps.nr_newest <= TGIDS);
	processes_release(&ps);
	test_free(lives);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_bounds),
		T(test_replaced),
		T(test_cut),
		T(test_equal_one_is_kept),
		T(test_anonymous_memory_that_grows),
		T(test_keep),
		T(test_crowded),
		T(test_crowded_by_met_ones),
		T(test_room_for_all),
		T(test_ended_ones_are_bounded),
		T(test_unread),
		T(test_files_take_turns),
		T(test_event_behind_a_scan),
		T(test_publications),
		T(test_child_knows_what_its_parent_knew),
		T(test_inherit),
		T(test_mappings_like_the_model),
		T(test_lives_of_one_pid),
		T(test_prune_middle_of_chain),
		T(test_pid_is_reused_after_prune),
		cmocka_unit_test(test_processes_like_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
