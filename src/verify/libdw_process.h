/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory layout of a past process for libdw, so that elfutils can unwind recorded registers and
 * stack bytes in it. Nothing of probee's own unwinder is used here.
 *
 *	libdw_process_new(modules, nr, &p)
 *	libdw_process_unwind(p, stack, &result) ...	any number of times
 *	libdw_process_free(p)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct libdw_process;

struct libdw_module {
	const char *name;
	int fd;				/* owned by the caller */
	uint64_t bias;			/* virtual address in the file + bias = address */
};

struct libdw_stack {
	const uint64_t *regs;	/* registers in the order of the kernel's struct user_regs */
	uint64_t start;			/* address of bytes[0] */
	const uint8_t *bytes;
	size_t len;
};

#define LIBDW_MAX_FRAMES 2048

struct libdw_result {
	uint64_t pc[LIBDW_MAX_FRAMES];	/* return addresses are not reduced by 1 */
	/* True: the address of an instruction that was executing, not a return address. */
	bool exact[LIBDW_MAX_FRAMES];
	uint32_t nr;
	bool out_of_memory_image;	/* libdw wanted memory that was not recorded */
	/* Why libdw stopped; NULL: at an outermost frame. Valid until the next call of libdw. */
	const char *why;
};

/* Modules that libdw refuses are left out. 0 or -ENOMEM. */
int libdw_process_new(const struct libdw_module *modules, size_t nr, struct libdw_process **pp);
void libdw_process_free(struct libdw_process *p);	/* NULL is fine */

void libdw_process_unwind(struct libdw_process *p, const struct libdw_stack *stack,
			  struct libdw_result *out);

/* True if libdw has a rule for the instruction. Otherwise it guesses by the frame pointer. */
bool libdw_process_has_cfi(struct libdw_process *p, uint64_t instruction);

/* Name of the function at this address, or NULL; *offset is the offset of the address in it. */
const char *libdw_process_symbol(struct libdw_process *p, uint64_t instruction, uint64_t *offset);
