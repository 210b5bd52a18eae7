/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of V8 11.3 (node 20) in the made memory of python_world.h. Addresses are those of objects, tagged. */
#pragma once

#include "src/runtimes/v8/v8_layout.h"
#include "src/runtimes/v8/v8_program.h"
#include "tests/unit/python_world.h"
#include "tests/unit/runtime_own.h"

enum { TYPE_ARRAY = 175, TYPE_BYTES = 190, TYPE_BYTECODE = 191, TYPE_SCRIPT = 167, TYPE_CODE = 245, TYPE_STREAM = 252, TYPE_SCOPE = 261,
       TYPE_SHARED = 262 };

#define V8_MAPS (WORLD_BASE + 0x8000)	/* the map of type t is at V8_MAPS + 16 * t */
#define V8_AT(offset) (WORLD_BASE + (offset) + V8_TAG)

static inline uint64_t v8_small(uint64_t v)
{
	return v << 32;
}

static inline void v8_word(struct python_world *w, uint64_t object, uint32_t offset, uint64_t v)
{
	world_u64(w, object - V8_TAG + offset, v);
}

static inline void v8_object(struct python_world *w, uint64_t object, uint32_t type)
{
	const uint64_t map = V8_MAPS + 16ull * type + V8_TAG;
	uint16_t t = (uint16_t)type;

	world_put(w, map - V8_TAG + V8_MAP_TYPE, &t, sizeof(t));
	v8_word(w, object, 0, map);
}

/* A string that lies in one piece. type: 40: one byte a character, 32: two. */
static inline void v8_text(struct python_world *w, uint64_t object, uint32_t type, const void *text, uint32_t nr)
{
	v8_object(w, object, type);
	world_u32(w, object - V8_TAG + V8_STRING_LENGTH, nr);
	world_put(w, object - V8_TAG + V8_STRING_DATA, text, type & 8 ? nr : 2ull * nr);
}

static inline void v8_bytes(struct python_world *w, uint64_t object, const void *v, uint32_t nr)
{
	v8_object(w, object, TYPE_BYTES);
	v8_word(w, object, V8_ARRAY_LENGTH, v8_small(nr));
	world_put(w, object - V8_TAG + V8_ARRAY_DATA, v, nr);
}

static inline void v8_array(struct python_world *w, uint64_t object, const uint64_t *v, uint32_t nr)
{
	v8_object(w, object, TYPE_ARRAY);
	v8_word(w, object, V8_ARRAY_LENGTH, v8_small(nr));
	for (uint32_t i = 0; i < nr; i++)
		v8_word(w, object, V8_ARRAY_DATA + 8 * i, v[i]);
}

static inline void v8_image(struct runtime_image *image)
{
	*image = (struct runtime_image){ .kind = RUNTIME_V8, .version = 0x0b03f408, .is_known = 1, .nr_loops = 1,
					 .loops = { { 0x1000, 0x2000 } } };
	if (v8_layout_of(11, 3, OWN(v8_layout, *image)))
		return;
	OWN(v8_layout, *image)->type_shared = TYPE_SHARED;
	OWN(v8_layout, *image)->type_script = TYPE_SCRIPT;
	OWN(v8_layout, *image)->type_scope = TYPE_SCOPE;
	OWN(v8_layout, *image)->type_bytecode = TYPE_BYTECODE;
	OWN(v8_layout, *image)->type_code = TYPE_CODE;
	OWN(v8_layout, *image)->type_stream = TYPE_STREAM;
	/* Four prefixes, a bytecode of 1, one of 2, one of 3 bytes. */
	OWN(v8_layout, *image)->nr_bytecodes = 7;
	memcpy(OWN(v8_layout, *image)->bytecode_sizes, (const uint8_t[21]){ 1, 1, 1, 1, 1, 2, 3, 1, 1, 1, 1, 1, 3, 5, 1, 1, 1, 1, 1, 5, 9 }, 21);
}

/* A function: its ScopeInfo is at shared + 0x100, its script at script. */
static inline void v8_function(struct python_world *w, uint64_t shared, uint64_t script, uint64_t name, uint64_t data, uint32_t literal,
			       uint32_t start, uint32_t end)
{
	const uint64_t scope = shared + 0x100;

	v8_object(w, shared, TYPE_SHARED);
	v8_word(w, shared, 8, data);
	v8_word(w, shared, 16, scope);
	v8_word(w, shared, 32, script);
	v8_word(w, shared, 40, 0xffffull << 32);
	v8_word(w, shared, 48, (uint64_t)literal << 32);
	v8_object(w, scope, TYPE_SCOPE);
	v8_word(w, scope, 8, v8_small(3 << 12));
	v8_word(w, scope, 16, v8_small(0));
	v8_word(w, scope, 24, v8_small(0));
	v8_word(w, scope, 32, name);
	v8_word(w, scope, 40, v8_small(0));
	v8_word(w, scope, 48, v8_small(start));
	v8_word(w, scope, 56, v8_small(end));
}

static inline void v8_script(struct python_world *w, uint64_t script, uint64_t source, uint64_t name, uint32_t id)
{
	v8_object(w, script, TYPE_SCRIPT);
	v8_word(w, script, V8_SCRIPT_SOURCE, source);
	v8_word(w, script, V8_SCRIPT_NAME, name);
	v8_word(w, script, V8_SCRIPT_LINE_OFFSET, 0);
	v8_word(w, script, V8_SCRIPT_ID, v8_small(id));
}
