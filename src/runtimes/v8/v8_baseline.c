/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of baseline code has one number for its beginning and one for each bytecode: how many
 * bytes of code were made. Where bytecodes begin follows from their lengths, which V8 keeps in a
 * table of its own (v8_layout.bytecode_sizes): a row for each width of operands, which prefixes
 * choose.
 */
#include "src/runtimes/v8/v8_baseline.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_BYTECODES (4u << 20)	/* bytes */
#define NR_PREFIXES 4			/* wide, extra wide, and the same for debuggers */

/* The bytes of the bytecode at v, with its prefix; 0: it does not end there. */
static uint32_t length_of(const struct v8_layout *l, const uint8_t *v, size_t left)
{
	const uint32_t nr = l->nr_bytecodes;
	uint32_t row = 0, prefix = 0, length;

	if (left && v[0] < NR_PREFIXES) {
		row = 1 + (v[0] & 1);
		prefix = 1;
	}
	if (left <= prefix || v[prefix] >= nr)
		return 0;
	length = prefix + l->bytecode_sizes[row * nr + v[prefix]];
	return length > prefix && length <= left ? length : 0;
}

static int place(const struct v8_layout *l, const uint8_t *bytecodes, size_t bytes,
		 const uint8_t *table, size_t table_bytes, struct v8_position *v, size_t nr)
{
	size_t at = 0, table_at = 0, next = 0;
	int bad = 0;
	uint32_t code = v8_table_number(table, table_bytes, &table_at, &bad);

	while (at < bytes && !bad) {
		uint32_t length = length_of(l, bytecodes + at, bytes - at);

		if (!length)
			return -ESTALE;
		for (; next < nr && v[next].offset < at + length; next++)
			v[next].offset = code;
		code += v8_table_number(table, table_bytes, &table_at, &bad);
		at += length;
	}
	return (int)next;
}

int v8_baseline_place(const struct target_memory *m, const struct v8_layout *l, uint64_t bytecodes,
		      const struct v8_code *code, struct v8_position *v, size_t nr)
{
	uint8_t *code_bytes = NULL, *table = NULL;
	uint64_t bytes;
	int err = target_read_u64(m, bytecodes - V8_TAG + V8_ARRAY_LENGTH, &bytes), table_bytes;

	bytes >>= 32;
	if (!err && (!l->nr_bytecodes || bytes > MAX_BYTECODES))
		err = -ENOTSUP;
	if (err)
		return err;
	table_bytes = v8_bytes_read(m, code->positions, &table);
	code_bytes = table_bytes < 0 ? NULL : malloc(bytes + 1);
	if (table_bytes < 0 || !code_bytes)
		err = table_bytes < 0 ? table_bytes : -ENOMEM;
	for (uint64_t done = 0; !err && done < bytes; done += TARGET_READ_BYTES)
		err = target_read(m, bytecodes - V8_TAG + l->bytecode_data + done,
				  code_bytes + done,
				  bytes - done < TARGET_READ_BYTES ? bytes - done
								   : TARGET_READ_BYTES);
	if (!err)
		err = place(l, code_bytes, bytes, table, (size_t)table_bytes, v, nr);
	free(code_bytes);
	free(table);
	return err;
}
