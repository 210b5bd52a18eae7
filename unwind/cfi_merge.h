/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of one binary from several sources: its .eh_frame first, then what else is known about its
 * code.
 */
#pragma once

#include "unwind/cfi.h"

/*
 * Lets the rules of extra count where base says CFA_NONE, and before its first and after its last
 * row. The rows stay as struct cfi_rows promises; the counts stay those of base. 0, or -ENOMEM with
 * base unchanged.
 */
int cfi_rows_fill(struct cfi_rows *base, const struct cfi_rows *extra);
