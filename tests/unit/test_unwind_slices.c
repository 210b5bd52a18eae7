/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <bpf/bpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/capture/tables/unwind_slices.h"

#define MAX_PROCESSES 4
#define MAX_MAPPINGS 64
#define GRACE_NS (30 * 1000 * 1000ull)

struct world {
	struct epoch epoch;
	struct unwind_slices s;
	struct unwind_mapping v[MAX_MAPPINGS];
	uint64_t versions[UNWIND_VERSIONS];
	struct processes processes;
	struct binaries binaries;
	int map;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	*state = w;
	w->epoch.ns = GRACE_NS;
	w->map = bpf_map_create(BPF_MAP_TYPE_HASH, "processes", 4, sizeof(struct unwind_process), MAX_PROCESSES, &opts);
	unwind_slices_init(&w->s, w->v, MAX_MAPPINGS, w->map, w->versions, &w->epoch);
	processes_init(&w->processes);
	return binaries_init(&w->binaries);
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (struct process *p = w->processes.all; p; p = p->next)
		unwind_slices_forget(&w->s, p);
	unwind_slices_release(&w->s);
	processes_release(&w->processes);
	binaries_release(&w->binaries);
	if (w->map >= 0)
		close(w->map);
	free(w);
	return 0;
}

static void need_map(const struct world *w)
{
	if (w->map < 0) {
		print_message("needs the right to create BPF maps\n");
		skip();
	}
}

static struct process *new_process(struct world *w, uint32_t tgid, uint32_t nr)
{
	struct process *p = processes_add(&w->processes, tgid, 1);

	for (uint32_t i = 0; i < nr; i++) {
		struct mapping m = { .start = 0x1000 * (i + 1), .end = 0x1000 * (i + 2), .binary = tgid * 1000 + i,
				     .born_ns = 1, .died_ns = TIME_NEVER };

		assert_int_equal(process_map(p, &m), 0);
	}
	return p;
}

static int publish(struct world *w, struct process *p)
{
	return unwind_slices_process(&w->s, &w->binaries, p);
}

/* What the kernel side finds for tgid: the number of mappings and the binary of the first; -1: nothing. */
static int shown(struct world *w, uint32_t tgid, uint32_t *first_binary)
{
	struct unwind_process value;

	if (bpf_map_lookup_elem(w->map, &tgid, &value))
		return -1;
	*first_binary = w->v[(uint32_t)value.slice].binary;
	return (int)(value.slice >> 32);
}

/* What the kernel side keys its memos with: never the same for two sets of mappings. */
static uint64_t version(struct world *w, uint32_t tgid)
{
	return w->versions[unwind_version_of(tgid)];
}

static void assert_shown(struct world *w, uint32_t tgid, int nr)
{
	uint32_t binary;

	assert_int_equal(shown(w, tgid, &binary), nr);
	assert_int_equal(binary, tgid * 1000);
}

static void assert_not_shown(struct world *w, uint32_t tgid)
{
	uint32_t binary;

	assert_int_equal(shown(w, tgid, &binary), -1);
}

static void test_published_and_replaced(void **state)
{
	struct world *w = *state;
	struct process *p;
	uint64_t first;

	need_map(w);
	p = new_process(w, 1, 5);
	assert_int_equal(publish(w, p), 0);
	assert_shown(w, 1, 5);
	assert_int_equal(unwind_slices_used(&w->s), 8);
	first = version(w, 1);
	assert_int_not_equal(first, 0);
	assert_int_equal(publish(w, p), 0);
	assert_int_not_equal(version(w, 1), first);
	assert_int_equal(unwind_slices_used(&w->s), 16);	/* a walk may still read the old one */
	usleep(GRACE_NS / 1000 + 2000);
	assert_int_equal(publish(w, p), 0);
	assert_int_equal(unwind_slices_used(&w->s), 16);
	assert_shown(w, 1, 5);
}

static void test_full_array(void **state)
{
	struct world *w = *state;
	struct process *a, *b;
	uint64_t before;

	need_map(w);
	a = new_process(w, 1, 40);
	b = new_process(w, 2, 20);
	assert_int_equal(publish(w, a), 0);
	assert_int_equal(publish(w, b), 0);
	before = version(w, 2);
	assert_int_equal(publish(w, b), -ENOSPC);
	assert_int_not_equal(version(w, 2), before);
	assert_not_shown(w, 2);		/* not what it had before: that is no longer true */
	assert_int_equal(unwind_slices_check(&w->s, b), 0);
	usleep(GRACE_NS / 1000 + 2000);
	assert_int_equal(publish(w, b), 0);
	assert_shown(w, 1, 40);
	assert_shown(w, 2, 20);
}

static void test_full_map(void **state)
{
	struct world *w = *state;
	struct process *p;

	need_map(w);
	for (uint32_t i = 1; i <= MAX_PROCESSES; i++)
		assert_int_equal(publish(w, new_process(w, i, 1)), 0);
	p = new_process(w, MAX_PROCESSES + 1, 1);
	assert_int_equal(publish(w, p), -E2BIG);
	assert_int_equal(unwind_slices_check(&w->s, p), 0);
	assert_shown(w, 1, 1);
}

static void test_child_runs_on_its_parents(void **state)
{
	struct world *w = *state;
	struct process *parent, *child;
	uint64_t before;

	need_map(w);
	parent = new_process(w, 1, 30);
	child = processes_add(&w->processes, 2, 2);
	assert_int_equal(publish(w, parent), 0);
	unwind_slices_inherit(&w->s, child, parent);
	before = version(w, 1);
	unwind_slices_forget(&w->s, parent);
	assert_not_shown(w, 1);
	assert_int_not_equal(version(w, 1), before);
	usleep(GRACE_NS / 1000 + 2000);
	assert_int_equal(publish(w, new_process(w, 3, 30)), 0);		/* in another place */
	assert_int_equal(unwind_slices_used(&w->s), 64);
	unwind_slices_forget(&w->s, child);
	usleep(GRACE_NS / 1000 + 2000);
	assert_int_equal(publish(w, new_process(w, 4, 30)), 0);
}

/* A process without mappings has no room to give back, where others have their mappings by then. */
static void test_no_mappings(void **state)
{
	struct world *w = *state;
	struct process *none, *one;
	uint32_t binary;

	need_map(w);
	w->epoch.ns = 1;
	none = new_process(w, 1, 0);
	one = new_process(w, 2, 1);
	assert_int_equal(publish(w, none), 0);
	assert_int_equal(shown(w, 1, &binary), 0);
	assert_int_equal(publish(w, one), 0);
	unwind_slices_forget(&w->s, none);
	assert_int_equal(publish(w, new_process(w, 3, 1)), 0);
	unwind_slices_forget(&w->s, one);
	assert_int_equal(publish(w, new_process(w, 4, 1)), 0);
	assert_shown(w, 3, 1);
	assert_shown(w, 4, 1);
	assert_int_equal(unwind_slices_used(&w->s), 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_published_and_replaced),
		TEST(test_full_array),
		TEST(test_full_map),
		TEST(test_child_runs_on_its_parents),
		TEST(test_no_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
