/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One Go function of x86-64 -> rows: from the depth of its stack, its code (where is the frame
 * pointer saved?) and, for the functions of the runtime that switch stacks, its name. Internal to
 * go_table.c.
 */
#pragma once

#include "src/base/bytes.h"
#include "unwind/cfi.h"

#define GO_FLAG_SPWRITE 2	/* abi.FuncFlagSPWrite: sets the stack pointer as its table cannot
				   say */

struct go_function {
	uint64_t lo, hi;		/* hi: where the next one begins */
	const uint8_t *code;		/* at lo; hi - lo bytes */
	const char *name;		/* ends in its bytes */
	uint8_t flags;			/* 0 of versions that have none */
	struct byte_reader depths;	/* pairs of varints: change of depth, bytes of code with
					   it */
};

/* Appends its rows. 0, -ENOMEM, or -EBADMSG: its depths are damaged; there are rows up to there. */
int go_rules_add(const struct go_function *f, struct cfi_rows *out);
