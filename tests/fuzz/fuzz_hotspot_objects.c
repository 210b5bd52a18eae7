/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HotSpot in random memory: its lists, its heaps, its methods and blocks of code, and the frame program over it. Nothing may be read
 * outside of what memory gives, names are strings, numbers of lines are within bounds, and all ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/hotspot/hotspot_heaps.h"
#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/runtime.h"
#include "tests/unit/runtime_own.h"
#include "unwind/frame_replay.h"

#include ARCH_HEADER

#define MAX_READS 20000

struct memory {
	const uint8_t *v;
	size_t len;
	unsigned reads;
	uint8_t fail_mask;
};

static void require(int ok)
{
	if (!ok)
		abort();
}

/* The input over and over, but for some pages. */
static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct memory *m = ctx;
	uint8_t *to = buf;

	require(len <= TARGET_READ_BYTES);
	if (++m->reads > MAX_READS || (addr >> 12 & 7) == (m->fail_mask & 15))
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		to[i] = m->v[(addr + i) % m->len];
	return 0;
}

/* Offsets as those of 17 and of 25 are, close together so that random memory has something there. */
static struct hotspot_layout layout_of(int is_25)
{
	struct hotspot_layout l;

	memset(&l, 0xff, sizeof(l));
	l.is_read = 1;
	l.version = is_25 ? 0x19000300 : 0x11000f00;
	l.heaps_vaddr = 8;
	l.interpreter_vaddr = 16;
	l.array_len = 0, l.array_data = 8;
	l.heap_memory = 8, l.heap_segmap = 32, l.heap_shift = 56;
	l.space_low = 0, l.space_high = 8;
	l.queue_buffer = 8, l.queue_limit = l.queue_end = 20;
	l.blob_name = 96, l.blob_header_size = 16, l.blob_size = 12, l.blob_frame_size = 28, l.blob_frame_complete = 20;
	l.nm_method = 112, l.nm_compile_id = 304, l.nm_level = 308, l.nm_orig_pc = 300, l.nm_pcs = 268;
	if (is_25) {
		l.blob_kind = 56, l.blob_code_offset = 36, l.blob_mutable_data = 16, l.blob_relocation_size = 28;
		l.nm_deopt_offset = 176, l.nm_scopes = 200, l.nm_immutable_data = 96, l.nm_immutable_size = 160;
	} else {
		l.blob_code_begin = 32, l.nm_deopt_begin = 128, l.nm_pcs_end = 272, l.nm_scopes_begin = 120, l.nm_metadata = 260;
	}
	l.method_const = 8, l.const_constants = 8, l.const_flags = 28, l.const_code_size = 32, l.const_name = 34;
	l.pool_holder = 24, l.pool_source = 54, l.pool_length = 60, l.klass_name = 24;
	l.symbol_length = 4, l.symbol_body = 6, l.desc_pc = 0, l.desc_scope = 4;
	l.block_used = 8, l.block_header = 16, l.nm_bytes = 352, l.const_bytes = 48, l.pool_bytes = 72, l.desc_bytes = 16;
	return l;
}

static void check_code(const struct runtime_code *c)
{
	struct runtime_line lines[RUNTIME_MAX_LINES];

	require(strlen(c->name) < RUNTIME_NAME_BYTES && (!c->file || strlen(c->file) < RUNTIME_FILE_BYTES));
	for (uint32_t at = 0; at < 512; at += 3) {
		int nr = runtime_code_lines(c, at | (at & 1 ? 0x80000000u : 0), lines, RUNTIME_MAX_LINES);

		require(nr <= RUNTIME_MAX_LINES && nr != 0);
		for (int i = 0; i < nr; i++)
			require(lines[i].name != NULL);
	}
}

static void read_codes(const struct runtime_image *image, struct memory *memory, const struct target_memory *m)
{
	const struct hotspot_layout *l = &OWN(hotspot_image, *image)->layout;

	for (uint64_t code = 0; code < 64; code += 8)
		for (int kind = 0; kind < 2; kind++) {
			struct runtime_code *c = NULL;
			uint64_t v = 0;
			uint32_t cookie;

			memory->reads = 0;
			/* The cookie that is there, so that reading goes on. */
			target_read_u64(m, code + (kind ? l->nm_compile_id : l->method_const), &v);
			cookie = kind ? (uint32_t)v : (uint32_t)(v >> 3);
			if (!runtime_code_read(image, 0, m, (enum runtime_frame_kind)kind, code, cookie, &c))
				check_code(c);
			runtime_code_free(c);
		}
}

static void replay(const struct frame_program *program, const struct target_memory *m, struct unwind_runtime *rt, const uint8_t *data)
{
	static struct frame_replay_result result;
	static struct unwind_runtimes all;
	uint64_t regs[ARCH_NR_REGS];
	struct frame_replay_input in = { .program = program, .read = m->read, .ctx = m->ctx, .runtimes = &all, .regs = regs };

	for (int i = 0; i < ARCH_NR_REGS; i++)
		regs[i] = (uint64_t)data[i % 16] << (i % 3 * 4);
	regs[ARCH_REG_SP] &= ~7ull;
	regs[ARCH_REG_FP] &= ~7ull;
	all.slots[0] = *rt;
	all.slots[0].flags |= RUNTIME_OWNS_CODE | RUNTIME_IS_THERE;
	memcpy(in.consts, rt->consts, sizeof(in.consts));
	frame_replay(&in, &result);
	require(result.nr <= UNWIND_MAX_FRAMES && result.turns <= PROGRAM_MAX_TURNS + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct runtime_image image = { .kind = RUNTIME_HOTSPOT, .is_known = 1 };
	struct hotspot_image *own = OWN(hotspot_image, image);
	struct memory memory = { data + 2, len - 2, 0, 0 };
	const struct target_memory m = { read_memory, &memory };
	struct unwind_runtime rt = { .heaps = { { 0, 1 << 16, 64, 3 } } };
	struct frame_program program;

	if (len < 32)
		return 0;
	memory.fail_mask = data[1];
	own->lists = (struct hotspot_lists){ 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 0, 0 };
	if (!runtime_attach(&image, 0, &m, &rt))
		require(runtime_image_is_sound(&image));
	own->layout = layout_of(data[0] & 1);
	require(runtime_image_is_sound(&image) && !runtime_program(&image, &program));
	read_codes(&image, &memory, &m);
	memory.reads = 0;
	replay(&program, &m, &rt, data);
	memory.reads = 0;
	if (!hotspot_heaps_read(&own->layout, 0, &m, &rt))
		replay(&program, &m, &rt, data);
	return 0;
}
