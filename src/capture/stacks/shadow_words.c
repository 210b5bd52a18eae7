/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/shadow_words.h"

#include <string.h>

#include "unwind/unwind_limits.h"

size_t shadow_words_merge(const uint64_t *old, size_t nr_old, const uint64_t *found, size_t nr,
			  uint64_t *out)
{
	size_t at = 0, n = 0;

	for (size_t i = 0; i < nr_old; i++) {
		uint64_t word = old[i];

		if (word & UNWIND_RUNTIME) {
			if (i + 1 == nr_old || nr - at < 2 || found[at] != word)
				break;
			out[n++] = found[at++];
			word = found[at++];
			i++;
		} else if (word & UNWIND_SHADOW) {
			if (n + nr - at == UNWIND_MAX_FRAMES)
				break;
		} else {
			if (at == nr || (word ^ found[at]) & UNWIND_ADDRESS_MASK)
				break;
			word = found[at++];
		}
		out[n++] = word;
	}
	memcpy(out + n, found + at, (nr - at) * sizeof(*out));
	return n + nr - at;
}
