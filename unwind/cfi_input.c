/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_input.h"

#include <errno.h>

#include "src/base/bytes.h"
#include "unwind/cfi_pointer.h"

#define LONG_LENGTH 0xffffffffu		/* the length proper follows in 8 bytes */

size_t cfi_terminated_len(const uint8_t *eh_frame, size_t len)
{
	struct byte_reader r = br_make(eh_frame, len);

	while (br_left(&r) >= 4) {
		uint64_t n = br_u32(&r);

		if (!n)
			break;
		br_bytes(&r, n == LONG_LENGTH ? br_u64(&r) : n);
	}
	return (size_t)(r.p - eh_frame);
}

int cfi_find_by_header(const uint8_t *hdr, size_t len, uint64_t hdr_vaddr, uint64_t *vaddr)
{
	/* In this header datarel counts from the header itself. */
	struct cfi_input in = {
		.eh_frame = hdr, .len = len, .vaddr = hdr_vaddr, .got_vaddr = hdr_vaddr
	};
	struct byte_reader r = br_make(hdr, len);
	uint8_t version = br_u8(&r), encoding = br_u8(&r);

	br_u16(&r);	/* encodings of the search table */
	*vaddr = cfi_pointer(&r, encoding, &in);
	return r.bad || version != 1 ? -EBADMSG : 0;
}
