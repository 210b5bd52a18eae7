/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random frame programs over random memory: none may run for ever, write outside of its registers
 * and frames, or give frames that wire_decode() would refuse.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/frame_replay.h"

struct bytes {
	const uint8_t *v;
	size_t len;
};

/* All of memory is the input over and over, but for every seventh page. */
static int read_bytes(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct bytes *b = ctx;
	uint8_t *to = buf;
	size_t done;

	if (!b->len || addr / UNWIND_MEMORY_PAGE % 7 == 3)
		return 1;
	for (done = 0; done < len && done < b->len; done++)
		to[done] = b->v[(addr + done) % b->len];
	/* What is there is a whole number of rounds. */
	for (; done < len; done *= 2)
		memcpy(to + done, to, done < len - done ? done : len - done);
	return 0;
}

static void check(const struct frame_replay_result *r)
{
	if (r->nr > UNWIND_MAX_FRAMES || r->nr % 2 || r->turns > PROGRAM_MAX_TURNS + 1)
		abort();
	for (uint32_t i = 0; i < r->nr; i += 2)
		if (!(r->words[i] & UNWIND_RUNTIME))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct frame_replay_result result;
	static const struct frame_loop loops[] = { { 16, 64 }, { 64, 4096 }, { 4096, UINT64_MAX } };
	struct frame_program program = { 0 };
	struct bytes memory;
	struct frame_replay_input in = { .program = &program, .read = read_bytes, .ctx = &memory };
	size_t n = size / 2 < sizeof(program.ops) ? size / 2 : sizeof(program.ops);

	program.nr = PROGRAM_MAX_OPS;
	memcpy(program.ops, data, n);
	/* Half of all operations exist. */
	for (size_t i = 0; i < PROGRAM_MAX_OPS; i++)
		if (program.ops[i].op & 64)
			program.ops[i].op %= OP_NR;
	memory = (struct bytes){ data + n, size - n };
	for (size_t i = 0; i < PROGRAM_CONSTS && i < memory.len; i++)
		in.consts[i] = (uint64_t)memory.v[i] << (i * 5);
	frame_replay(&in, &result);
	check(&result);
	in.loops = loops;
	in.nr_loops = 3;
	frame_replay(&in, &result);
	check(&result);
	return 0;
}
