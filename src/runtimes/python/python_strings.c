/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python/python_strings.h"

#include <errno.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/runtimes/put_utf8.h"
#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/target_memory.h"

#define MAX_CHARACTERS 4096
#define MAX_REFERENCES (1u << 20)
#define NEVER_FREED 900000000u		/* 3.11: 999999999 at first */

/* Bits of state of a string: kind (bytes of a character), compact, ascii. */
#define STR_KIND(state) ((state) >> 2 & 7)
#define STR_COMPACT 0x20
#define STR_ASCII 0x40

bool python_is_alive(uint64_t word)
{
	const uint32_t references = (uint32_t)word;

	return !(word >> 32 & 0xffff) && references &&
	       (references < MAX_REFERENCES || references >= NEVER_FREED);
}

static int put_characters(const struct target_memory *m, uint64_t at, unsigned kind, uint64_t nr,
			  size_t max, struct byte_buf *b)
{
	uint8_t text[4 * MAX_CHARACTERS];
	int err = target_read(m, at, text, nr * kind);

	if (err)
		return err;
	for (uint64_t i = 0; i < nr && b->nr + 5 < max; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * kind, kind);
		put_utf8(b, c);
	}
	bb_u8(b, 0);
	return b->bad ? -ENOMEM : 0;
}

int python_string_read(const struct python_layout *l, const struct target_memory *m, uint64_t at,
		       size_t max, char **out)
{
	struct byte_buf b = { 0 };
	uint64_t length, references;
	uint32_t state;
	unsigned kind;
	int err = at ? target_read_u64(m, at, &references) : -ESTALE;

	if (!err && !python_is_alive(references))
		return -ESTALE;
	if (!err)
		err = target_read_u64(m, at + l->str_length, &length);
	if (!err)
		err = target_read(m, at + l->str_state, &state, sizeof(state));
	if (err)
		return err;
	kind = STR_KIND(state);
	if (!(state & STR_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
		return -ESTALE;
	if (length > MAX_CHARACTERS)
		length = MAX_CHARACTERS;
	err = put_characters(m, at + (state & STR_ASCII ? l->str_ascii : l->str_compact), kind,
			     length, max, &b);
	if (err)
		bb_release(&b);
	else
		*out = (char *)b.v;
	return err;
}

bool python_string_is(const struct python_layout *l, const struct target_memory *m, uint64_t at,
		      const char *text)
{
	uint8_t bytes[PYTHON_KEY_BYTES];
	const size_t len = strlen(text);
	const struct target_bytes object = { bytes, l->str_ascii + len };
	uint32_t state;

	if (!at || object.len > sizeof(bytes) || target_read(m, at, bytes, object.len))
		return false;
	state = target_bytes_u32(object, l->str_state);
	return STR_KIND(state) == 1 && (state & STR_COMPACT) && (state & STR_ASCII) &&
	       target_bytes_u64(object, l->str_length) == len &&
	       !memcmp(bytes + l->str_ascii, text, len);
}
