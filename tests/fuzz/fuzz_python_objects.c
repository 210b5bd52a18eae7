/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process of anybody's making, as src/runtimes reads it. One byte: the version; one byte: which reads fail;
 * the others are the memory, again and again at all addresses, so that every pointer leads somewhere. Checks what runtime.h
 * promises: names end and are no longer than they may be, lines are found in bounded time, the program is sound.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/python/python_slot.h"
#include "src/runtimes/runtime.h"
#include "unwind/frame_replay.h"
#include "tests/fuzz/target_bytes.h"
#include "tests/unit/runtime_own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return read_at_most(ctx, addr, buf, len, 40000);
}

static void check_code(const struct runtime_code *c)
{
	uint32_t line;

	require(strlen(c->name) < RUNTIME_NAME_BYTES && strlen(c->file) < RUNTIME_FILE_BYTES);
	for (uint32_t i = 0; i < 600; i += 2) {
		int err = runtime_code_line(c, i, &line);

		require(!err || err == -ENODATA || err == -ESTALE);
	}
	require(runtime_code_line(c, INT32_MAX, &line) == -ESTALE);
}

/* The walk ends, whatever the frames are. */
static void replay(const struct frame_program *program, const struct target_memory *m, uint8_t slot)
{
	const struct frame_loop loops[4] = { { 0, 256 }, { 256, 1024 }, { 1024, 4096 }, { 0, UINT64_MAX } };
	static struct frame_replay_result result;
	const struct frame_replay_input in = { .program = program, .consts = { 8, slot }, .thread_pointer = 64,
					       .read = m->read, .ctx = m->ctx, .loops = loops, .nr_loops = 4 };

	frame_replay(&in, &result);
	require(result.nr <= UNWIND_MAX_FRAMES && result.nr_loops <= 4 && result.turns <= PROGRAM_MAX_TURNS + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct runtime_image image = { .kind = RUNTIME_PYTHON, .is_known = 1 };
	struct memory memory = { data + 2, len - 2, 0, 0 };
	const struct target_memory m = { read_memory, &memory };
	struct frame_program program;
	int32_t slot;

	if (len < 16)
		return 0;
	memory.fail_mask = data[1];
	image.version = 0x03080000 + (uint32_t)(data[0] % 8) * 0x10000;
	if (python_layout_of(image.version >> 16 & 0xff, OWN(python_layout, image)) &&
	    python_layout_told(data + 2, (uint32_t)(len - 2), OWN(python_layout, image)))
		return 0;
	require(runtime_image_is_sound(&image) && !runtime_program(&image, &program));
	/* The cookie and the type are those that are there, so that reading goes on. */
	for (uint64_t code = 0; code < 64; code += 8) {
		struct runtime_code *c = NULL;
		uint64_t v = 0;

		target_read_u64(&m, code + (OWN(python_layout, image)->code_version ? OWN(python_layout, image)->code_version
								      : OWN(python_layout, image)->code_lines), &v);
		if (!runtime_code_read(&image, 0, &m, RUNTIME_FRAME_INTERPRETED, code, (uint32_t)v, &c))
			check_code(c);
		runtime_code_free(c);
	}
	memory.reads = 0;
	python_slot_find(OWN(python_layout, image), &m, 0, &slot);
	memory.reads = 0;
	replay(&program, &m, data[2]);
	return 0;
}
