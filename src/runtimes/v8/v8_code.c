/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_code.h"

#include <errno.h>
#include <string.h>

#include "src/runtimes/v8/v8_strings.h"

#define LINE 64u			/* instructions begin at a multiple of it */
#define PAGE 4096u
#define MAX_PAGES 256			/* that are looked through */
#define CODE_BYTES 64
#define MAX_HEADERS 64			/* that are looked at closely */

int v8_code_read_object(const struct target_memory *m, const struct v8_layout *l, uint64_t code,
			struct v8_code *out)
{
	uint8_t bytes[CODE_BYTES + sizeof(uint64_t)];
	const struct target_bytes v = TARGET_BYTES(bytes);
	uint32_t type;
	int err = v8_type_of(m, code, &type);

	if (!err && type != l->type_code)
		err = -ESTALE;
	if (!err)
		err = target_read(m, code - V8_TAG, bytes, sizeof(bytes));
	if (err)
		return err;
	*out = (struct v8_code){
		.code = code,
		.start = l->code_start ? target_bytes_u64(v, l->code_start)
				       : code - V8_TAG + l->stream_header,
		.size = target_bytes_u32(v, l->code_size),
		.kind = target_bytes_u32(v, l->code_flags) & V8_KIND_MASK,
		.data = target_bytes_u64(v, l->code_data),
		.positions = target_bytes_u64(v, l->code_positions),
	};
	return 0;
}

/* Whether the bytes before start are the header of code that pc is in. */
static int is_header(const struct target_memory *m, const struct v8_layout *l, uint64_t start,
		     uint64_t pc, struct v8_code *out)
{
	const uint64_t stream = start - l->stream_header + V8_TAG;
	uint64_t code = stream;
	uint32_t type;
	int err = v8_type_of(m, stream, &type);

	if (!err && type != l->type_stream)
		err = -ESTALE;
	if (!err && l->stream_code)
		err = target_read_u64(m, stream - V8_TAG + l->stream_code, &code);
	if (!err)
		err = v8_code_read_object(m, l, code, out);
	if (err)
		return err;
	return out->start == start && pc >= start && pc - start < out->size ? 0 : -ESTALE;
}

/* Addresses of user memory have 47 bits. */
static int may_be_map(uint64_t word)
{
	return (word & 3) == V8_TAG && word >> 47 == 0 && word >> 16;
}

/* Looks at the lines of one page from top downwards. 0; 1: it goes on below; or -ESTALE. */
static int look_at_page(const struct target_memory *m, const struct v8_layout *l, uint64_t begin,
			uint64_t top, uint64_t pc, unsigned *looks, struct v8_code *out)
{
	const uint64_t in_line = (0 - (uint64_t)l->stream_header) & (LINE - 1);
	uint8_t bytes[PAGE];
	const struct target_bytes v = { bytes, top - begin };
	int err = target_read(m, begin, bytes, top - begin);

	if (err)
		return err == -EFAULT ? -ESTALE : err;
	for (uint64_t at = top - begin; at >= LINE; at -= LINE) {
		const uint64_t header = at - LINE + in_line;

		if (!may_be_map(target_bytes_u64(v, header)))
			continue;
		if (!is_header(m, l, begin + header + l->stream_header, pc, out))
			return 0;
		if (++*looks > MAX_HEADERS)
			return -ESTALE;
	}
	return 1;
}

/* Pages are read one by one, because the one before the first code of a heap's page may be none. */
int v8_code_find(const struct target_memory *m, const struct v8_layout *l, uint64_t pc,
		 struct v8_code *out)
{
	const uint64_t nearest = (pc & ~(uint64_t)(LINE - 1)) - l->stream_header;
	uint64_t top = (nearest & ~(uint64_t)(LINE - 1)) + LINE;
	unsigned looks = 0;
	int found = 1;

	for (unsigned i = 0; found == 1 && i < MAX_PAGES && top > 2 * PAGE; i++) {
		const uint64_t begin = (top - 1) & ~(uint64_t)(PAGE - 1);

		found = look_at_page(m, l, begin, top, pc, &looks, out);
		top = begin;
	}
	return found == 1 ? -ESTALE : found;
}
