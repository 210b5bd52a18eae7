/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where Perl keeps what a frame walk and names need (perl.h, intrpvar.h, cop.h, cv.h, gv.h, hv.h),
 * in builds with MULTIPLICITY, for 64 bits. An interpreter has a chain of stacks (PERL_SI), a new
 * one for each sort, tie, overloaded operator and so on; a stack has an array of contexts: subs,
 * evals, blocks, loops. All but the fields of struct perl_layout are in the same places from 5.32
 * to 5.40, says each version's own compiler output.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	PERL_STACK_CONTEXTS = 8, PERL_STACK_PREVIOUS = 16, PERL_STACK_INDEX = 32,
	PERL_CX_BYTES = 104, PERL_CX_TYPE = 0, PERL_CX_OLD_COP = 16, PERL_CX_RETOP = 48,
	PERL_CX_NAME = 64,		/* of an eval: of the file, or NULL */
	PERL_CX_CV = 72,
	PERL_CX_ENV = 96,		/* of an eval: what it was started in, on the C stack */
	PERL_COP_TYPE = 32, PERL_COP_LINE = 36, PERL_COP_FILE = 48,
	PERL_SV_ANY = 0, PERL_SV_FLAGS = 12, PERL_SV_U = 16,
	PERL_CV_STASH = 32, PERL_CV_ROOT = 48, PERL_CV_GV = 56, PERL_CV_FILE = 64,
	PERL_CV_FLAGS = 92,
	PERL_GP_EGV = 56, PERL_GV_NAME = 32, PERL_GV_STASH = 40,
	PERL_HV_MAX = 24, PERL_AUX_NAME = 0, PERL_AUX_NAMES = 28,
	PERL_HEK_LENGTH = 4, PERL_HEK_KEY = 8,
};

/* Types of contexts, and flags of these. */
enum {
	PERL_CX_NULL = 0, PERL_CX_SUB = 9, PERL_CX_FORMAT = 10, PERL_CX_EVAL = 11,
	PERL_CX_TYPES = 15, PERL_CX_IS_BLOCK = 64,	/* eval { }, try { } */
};

/* Types of what an SV is, and flags of a CV. */
enum {
	PERL_SV_TYPES = 255, PERL_SV_GV = 9, PERL_SV_HV = 12, PERL_SV_CV = 13, PERL_SV_FM = 14,
	PERL_CV_IS_NAMED = 0x8000,
};

struct perl_layout {
	uint32_t minor;			/* of version 5 */
	uint32_t cop, stack;		/* PerlInterpreter: PL_curcop, PL_curstackinfo */
	uint32_t stash_aux;		/* xpvhv: struct xpvhv_aux; 0: behind the array */
};

struct perl_image {
	struct perl_layout layout;
	uint32_t has_globals;		/* no MULTIPLICITY */
};

/* 0, or -ENOTSUP: no such row. */
int perl_layout_of(uint32_t minor, struct perl_layout *out);

bool perl_layout_is_sound(const struct perl_layout *l);
