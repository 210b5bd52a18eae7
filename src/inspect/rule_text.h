/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rules as text, in the notation of `readelf --debug-dump=frames-interp`: "rsp+16" is where
 * the CFA (the caller's stack pointer) is, "c-16" a value that is stored 16 bytes below it, "u" a
 * register that was not changed. An expression, which is "exp" in readelf, is written out:
 * "*(rbp-8)". A register that is lost is "lost".
 */
#pragma once

#include <stdint.h>

#include "unwind/row.h"

struct rule_text {
	char cfa[48];	/* or one of "none", "root", "signal frame", "goroutine", ... */
	char fp[24], ra[24];		/* "" if cfa is one of these */
};

/* machine: e_machine, EM_X86_64 or EM_AARCH64. */
void rule_text(const struct unwind_rule *r, uint16_t machine, struct rule_text *out);

const char *rule_fp_name(uint16_t machine);		/* "rbp", "x29" */

/* The kinds of rules for a table: "sp", "fp", "plt", ...; NULL after the last one. */
const char *rule_cfa_kind(unsigned cfa);
const char *rule_cfa_kind_help(unsigned cfa);
