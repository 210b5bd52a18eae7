/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a Perl of anybody's making, as src/runtimes reads it. One byte: the version; one byte: which reads fail; the others are
 * the memory, again and again at all addresses, so that every pointer leads somewhere. The program's walk ends; its frames are named,
 * as long as they may be, or refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/perl/perl_layout.h"
#include "src/runtimes/perl/perl_program.h"
#include "src/runtimes/runtime.h"
#include "unwind/frame_replay.h"
#include "tests/fuzz/target_bytes.h"
#include "tests/unit/runtime_own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return read_at_most(ctx, addr, buf, len, 40000);
}

static void check_code(const struct runtime_code *c, uint32_t instruction)
{
	uint32_t line;
	int err = runtime_code_line(c, instruction, &line);

	require(strlen(c->name) < RUNTIME_NAME_BYTES && (!c->file || strlen(c->file) < RUNTIME_FILE_BYTES));
	require(!err || err == -ENODATA || err == -ESTALE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint32_t versions[] = { 32, 34, 36, 38, 40 };
	const struct frame_loop loops[3] = { { 0, 256 }, { 256, 1024 }, { 0, UINT64_MAX } };
	static struct frame_replay_result result;
	struct runtime_image image = { .kind = RUNTIME_PERL, .is_known = 1 };
	struct memory memory = { data + 2, len - 2, 0, 0 };
	const struct target_memory m = { read_memory, &memory };
	struct frame_program program;
	struct frame_replay_input in = { .program = &program, .consts = { 8 }, .thread_pointer = 64, .read = read_memory, .ctx = &memory,
					 .loops = loops, .nr_loops = 3 };

	if (len < 16)
		return 0;
	require(!perl_layout_of(versions[data[0] % 5], &OWN(perl_image, image)->layout));
	require(runtime_image_is_sound(&image) && !runtime_program(&image, &program));
	frame_replay(&in, &result);
	require(result.nr <= UNWIND_MAX_FRAMES && result.turns <= PROGRAM_MAX_TURNS + 1);
	memory.fail_mask = data[1];
	for (uint32_t i = 0; i + 1 < result.nr && i < 32; i += 2) {
		struct runtime_code *c = NULL;

		memory.reads = 0;
		if (!runtime_code_read(&image, 0, &m, RUNTIME_FRAME_INTERPRETED, result.words[i] & UNWIND_ADDRESS_MASK,
				       (uint32_t)(result.words[i + 1] >> 32), &c))
			check_code(c, (uint32_t)result.words[i + 1]);
		runtime_code_free(c);
	}
	return 0;
}
