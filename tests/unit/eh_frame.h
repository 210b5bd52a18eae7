/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame sections written by hand for tests.
 *
 *	struct eh_frame eh = { .vaddr = EH_VADDR };
 *	size_t cie = eh_cie(&eh, "zR", EH_BYTES(...));		instructions of the CIE
 *	eh_fde(&eh, cie, lo, size, EH_BYTES(...));
 *	... use eh.b.v, eh.b.nr ...
 *	bb_release(&eh.b);
 *
 * eh_begin() .. eh_end() writes an entry of any other shape. Out of memory shows as eh.b.bad.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "src/base/bytes.h"

#define EH_VADDR 0x400000

/* DW_CFA */
#define ADVANCE(n) (0x40 | (n))
#define OFFSET(reg) (0x80 | (reg))
#define RESTORE(reg) (0xc0 | (reg))
enum {
	NOP = 0, SET_LOC, ADVANCE1, ADVANCE2, ADVANCE4, OFFSET_EXTENDED, RESTORE_EXTENDED, UNDEFINED, SAME_VALUE,
	REGISTER, REMEMBER, RESTORE_STATE, DEF_CFA, DEF_CFA_REGISTER, DEF_CFA_OFFSET, DEF_CFA_EXPRESSION, EXPRESSION,
	OFFSET_EXTENDED_SF, DEF_CFA_SF, DEF_CFA_OFFSET_SF, VAL_OFFSET, VAL_OFFSET_SF, VAL_EXPRESSION,
	ADVANCE8 = 0x1d, NEGATE_RA_STATE = 0x2d, ARGS_SIZE = 0x2e, NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* DW_OP */
enum { DEREF = 0x06, AND = 0x1a, MUL = 0x1e, PLUS = 0x22, PLUS_UCONST = 0x23, SHL = 0x24, GE = 0x2a };
#define LIT(n) (0x30 + (n))
#define BREG(reg) (0x70 + (reg))

/* x86-64 */
enum { RAX = 0, RBX = 3, RDI = 5, RBP = 6, RSP = 7, R10 = 10, RIP = 16 };

struct eh_bytes {
	const uint8_t *v;
	size_t nr;
};

#define EH_BYTES(...) ((struct eh_bytes){ (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) })
#define EH_NONE ((struct eh_bytes){ 0 })

/* What every compiler's CIE for x86-64 says: CFA rsp + 8, return address at CFA - 8. */
#define EH_X86_ENTRY EH_BYTES(DEF_CFA, RSP, 8, OFFSET(RIP), 1)

struct eh_frame {
	struct byte_buf b;
	uint64_t vaddr;
	uint8_t fde_encoding;	/* what eh_cie() promises; eh_fde() writes absolute addresses, 0 */
	uint8_t version;	/* 0: 1 */
	uint8_t ra_reg;		/* 0: RIP */
	uint8_t code_align;	/* 0: 1 */
	bool is_long;		/* 64-bit lengths */
	bool no_augmentation;	/* set by eh_cie(): FDEs have no augmentation data either */
};

/* Begins an entry: its length is filled in by eh_end(). Returns where it begins. */
static inline size_t eh_begin(struct eh_frame *eh)
{
	size_t at = eh->b.nr;

	bb_u32(&eh->b, eh->is_long ? 0xffffffff : 0);
	if (eh->is_long)
		bb_u64(&eh->b, 0);
	return at;
}

static inline void eh_end(struct eh_frame *eh, size_t at)
{
	size_t head = eh->is_long ? 12 : 4;
	uint64_t len;

	while ((eh->b.nr - at) % 4)
		bb_u8(&eh->b, NOP);
	len = eh->b.nr - at - head;
	if (!eh->b.bad)
		memcpy(eh->b.v + at + head - (eh->is_long ? 8 : 4), &len, eh->is_long ? 8 : 4);
}

/* The CIE up to the augmentation data. */
static inline size_t eh_begin_cie(struct eh_frame *eh, const char *augmentation)
{
	size_t at = eh_begin(eh);

	bb_u32(&eh->b, 0);
	bb_u8(&eh->b, eh->version ? eh->version : 1);
	bb_bytes(&eh->b, augmentation, strlen(augmentation) + 1);
	if (eh->version == 4) {
		bb_u8(&eh->b, 8);
		bb_u8(&eh->b, 0);
	}
	bb_uv(&eh->b, eh->code_align ? eh->code_align : 1);
	bb_u8(&eh->b, 0x78);	/* data alignment -8 */
	bb_u8(&eh->b, eh->ra_reg ? eh->ra_reg : RIP);
	return at;
}

/* A CIE with augmentation "", "zR" or "zRS". Returns where it begins, for eh_fde(). */
static inline size_t eh_cie(struct eh_frame *eh, const char *augmentation, struct eh_bytes instructions)
{
	size_t at = eh_begin_cie(eh, augmentation);

	eh->no_augmentation = !augmentation[0];
	if (!eh->no_augmentation) {
		bb_uv(&eh->b, 1);
		bb_u8(&eh->b, eh->fde_encoding);
	}
	bb_bytes(&eh->b, instructions.v, instructions.nr);
	eh_end(eh, at);
	return at;
}

static inline size_t eh_begin_fde(struct eh_frame *eh, size_t cie)
{
	size_t at = eh_begin(eh);

	bb_u32(&eh->b, (uint32_t)(eh->b.nr - cie));
	return at;
}

static inline void eh_fde(struct eh_frame *eh, size_t cie, uint64_t lo, uint64_t size, struct eh_bytes instructions)
{
	size_t at = eh_begin_fde(eh, cie);

	bb_u64(&eh->b, lo);
	bb_u64(&eh->b, size);
	if (!eh->no_augmentation)
		bb_uv(&eh->b, 0);
	bb_bytes(&eh->b, instructions.v, instructions.nr);
	eh_end(eh, at);
}
