/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/runtime_shift.h"

#include "src/capture/tables/process_runtimes.h"
#include "src/runtimes/runtime.h"
#include "unwind/unwind_limits.h"

struct loops {
	const struct runtime_image *image;
	uint64_t bias;
	const uint64_t *words;
	size_t nr;
	size_t nr_loops, nr_empty, nr_frames;
	size_t last;			/* the outermost loop */
};

/* The runtime of the first frame, if its loops have one each. */
static bool find_runtime(struct loops *l, struct process_runtimes *r, const struct process *p)
{
	size_t i = 0;

	while (i < l->nr && !(l->words[i] & UNWIND_RUNTIME))
		i++;
	if (i == l->nr)
		return false;
	l->image = process_runtimes_of(r, p, l->words[i] >> UNWIND_RUNTIME_SLOT_SHIFT, &l->bias);
	return l->image && runtime_has_one_each(l->image);
}

static bool is_loop(const struct loops *l, uint64_t word)
{
	uint64_t at = (word & UNWIND_ADDRESS_MASK) - !!(word & UNWIND_RETURN_ADDRESS) - l->bias;

	for (uint32_t i = 0; !(word & UNWIND_SHADOW) && i < l->image->nr_loops; i++)
		if (at - l->image->loops[i].lo < l->image->loops[i].hi - l->image->loops[i].lo)
			return true;
	return false;
}

/* Counts. false: frames are missing, or more than one follows a loop. */
static bool count_loops(struct loops *l)
{
	bool in_loop = false;

	for (size_t i = 0; i < l->nr; i++) {
		if (l->words[i] & UNWIND_RUNTIME) {
			if (!in_loop || (l->words[i] >> UNWIND_RUNTIME_KIND_SHIFT &
					 UNWIND_RUNTIME_KINDS) == RUNTIME_FRAME_MARK)
				return false;
			in_loop = false;
			l->nr_frames++;
			i++;
			continue;
		}
		l->nr_empty += in_loop;
		in_loop = is_loop(l, l->words[i]);
		if (in_loop)
			l->last = i;
		l->nr_loops += in_loop;
	}
	l->nr_empty += in_loop;
	return true;
}

bool runtime_shift(struct process_runtimes *r, const struct process *p, const uint64_t *words,
		   size_t nr, uint64_t *out)
{
	struct loops l = { .words = words, .nr = nr };
	const uint64_t *frame = NULL;		/* of the loop before */
	size_t n = 0;

	if (!find_runtime(&l, r, p) || !count_loops(&l) || l.nr_empty != 1 || !l.nr_frames ||
	    (l.last + 1 < nr && words[l.last + 1] & UNWIND_RUNTIME))
		return false;
	for (size_t i = 0; i < nr; i++) {
		bool has_frame = i + 2 < nr && words[i + 1] & UNWIND_RUNTIME;

		out[n++] = words[i];
		if (frame && is_loop(&l, words[i])) {
			out[n++] = frame[0];
			out[n++] = frame[1];
		}
		if (!has_frame)
			continue;
		frame = &words[i + 1];
		i += 2;
	}
	return n == nr;
}
