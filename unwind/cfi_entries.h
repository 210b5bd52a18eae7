/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of one .eh_frame section: CIEs, which functions share, and FDEs, one per function
 * (LSB 5, 10.6). Internal to the reading of CFI.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "unwind/cfi_input.h"
#include "unwind/cfi_rows.h"
#include "unwind/cfi_program.h"

struct cfi_fde {
	uint64_t lo, hi;		/* covers lo .. hi - 1; never empty */
	struct byte_reader instructions;
	uint32_t cie;			/* index */
	uint32_t order;			/* place in the section */
};

struct cfi_entries {
	struct cfi_cie *cies;		/* in the order of the section, so ascending by offset */
	size_t nr_cies, cap_cies;
	struct cfi_fde *fdes;		/* sorted by lo, then by their order in the section */
	size_t nr_fdes, cap_fdes;
};

/*
 * Reads the whole section, or the FDEs that in->fdes names and their CIEs. *out must be all zero
 * before. 0 or -ENOMEM; release it in any case.
 */
int cfi_entries_read(const struct cfi_input *in, struct cfi_entries *out, struct cfi_stats *stats);
void cfi_entries_release(struct cfi_entries *e);
