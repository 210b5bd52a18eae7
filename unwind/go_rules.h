/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the rows of one Go function of x86-64 from the depth of its stack, from its code (where it
 * saves the frame pointer) and, for the functions of the runtime that switch stacks, from its name.
 * Internal to go_table.c.
 */
#pragma once

#include "src/base/bytes.h"
#include "unwind/cfi.h"
#include "unwind/go_runtime.h"

#define GO_FLAG_SPWRITE 2	/* abi.FuncFlagSPWrite: its table does not know all depths */

struct go_function {
	uint64_t lo, hi;		/* hi: where the next one begins */
	const uint8_t *code;		/* at lo; hi - lo bytes */
	const char *name;		/* ends with a NUL */
	uint8_t flags;			/* 0 in versions without flags */
	const struct go_runtime *runtime;
	struct byte_reader depths;	/* pairs of varints: change of depth, bytes of code */
};

/* Appends its rows. 0, -ENOMEM, or -EBADMSG: its depths are damaged; earlier rows are appended. */
int go_rules_add(const struct go_function *f, struct cfi_rows *out);
