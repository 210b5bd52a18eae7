/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one instruction does to the stack pointer and the frame pointer. Unlike code_state.h, which
 * follows a path from a known state, this relates the values before and after, whatever they are.
 * Internal to code_window.c.
 */
#pragma once

#include <stdint.h>

#include "unwind/x86_insn.h"

enum code_source {
	FROM_ITSELF,			/* the register's own value before, + by */
	FROM_OTHER,			/* the other register's value before, + by */
	FROM_SLOT_AT_SP,		/* loaded from sp + by */
	FROM_SLOT_AT_FP,		/* loaded from fp + by */
	FROM_ANYWHERE,
};

struct code_change_of {
	uint8_t from;			/* enum code_source */
	int32_t by;
};

struct code_effect {
	struct code_change_of sp, fp;
	uint8_t saves_fp;		/* enum code_source of the slot that gets fp; else 0 */
	int32_t saves_at;
};

/* A call counts as one that kept the stack. */
struct code_effect code_effect_of(const struct x86_insn *insn);
