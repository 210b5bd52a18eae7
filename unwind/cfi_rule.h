/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns what call frame instructions say at one place into a rule of the unwinder. Internal to the
 * reading of CFI.
 */
#pragma once

#include "unwind/cfi_program.h"
#include "unwind/row.h"

struct unwind_rule cfi_rule(const struct cfi_state *s, const struct cfi_cie *cie,
			    const struct cfi_arch *arch);
