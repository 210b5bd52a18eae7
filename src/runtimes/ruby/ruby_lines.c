/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/ruby/ruby_lines.h"

#include <errno.h>
#include <string.h>

#define IN_WORD 9
#define NUMBER_BITS 7
#define BITS_OFFSET 16			/* of a block */

static uint32_t first_words(uint32_t code_words)
{
	return (code_words < RUBY_FIRST_POSITIONS ? code_words + 8 : RUBY_FIRST_POSITIONS) /
	       IN_WORD;
}

static uint32_t blocks_of(uint32_t code_words)
{
	if (code_words < RUBY_FIRST_POSITIONS)
		return 0;
	return (code_words - RUBY_FIRST_POSITIONS + RUBY_BLOCK_POSITIONS - 1) /
	       RUBY_BLOCK_POSITIONS;
}

size_t ruby_positions_bytes(uint32_t code_words)
{
	return 8 * (size_t)first_words(code_words) +
	       RUBY_BLOCK_BYTES * (size_t)blocks_of(code_words);
}

static uint64_t word_at(const uint8_t *set, size_t offset)
{
	uint64_t v;

	memcpy(&v, set + offset, sizeof(v));
	return v;
}

/* Whether an entry begins at position at, behind nr others. -1: the set cannot be. */
static int begins(const uint8_t *set, uint32_t first, uint32_t at, uint32_t nr)
{
	uint32_t in_block;
	uint64_t word;

	if (at < RUBY_FIRST_POSITIONS) {
		word = word_at(set, at / IN_WORD * 8) >> at % IN_WORD * NUMBER_BITS;
		word &= (1u << NUMBER_BITS) - 1;
		return word == nr ? 0 : word == nr + 1 ? 1 : -1;
	}
	at -= RUBY_FIRST_POSITIONS;
	in_block = at % RUBY_BLOCK_POSITIONS;
	set += first * 8 + at / RUBY_BLOCK_POSITIONS * (size_t)RUBY_BLOCK_BYTES;
	return word_at(set, BITS_OFFSET + in_block / 64 * 8) >> in_block % 64 & 1;
}

int ruby_positions(const void *set, size_t len, uint32_t code_words, uint32_t *out, uint32_t max)
{
	const uint32_t first = first_words(code_words);
	uint32_t nr = 0;

	if (len < ruby_positions_bytes(code_words))
		return -EBADMSG;
	for (uint32_t at = 0; at < code_words; at++) {
		int is = begins(set, first, at, nr);

		if (is < 0 || (is && nr >= max))
			return -EBADMSG;
		if (is)
			out[nr++] = at;
	}
	return (int)nr;
}
