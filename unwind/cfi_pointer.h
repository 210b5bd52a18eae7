/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encoded pointers and signed LEB128 numbers of .eh_frame (LSB 5, 10.5.1). Internal to the reading
 * of CFI.
 */
#pragma once

#include <stdint.h>

#include "src/base/bytes.h"
#include "unwind/cfi_input.h"

/*
 * Reads a pointer at r, which reads in->eh_frame. Sets r->bad for a pointer that needs the running
 * process (indirect), that is left out, or that has no meaning here (relative to a function).
 */
uint64_t cfi_pointer(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in);

/* Reads the number without adding a base: the size of a range. */
uint64_t cfi_pointer_bare(struct byte_reader *r, uint8_t encoding);

/* Steps over a pointer of any encoding. */
void cfi_pointer_skip(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in);
