/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_heaps.h"

#include <errno.h>

#include "src/runtimes/cached_memory.h"
#include "src/runtimes/hotspot/hotspot_program.h"
#include "unwind/frame_program.h"

#define MAX_HEAP (4ull << 30)
#define MIN_SHIFT 3
#define MAX_SHIFT 20

static int read_u32(const struct target_memory *m, uint64_t addr, uint32_t *v)
{
	return target_read(m, addr, v, sizeof(*v));
}

static int read_heap(const struct hotspot_layout *l, const struct target_memory *m, uint64_t at,
		     struct unwind_heap *out)
{
	uint64_t memory = at + l->heap_memory, end = 0;
	uint32_t shift = 0;
	int err = target_read_u64(m, memory + l->space_low, &out->begin);

	if (!err)
		err = target_read_u64(m, memory + l->space_high, &end);
	if (!err)
		err = target_read_u64(m, at + l->heap_segmap + l->space_low, &out->map);
	if (!err)
		err = read_u32(m, at + l->heap_shift, &shift);
	if (err)
		return err;
	if (!out->begin || !out->map || end <= out->begin)
		return -EAGAIN;
	out->bytes = end - out->begin;
	out->shift = shift;
	return out->bytes > MAX_HEAP || shift < MIN_SHIFT || shift > MAX_SHIFT ? -ENOTSUP : 0;
}

static int read_heaps(const struct hotspot_layout *l, uint64_t bias,
		      const struct target_memory *m, struct unwind_runtime *rt)
{
	uint64_t array = 0, data = 0, at = 0;
	uint32_t nr = 0;
	int err = target_read_u64(m, l->heaps_vaddr + bias, &array);

	if (!err && !array)
		return -EAGAIN;
	if (!err)
		err = read_u32(m, array + l->array_len, &nr);
	if (!err)
		err = target_read_u64(m, array + l->array_data, &data);
	if (!err && (!nr || !data))
		return -EAGAIN;
	if (!err && nr > PROGRAM_HEAPS)
		return -ENOTSUP;
	for (uint32_t i = 0; i < nr && !err; i++) {
		err = target_read_u64(m, data + 8 * i, &at);
		if (!err)
			err = read_heap(l, m, at, &rt->heaps[i]);
	}
	return err;
}

/*
 * It is made when all heaps are there. While it is made it has more room than it will need, which
 * is given to others then.
 */
static int read_interpreter(const struct hotspot_layout *l, uint64_t bias,
			    const struct target_memory *m, struct unwind_runtime *rt)
{
	uint64_t queue = 0, begin = 0;
	uint32_t bytes = 0, used = 0;
	int err = target_read_u64(m, l->interpreter_vaddr + bias, &queue);

	if (!err && !queue)
		return -EAGAIN;
	if (!err)
		err = target_read_u64(m, queue + l->queue_buffer, &begin);
	if (!err)
		err = read_u32(m, queue + l->queue_limit, &bytes);
	if (!err)
		err = read_u32(m, queue + l->queue_end, &used);
	if (!err && (!begin || !bytes || used != bytes))
		return -EAGAIN;
	rt->consts[HOTSPOT_CONST_INTERPRETER] = begin;
	rt->consts[HOTSPOT_CONST_INTERPRETER_END] = begin + bytes;
	return err;
}

int hotspot_heaps_read(const struct hotspot_layout *l, uint64_t bias,
		       const struct target_memory *m, struct unwind_runtime *rt)
{
	struct cached_memory *c;
	int err = read_interpreter(l, bias, m, rt);

	if (err)
		return err;
	/* Nothing of the heaps is read before the interpreter is there. */
	c = cached_memory_new(m);
	if (!c)
		return -ENOMEM;
	err = read_heaps(l, bias, cached_memory_view(c), rt);
	cached_memory_free(c);
	return err;
}
