/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of Ruby 3.1 in a made process memory (python_world.h), after its headers. */
#pragma once

#include "src/runtimes/ruby/ruby_layout.h"
#include "tests/unit/python_world.h"

#define RUBY_DATA (WORLD_BASE + 0x100)		/* initialized data of the library */
#define RUBY_IDS (WORLD_BASE + 0x400)
#define RUBY_ID_PAGE (WORLD_BASE + 0x500)
#define RUBY_ID_WORDS (WORLD_BASE + 0x600)	/* up to 512 * 16 bytes */

static inline void ruby_world_string(struct python_world *w, uint64_t at, const char *text)
{
	const size_t len = strlen(text);

	if (len < 24) {
		world_u64(w, at, RUBY_T_STRING | len << 14);
		world_put(w, at + 16, text, len);
		return;
	}
	world_u64(w, at, RUBY_T_STRING | 1 << 13);
	world_u64(w, at + 16, len);
	world_u64(w, at + 24, at + 40);
	world_put(w, at + 40, text, len);
}

/* An array whose elements are elsewhere. */
static inline void ruby_world_array(struct python_world *w, uint64_t at, uint64_t nr, uint64_t elements)
{
	world_u64(w, at, RUBY_T_ARRAY);
	world_u64(w, at + 16, nr);
	world_u64(w, at + 32, elements);
}

/* The table of symbols, among other words of data. */
static inline void ruby_world_symbols(struct python_world *w)
{
	world_u64(w, RUBY_DATA, 0x1234);
	world_u64(w, RUBY_DATA + 8, WORLD_BASE + 8);
	world_u64(w, RUBY_DATA + 24, 511);		/* the last number */
	world_u64(w, RUBY_DATA + 32, WORLD_BASE + 16);
	world_u64(w, RUBY_DATA + 40, RUBY_IDS);
	world_u64(w, RUBY_DATA + 48, WORLD_BASE + 0x4c0);
	world_u64(w, WORLD_BASE + 0x4c0, RUBY_T_HASH);
	ruby_world_array(w, RUBY_IDS, 1, RUBY_IDS + 48);
	world_u64(w, RUBY_IDS + 48, RUBY_ID_PAGE);
	ruby_world_array(w, RUBY_ID_PAGE, 1024, RUBY_ID_WORDS);
}

/* Symbol number serial, which is no operator; its string object lies at string. Its ID is returned. */
static inline uint64_t ruby_world_symbol(struct python_world *w, uint64_t serial, uint64_t string, const char *text)
{
	const uint64_t id = serial << 4 | 1;

	ruby_world_string(w, string, text);
	world_u64(w, RUBY_ID_WORDS + serial * 16, string);
	world_u64(w, RUBY_ID_WORDS + serial * 16 + 8, id << 8 | 0xc);
	return id;
}

/* A class or module whose table of variables has one entry. */
static inline void ruby_world_class(struct python_world *w, uint64_t at, uint64_t flags, uint64_t id, uint64_t value)
{
	world_u64(w, at, flags);
	world_u64(w, at + RUBY_CLASS_EXTENSION, at + 64);
	world_u64(w, at + 64 + RUBY_EXTENSION_VARIABLES, at + 96);
	world_u64(w, at + 96 + 32, 0);
	world_u64(w, at + 96 + 40, 1);
	world_u64(w, at + 96 + 48, at + 160);
	world_u64(w, at + 160 + 8, id);
	world_u64(w, at + 160 + 16, value);
}

/* The method entry at at, and its definition 64 bytes behind it. */
static inline void ruby_world_method(struct python_world *w, uint64_t at, uint64_t class, uint64_t id, uint32_t serial,
				     uint8_t type, uint64_t iseq)
{
	world_u64(w, at, RUBY_T_IMEMO | RUBY_IMEMO_METHOD << RUBY_IMEMO_SHIFT);
	world_u64(w, at + RUBY_ENTRY_DEFINITION, at + 64);
	world_u64(w, at + RUBY_ENTRY_OWNER, class);
	world_u64(w, at + 64, type);
	world_u64(w, at + 64 + RUBY_DEFINITION_ISEQ, iseq);
	world_u64(w, at + 64 + RUBY_DEFINITION_NAME, id);
	world_u64(w, at + 64 + RUBY_DEFINITION_SERIAL, serial);
}

/* An instruction sequence, and its body 64 bytes behind it: some words of code, all of one line. */
static inline void ruby_world_iseq(struct python_world *w, uint64_t at, uint64_t code, uint32_t words, uint64_t label,
				   uint64_t path, uint32_t line)
{
	const uint64_t body = at + 64;

	world_u64(w, at + RUBY_ISEQ_BODY, body);
	world_u32(w, body + RUBY_BODY_TYPE, 1);
	world_u32(w, body + RUBY_BODY_SIZE, words);
	world_u64(w, body + RUBY_BODY_CODE, code);
	world_u64(w, body + RUBY_BODY_PATH, path);
	world_u64(w, body + RUBY_BODY_LABEL, label);
	world_u64(w, body + RUBY_BODY_FIRST_LINE, (uint64_t)line << 1 | 1);
	world_u64(w, body + 120, body + RUBY_BODY_BYTES);
	world_u32(w, body + 120 + RUBY_LINES_NR, 1);
	world_u32(w, body + RUBY_BODY_BYTES, line + 1);
}
