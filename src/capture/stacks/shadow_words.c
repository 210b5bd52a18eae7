/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/shadow_words.h"

#include <stdbool.h>
#include <string.h>

#include "unwind/unwind_limits.h"

static bool is_at(uint64_t word, uint64_t pc)
{
	return !(word & (UNWIND_RUNTIME | UNWIND_SHADOW)) && !((word ^ pc) & UNWIND_ADDRESS_MASK);
}

size_t shadow_words_before(const uint64_t *words, size_t nr, uint64_t pc)
{
	size_t i = nr > 1 && words[0] & UNWIND_SHADOW && !(words[0] & UNWIND_RUNTIME);

	return i + (nr - i > 1 && !is_at(words[i], pc) && is_at(words[i + 1], pc));
}

size_t shadow_words_merge(const uint64_t *old, size_t nr_old, const uint64_t *found, size_t nr,
			  uint64_t *out)
{
	size_t before = nr ? shadow_words_before(old, nr_old, found[0]) : 0, at = 0, n = 0;

	for (size_t i = 0; i < nr_old; i++) {
		uint64_t word = old[i];

		if (word & UNWIND_RUNTIME) {
			if (i + 1 == nr_old || nr - at < 2 || found[at] != word)
				break;
			out[n++] = found[at++];
			word = found[at++];
			i++;
		} else if (word & UNWIND_SHADOW || i < before) {
			if (n + nr - at == UNWIND_MAX_FRAMES)
				break;
		} else {
			if (at == nr || (word ^ found[at]) & UNWIND_ADDRESS_MASK)
				break;
			word = found[at++] | (i == before ? word & UNWIND_RETURN_ADDRESS : 0);
		}
		out[n++] = word;
	}
	memcpy(out + n, found + at, (nr - at) * sizeof(*out));
	return n + nr - at;
}
