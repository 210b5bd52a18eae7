/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process of anybody's making, as src/runtimes reads that of V8. One byte: the version; one byte: which reads fail; the
 * others are the memory, again and again at all addresses, so that every pointer leads somewhere. The numbers of types are those that
 * are there, so that reading goes on. Checks what runtime.h promises: names end and are no longer than they may be, and the number of
 * reads and of lines is bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/runtime.h"
#include "src/runtimes/v8/v8_layout.h"
#include "src/runtimes/v8/v8_program.h"
#include "src/runtimes/v8/v8_strings.h"
#include "src/runtimes/v8/v8_translation.h"
#include "tests/unit/runtime_own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct memory {
	const uint8_t *bytes;
	size_t len;
	unsigned reads, fail_mask;
	size_t bytes_read;
};

#define MAX_READ (1u << 18)		/* then there is no more */

static void require(int ok)
{
	if (!ok)
		abort();
}

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct memory *m = ctx;
	uint8_t *to = buf;

	require(len <= TARGET_READ_BYTES && ++m->reads < 400000);
	if ((m->bytes_read += len) > MAX_READ || (m->fail_mask && !(m->reads & m->fail_mask)))
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		to[i] = m->bytes[(addr + i) % m->len];
	return 0;
}

static void check_code(const struct runtime_code *c)
{
	struct runtime_line lines[RUNTIME_MAX_LINES];

	for (uint32_t i = 0; i < 600; i++) {
		int nr = runtime_code_lines(c, i < 599 ? i : UINT32_MAX, lines, RUNTIME_MAX_LINES);

		require(nr > 0 && nr <= RUNTIME_MAX_LINES);
		for (int k = 0; k < nr; k++)
			require(strlen(lines[k].name) < RUNTIME_NAME_BYTES &&
				(!lines[k].file || strlen(lines[k].file) < RUNTIME_FILE_BYTES));
	}
}

/* The cookie that the frame program would have read. */
static uint32_t cookie_at(const struct target_memory *m, const struct v8_layout *l, uint64_t shared)
{
	uint64_t script = 0, id = 0;
	uint32_t literal = 0;

	target_read_u64(m, shared - V8_TAG + l->shared_script, &script);
	target_read(m, shared - V8_TAG + l->shared_literal, &literal, sizeof(literal));
	target_read_u64(m, script - V8_TAG + V8_SCRIPT_ID, &id);
	return v8_cookie((uint32_t)(id >> 32), literal);
}

static void try_code(const struct runtime_image *image, struct memory *memory, uint64_t code, uint32_t cookie)
{
	const struct target_memory m = { read_memory, memory };
	struct runtime_code *c = NULL;

	memory->reads = 0;
	memory->bytes_read = 0;
	if (!runtime_code_read(image, 0, &m, RUNTIME_FRAME_COMPILED, code, cookie, &c))
		check_code(c);
	runtime_code_free(c);
}

static void try_translations(const uint8_t *v, size_t len)
{
	struct v8_frame_state frames[4];

	for (uint32_t i = 0; i < 8; i++) {
		int nr = v8_translation_read(v, len, i / 2, i % 2 + 1, frames, 4);

		require(nr == -ESTALE || (nr > 0 && nr <= 4));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t versions[4][2] = { { 10, 2 }, { 11, 3 }, { 12, 4 }, { 13, 6 } };
	struct runtime_image image = { .kind = RUNTIME_V8, .is_known = 1, .nr_loops = 1, .loops = { { 0, 64 } } };
	struct memory memory = { .bytes = data + 2, .len = len - 2 };
	const struct target_memory m = { read_memory, &memory };
	struct frame_program program;
	struct v8_layout *l = OWN(v8_layout, image);

	if (len < 64)
		return 0;
	memory.fail_mask = data[1];
	require(!v8_layout_of(versions[data[0] & 3][0], versions[data[0] & 3][1], l));
	l->nr_bytecodes = data[0] >> 2 & 15;
	memcpy(l->bytecode_sizes, data + 16, 48);
	try_translations(data + 2, len - 2);
	for (uint64_t at = 1; at < 64; at += 8) {
		uint64_t code = 0;

		v8_type_of(&m, at, &l->type_shared);
		target_read_u64(&m, at - V8_TAG + l->shared_data, &code);
		v8_type_of(&m, code, &l->type_code);
		l->type_script = l->type_scope = l->type_bytecode = l->type_stream = l->type_code;
		require(runtime_image_is_sound(&image) && !runtime_program(&image, &program));
		try_code(&image, &memory, at, cookie_at(&m, l, at));
		try_code(&image, &memory, at | V8_IS_BASELINE, cookie_at(&m, l, at));
		try_code(&image, &memory, (0x10000 + at) | V8_IS_CODE | (at & 8 ? V8_IS_INTERRUPTED : 0), cookie_at(&m, l, at));
	}
	return 0;
}
