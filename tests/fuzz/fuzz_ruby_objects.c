/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a Ruby of anybody's making, as src/runtimes reads it. One byte: the version and how the context is reached; one
 * byte: which reads fail; the others are the memory, again and again at all addresses, so that every pointer leads somewhere.
 * Checks what runtime.h promises: names end and are no longer than they may be, lines are found in bounded time, the walk ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/ruby/ruby_layout.h"
#include "src/runtimes/ruby/ruby_lines.h"
#include "src/runtimes/ruby/ruby_program.h"
#include "src/runtimes/runtime.h"
#include "unwind/frame_replay.h"
#include "tests/fuzz/target_bytes.h"
#include "tests/unit/runtime_own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return read_at_most(ctx, addr, buf, len, 200000);
}

static void check_code(const struct runtime_code *c)
{
	struct runtime_line line;

	require(strlen(c->name) < RUNTIME_NAME_BYTES && (!c->file || strlen(c->file) < RUNTIME_FILE_BYTES));
	for (uint32_t i = 0; i < 600; i += 4) {
		int nr = runtime_code_lines(c, c->code_offset + i, &line, 1);

		require(nr == 1 || nr == -ESTALE);
	}
	require(!c->code_bytes || runtime_code_lines(c, c->code_offset + c->code_bytes + 8, &line, 1) == -ESTALE);
}

static void check_codes(const struct runtime_image *image, struct memory *memory, const struct target_memory *m)
{
	for (uint64_t code = 4096; code < 4096 + 64; code += 8) {
		struct runtime_code *c = NULL;
		uint64_t first = 0, a = 0, b = 0;
		uint32_t cookie;

		/* The cookie is the one that is there, so that reading goes on. */
		memory->reads = 0;
		target_read_u64(m, code, &first);
		target_read_u64(m, code + RUBY_ENTRY_DEFINITION, &a);
		target_read_u64(m, a + RUBY_DEFINITION_SERIAL, &b);
		cookie = (uint32_t)b;
		if ((first & RUBY_TYPE_MASK) != RUBY_T_IMEMO) {
			target_read_u64(m, code + RUBY_BODY_CODE, &a);
			target_read_u64(m, code + RUBY_BODY_LABEL, &b);
			cookie = ruby_body_cookie(a, b);
		}
		if (!runtime_code_read(image, 0, m, RUNTIME_FRAME_INTERPRETED, code, cookie, &c))
			check_code(c);
		runtime_code_free(c);
	}
}

static void check_positions(const uint8_t *data, size_t len)
{
	uint32_t out[64], words = data[0] + data[1] * 8u;
	int nr = ruby_positions(data + 2, len - 2, words, out, 64);

	require(nr <= 64);
	for (int i = 1; i < nr; i++)
		require(out[i] > out[i - 1] && out[i] < words);
}

/* The walk ends, whatever the frames are. */
static void replay(const struct frame_program *program, struct memory *memory, uint8_t slot)
{
	static struct frame_replay_result result;
	const struct frame_replay_input in = { .program = program, .consts = { slot, 8, 16 }, .thread_pointer = 64,
					       .read = read_memory, .ctx = memory };

	memory->reads = 0;
	frame_replay(&in, &result);
	/* The last turn may yield; going on is counted, and then the one that is too many. */
	require(result.nr <= UNWIND_MAX_FRAMES && result.turns <= PROGRAM_MAX_TURNS + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint32_t versions[8] = { 0x0207, 0x0300, 0x0301, 0x0302, 0x0303, 0x0304, 0x0302, 0x0304 };
	struct runtime_image image = { .kind = RUNTIME_RUBY, .is_known = 1 };
	struct memory memory = { data + 2, len - 2, 0, 0 };
	const struct target_memory m = { read_memory, &memory };
	struct frame_program program;

	if (len < 16)
		return 0;
	memory.fail_mask = data[1];
	image.version = versions[(data[0] & 1) | (data[0] >> 2 & 6)] << 16;
	OWN(ruby_image, image)->way = data[0] >> 1 & 3;
	OWN(ruby_image, image)->data_vaddr = 4096;
	OWN(ruby_image, image)->data_bytes = 128;
	require(!ruby_layout_of(image.version >> 16, &OWN(ruby_image, image)->layout));
	require(runtime_image_is_sound(&image) && !runtime_program(&image, &program));
	check_positions(data, len);
	check_codes(&image, &memory, &m);
	replay(&program, &memory, data[2]);
	return 0;
}
