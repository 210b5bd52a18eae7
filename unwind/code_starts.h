/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions start, and which of them never come back: known ones and the targets of calls,
 * found by decoding the gaps from end to end. Internal to code_rows.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/code_rows.h"

struct code_start {
	uint32_t at;			/* offset in the input's code */
	bool noreturn;
};

struct code_starts {
	struct code_start *v;		/* ascending */
	size_t nr, cap;
	uint32_t *taken;		/* offsets whose address some instruction takes; ascending,
					   some twice */
	size_t nr_taken;
};

/* 0 or -ENOMEM. Release what is there in any case. */
int code_starts_find(const struct code_input *in, struct code_starts *out);
void code_starts_release(struct code_starts *s);

/* The start at exactly this offset, or NULL; index of the first behind it. */
const struct code_start *code_starts_at(const struct code_starts *s, uint64_t at);
size_t code_starts_after(const struct code_starts *s, uint64_t at);

/*
 * Some compilers fill up with zeros (Free Pascal): the offset behind them. Two zeros are an
 * instruction that no compiler writes; a single one counts before a place where a function may
 * begin.
 */
uint64_t code_behind_zeros(const struct code_input *in, uint64_t at, uint64_t end);

/* Whether some instruction takes the address of an offset, to call it later perhaps. */
bool code_is_taken(const struct code_starts *s, uint64_t at);

/*
 * Whether the code at an offset, which ends at end, is aligned as functions are and makes a frame
 * as they do.
 */
bool code_is_prologue(const struct code_input *in, uint64_t at, uint64_t end);

/*
 * The same, for nothing but push %rbp; mov %rsp,%rbp, which has no place in the middle of a
 * function.
 */
bool code_is_frame_setup(const struct code_input *in, uint64_t at, uint64_t end);

/*
 * Whether a call that ends at an offset only comes back in speculation (a retpoline): pause, lfence
 * and a jump back are behind it, and the called code drops the return address or replaces it.
 */
bool code_is_retpoline(const struct code_input *in, uint64_t at);

/* The gap that holds the address, or NULL. Of the stubs and other sorted ranges too. */
const struct code_range *code_range_of(const struct code_range *v, size_t nr, uint64_t vaddr);

/* Whether in->noreturn has it. */
bool code_is_noreturn(const struct code_input *in, uint64_t vaddr);
