/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What call frame information is read from (cfi.h): a section's bytes, and the code beside them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum cfi_machine { CFI_X86_64, CFI_AARCH64 };

struct cfi_input {
	const uint8_t *eh_frame;
	size_t len;
	uint64_t vaddr;			/* of the first byte */
	uint64_t text_vaddr;		/* base for DW_EH_PE_textrel; 0 usually */
	uint64_t got_vaddr;		/* base for DW_EH_PE_datarel; 0 usually */
	enum cfi_machine machine;
	/*
	 * Copies code; returns 0 unless it cannot be read. NULL: rules that come from code are not
	 * looked for (cfi_callsite.h, cfi_eh_return.h).
	 */
	int (*read_code)(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len);
	/*
	 * A part of the section: the offsets of the FDEs that are wanted, ascending. load() fills
	 * in bytes of eh_frame before they are read, so it need not hold any before. It returns 0
	 * unless they cannot be read. NULL: all FDEs are wanted, and eh_frame holds the section.
	 */
	const uint64_t *fdes;
	size_t nr_fdes;
	int (*load)(void *ctx, uint64_t offset, uint64_t len);
	void *ctx;
};

/*
 * For files without section headers. The header (PT_GNU_EH_FRAME) says where .eh_frame begins: 0 or
 * -EBADMSG. Nothing says how long it is: it ends, terminator included, cfi_terminated_len() bytes
 * from there.
 */
int cfi_find_by_header(const uint8_t *hdr, size_t len, uint64_t hdr_vaddr, uint64_t *vaddr);
size_t cfi_terminated_len(const uint8_t *eh_frame, size_t len);
