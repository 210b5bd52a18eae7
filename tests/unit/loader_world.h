/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An unwind loader whose maps of the kernel are memory files: what is written to them is what BPF
 * would read.
 *
 *	setup, teardown			fixtures; *state is the world
 *	open_loader(w, max_rows)	once, after changes of w->opts
 *	make_table(whose, ...)		to be freed by the caller
 *
 * The includer has included cmocka.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/capture/tables/unwind_loader.h"

#define LO 0x400000ull
#define PAGE 0x10000ull
#define GRACE_NS (30 * 1000 * 1000ull)
#define MAX_BINARIES 32
#define FLOOD 100000			/* binaries from here on are user 1000's, */
#define OTHERS (2 * FLOOD)		/* and from here on user 1001's */

struct world {
	struct unwind_loader_options opts;
	struct unwind_loader *l;
	struct unwind_loader_view view;
	uint64_t *rule_cache;
	int evictions[MAX_BINARIES];
	const char *what;		/* of the last eviction */
};

static inline int memory_file(size_t bytes)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static inline int new_slab(void *ctx, uint32_t key)
{
	(void)ctx;
	(void)key;
	return memory_file(UNWIND_SLAB_ROWS * sizeof(struct unwind_row));
}

static inline void on_evict(void *ctx, uint32_t binary, const char *what)
{
	struct world *w = ctx;

	assert_true(binary < MAX_BINARIES || binary >= FLOOD);
	w->evictions[binary < MAX_BINARIES ? binary : 0]++;
	w->what = what;
}

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->opts = (struct unwind_loader_options){
		.fds = {
			.pages = memory_file(UNWIND_MAX_PAGES * sizeof(struct unwind_page)),
			.rules = memory_file(UNWIND_MAX_RULES * sizeof(struct unwind_rule)),
			.mappings = memory_file(UNWIND_MAX_MAPPINGS * sizeof(struct unwind_mapping)),
			.binaries = memory_file(UNWIND_MAX_BINARIES * sizeof(struct unwind_binary)),
			.rule_cache = memory_file(UNWIND_CACHE_WORDS * sizeof(uint64_t)),
			.processes = -1,
		},
		.new_slab = new_slab, .on_evict = on_evict, .ctx = w, .epoch_ns = GRACE_NS,
	};
	w->rule_cache = mmap(NULL, UNWIND_CACHE_WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED,
			     w->opts.fds.rule_cache, 0);
	*state = w;
	return w->rule_cache == MAP_FAILED ? -1 : 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	unwind_loader_free(w->l);
	munmap(w->rule_cache, UNWIND_CACHE_WORDS * sizeof(uint64_t));
	close(w->opts.fds.pages);
	close(w->opts.fds.rules);
	close(w->opts.fds.mappings);
	close(w->opts.fds.binaries);
	close(w->opts.fds.rule_cache);
	free(w);
	return 0;
}

static inline void open_loader(struct world *w, uint64_t max_rows)
{
	w->opts.max_rows = max_rows;
	assert_int_equal(unwind_loader_new(&w->opts, &w->l), 0);
	unwind_loader_view(w->l, &w->view);
}

static const struct unwind_binary no_place;

/* Where the table of a binary is. */
#define place_at(w, binary) (*(unwind_loader_place((w)->l, binary) ?: &no_place))

/* A table whose rules tell whose they are: nr rows, each step bytes after the other, with nr_rules different rules. */
static inline struct unwind_table *make_table(uint32_t whose, size_t nr, uint64_t step, uint32_t nr_rules)
{
	struct cfi_rows rows = { 0 };
	struct unwind_table *t = NULL;

	for (size_t i = 0; i < nr; i++) {
		struct cfi_row *row = array_push(&rows.v, &rows.nr, &rows.cap);

		*row = (struct cfi_row){ LO + i * step, { .cfa = CFA_SP } };
		row->rule.cfa_off = (int32_t)(whose << 20 | (uint32_t)i % nr_rules);
	}
	assert_int_equal(unwind_table_build(&rows, LO, LO + nr * step, &t), 0);
	cfi_rows_release(&rows);
	return t;
}
