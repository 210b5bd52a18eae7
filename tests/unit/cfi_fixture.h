/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One section and the rows made of it, for tests of the reading of CFI; include behind cmocka.h. Write with
 * eh_frame.h to f->eh, parse(f), ask at(f, vaddr).
 */
#pragma once

#include "tests/unit/eh_frame.h"
#include "unwind/cfi.h"

#define LO 0x1000
#define SIZE 0x40

struct fixture {
	struct eh_frame eh;
	struct cfi_input in;
	struct cfi_rows rows;
};

static inline int cfi_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->eh.vaddr = f->in.vaddr = EH_VADDR;
	*state = f;
	return 0;
}

static inline int cfi_teardown(void **state)
{
	struct fixture *f = *state;

	cfi_rows_release(&f->rows);
	bb_release(&f->eh.b);
	free(f);
	return 0;
}

/* Parses exactly the bytes written so far: a copy, so that reading behind them is an error of memory. */
static inline void parse(struct fixture *f)
{
	uint8_t *copy = malloc(f->eh.b.nr ? f->eh.b.nr : 1);

	assert_non_null(copy);
	assert_false(f->eh.b.bad);
	if (f->eh.b.nr)
		memcpy(copy, f->eh.b.v, f->eh.b.nr);
	f->in.eh_frame = copy;
	f->in.len = f->eh.b.nr;
	assert_int_equal(cfi_parse(&f->in, &f->rows), 0);
	free(copy);
	for (size_t i = 1; i < f->rows.nr; i++) {
		assert_true(f->rows.v[i].vaddr > f->rows.v[i - 1].vaddr);
		assert_memory_not_equal(&f->rows.v[i].rule, &f->rows.v[i - 1].rule, sizeof(struct unwind_rule));
	}
}

/* One function of x86-64 at LO with these instructions. */
static inline void parse_function(struct fixture *f, struct eh_bytes instructions)
{
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);

	eh_fde(&f->eh, cie, LO, SIZE, instructions);
	parse(f);
}

static inline struct unwind_rule at(const struct fixture *f, uint64_t vaddr)
{
	return cfi_rows_find(&f->rows, vaddr);
}

static inline void assert_rule(struct unwind_rule got, struct unwind_rule want)
{
	assert_int_equal(got.cfa, want.cfa);
	assert_int_equal(got.fp, want.fp);
	assert_int_equal(got.ra, want.ra);
	assert_int_equal(got.reg, want.reg);
	assert_int_equal(got.cfa_off, want.cfa_off);
	assert_int_equal(got.fp_off, want.fp_off);
	assert_int_equal(got.aux, want.aux);
}

#define RULE(...) ((struct unwind_rule){ __VA_ARGS__ })
#define SP_RULE(off) RULE(.cfa = CFA_SP, .cfa_off = (off))

#define CFI_TEST(name) cmocka_unit_test_setup_teardown(name, cfi_setup, cfi_teardown)
