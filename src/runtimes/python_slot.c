/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python_slot.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Above the thread's pointer: glibc's struct pthread, of which the keys take the first 1 KiB. */
#define BLOCK_BYTES 0xa00
#define BLOCK_WORDS (BLOCK_BYTES / 8)
#define MAX_INTERPRETERS 64
#define MAX_THREADS 64			/* that are looked at */

struct places {
	bool is_common[BLOCK_WORDS];
	unsigned nr_threads;
};

/* Leaves the places that hold the state of this thread. */
static int look_at_thread(const struct python_layout *l, const struct target_memory *m,
			  uint64_t state, struct places *p)
{
	uint64_t pointer, block[BLOCK_WORDS];
	int err = target_read_u64(m, state + l->thread_id, &pointer);

	if (err)
		return err;
	/* A state is in the list before its thread runs, and then has no thread. */
	if (!pointer)
		return 0;
	err = target_read(m, pointer, block, sizeof(block));
	if (err == -EFAULT)
		return 0;	/* the thread is gone */
	if (err)
		return err;
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		if (block[i] != state)
			p->is_common[i] = false;
	p->nr_threads++;
	return 0;
}

static int look_at_interpreter(const struct python_layout *l, const struct target_memory *m,
			       uint64_t interpreter, struct places *p)
{
	uint64_t state, owner;
	int err = target_read_u64(m, interpreter + l->threads_head, &state);

	for (unsigned i = 0; !err && state && i < MAX_THREADS; i++) {
		err = target_read_u64(m, state + l->thread_interpreter, &owner);
		if (!err && owner != interpreter)
			return -ENOENT;		/* the offsets are wrong */
		if (!err)
			err = look_at_thread(l, m, state, p);
		if (!err)
			err = target_read_u64(m, state + l->thread_next, &state);
	}
	return err;
}

int python_slot_find(const struct python_layout *l, const struct target_memory *m, uint64_t head,
		     int32_t *slot)
{
	struct places p;
	uint64_t interpreter;
	int err = target_read_u64(m, head, &interpreter);

	if (err)
		return err;
	p.nr_threads = 0;
	memset(p.is_common, true, sizeof(p.is_common));
	/*
	 * Only the first interpreter that has threads counts: a thread that has run in several has
	 * a state in each, and the key has only one of them.
	 */
	for (unsigned i = 0; interpreter && !p.nr_threads && i < MAX_INTERPRETERS; i++) {
		err = look_at_interpreter(l, m, interpreter, &p);
		if (!err)
			err = target_read_u64(m, interpreter + l->interpreter_next, &interpreter);
		if (err)
			return err;
	}
	if (!p.nr_threads)
		return -EAGAIN;
	for (unsigned i = BLOCK_WORDS; i-- > 0;) {
		if (!p.is_common[i])
			continue;
		*slot = (int32_t)(i * 8);
		return *slot ? 0 : -ENOENT;
	}
	return -ENOENT;
}
