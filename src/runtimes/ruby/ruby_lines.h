/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of CRuby's instruction sequences. There are entries, each with a line, and a set of the
 * positions (numbers of words of code) at which they begin. For each position below 54
 * (RUBY_FIRST_POSITIONS) it has the number of entries that began up to it, nine numbers of 7 bits
 * in a word; then blocks of 512 positions: how many entries began before the block, how many in
 * each 64 of it, and a bit for each position.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RUBY_FIRST_POSITIONS 54
#define RUBY_BLOCK_POSITIONS 512
#define RUBY_BLOCK_BYTES 80

/* How many bytes the set takes for code of that many words. */
size_t ruby_positions_bytes(uint32_t code_words);

/*
 * The position of each entry to out[], at most max. How many there are, or -EBADMSG: more, or those
 * do not agree.
 */
int ruby_positions(const void *set, size_t len, uint32_t code_words, uint32_t *out, uint32_t max);
