/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions start, and which of them never return. These are the known functions and the
 * targets of calls, which are found by decoding the gaps from end to end. Internal to code_rows.c.
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
	uint32_t *taken;		/* offsets whose address is taken; ascending, some twice */
	size_t nr_taken;
};

/* 0 or -ENOMEM; release *out in any case. */
int code_starts_find(const struct code_input *in, struct code_starts *out);
void code_starts_release(struct code_starts *s);

/* The start at exactly this offset, or NULL; the index of the first one after it. */
const struct code_start *code_starts_at(const struct code_starts *s, uint64_t at);
size_t code_starts_after(const struct code_starts *s, uint64_t at);

/*
 * The offset after the zeros at at, with which some compilers (Free Pascal) pad. Two zeros are an
 * instruction that no compiler writes; a single zero counts only before a place where a function
 * may begin.
 */
uint64_t code_behind_zeros(const struct code_input *in, uint64_t at, uint64_t end);

/* Whether an instruction takes the address of an offset, perhaps to call it later. */
bool code_is_taken(const struct code_starts *s, uint64_t at);

/*
 * Whether the code from an offset to end - 1 is aligned like a function and makes a frame like one.
 */
bool code_is_prologue(const struct code_input *in, uint64_t at, uint64_t end);

/*
 * Whether the code there is push %rbp; mov %rsp,%rbp alone, wherever it is: functions that are
 * compiled for size are not aligned. Behind a call or a return it does not occur in the middle of a
 * function.
 */
bool code_is_frame_setup(const struct code_input *in, uint64_t at, uint64_t end);

/*
 * Whether a call that ends at an offset returns only in speculation (a retpoline): pause, lfence
 * and a jump back follow it, and the called code drops the return address or replaces it.
 */
bool code_is_retpoline(const struct code_input *in, uint64_t at);

/* The range (a gap, a stub) that holds the address, or NULL. v must be sorted. */
const struct code_range *code_range_of(const struct code_range *v, size_t nr, uint64_t vaddr);

/* Whether in->noreturn has it. */
bool code_is_noreturn(const struct code_input *in, uint64_t vaddr);
