/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python/python_slot.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Above the thread's pointer: glibc's struct pthread, of which the keys take the first 1 KiB. */
#define BLOCK_BYTES 0xa00
#define BLOCK_WORDS (BLOCK_BYTES / 8)
#define MAX_INTERPRETERS 64
#define MAX_STATES 256			/* that are looked at */

struct states {
	struct {
		uint64_t addr, pointer;		/* of its thread */
	} v[MAX_STATES];
	size_t nr;
};

/* Those of one interpreter. */
static int list_states(const struct python_layout *l, const struct target_memory *m,
		       uint64_t interpreter, struct states *s)
{
	uint64_t state, owner, pointer;
	int err = target_read_u64(m, interpreter + l->threads_head, &state);

	while (!err && state && s->nr < MAX_STATES) {
		err = target_read_u64(m, state + l->thread_interpreter, &owner);
		if (!err && owner != interpreter)
			return -ENOENT;		/* the offsets are wrong */
		if (!err)
			err = target_read_u64(m, state + l->thread_id, &pointer);
		if (err)
			return err;
		s->v[s->nr].addr = state;
		s->v[s->nr++].pointer = pointer;
		err = target_read_u64(m, state + l->thread_next, &state);
	}
	return err;
}

static int list_all(const struct python_layout *l, const struct target_memory *m, uint64_t head,
		    struct states *s)
{
	uint64_t interpreter;
	int err = target_read_u64(m, head, &interpreter);

	for (unsigned i = 0; !err && interpreter && i < MAX_INTERPRETERS; i++) {
		err = list_states(l, m, interpreter, s);
		if (!err)
			err = target_read_u64(m, interpreter + l->interpreter_next, &interpreter);
	}
	return err;
}

static bool has_state(const struct states *s, uint64_t pointer, uint64_t addr)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].addr == addr && s->v[i].pointer == pointer)
			return true;
	return false;
}

static bool is_seen(const struct states *s, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (s->v[i].pointer == s->v[nr].pointer)
			return true;
	return false;
}

/* Leaves the places that hold a state of each thread. Their number of threads, or an error. */
static int find_places(const struct target_memory *m, const struct states *s,
		       bool is_common[BLOCK_WORDS])
{
	uint64_t block[BLOCK_WORDS];
	int nr = 0;

	for (size_t k = 0; k < s->nr; k++) {
		const uint64_t pointer = s->v[k].pointer;
		int err;

		/* A state is in the list before its thread runs, and then has no thread. */
		if (!pointer || is_seen(s, k))
			continue;
		err = target_read(m, pointer, block, sizeof(block));
		if (err == -EFAULT)
			continue;		/* the thread is gone */
		if (err)
			return err;
		for (unsigned i = 0; i < BLOCK_WORDS; i++)
			is_common[i] = is_common[i] && has_state(s, pointer, block[i]);
		nr++;
	}
	return nr;
}

int python_slot_find(const struct python_layout *l, const struct target_memory *m, uint64_t head,
		     int32_t *slot)
{
	bool is_common[BLOCK_WORDS];
	struct states s = { .nr = 0 };
	int err = list_all(l, m, head, &s), nr;

	if (err)
		return err;
	memset(is_common, true, sizeof(is_common));
	nr = find_places(m, &s, is_common);
	if (nr <= 0)
		return nr ? nr : -EAGAIN;
	for (unsigned i = BLOCK_WORDS; i-- > 0;) {
		if (!is_common[i])
			continue;
		*slot = (int32_t)(i * 8);
		return *slot ? 0 : -ENOENT;
	}
	return -ENOENT;
}
