/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where V8's objects have what a sampler needs, by version: rows of offsets from the start of an
 * object (not from its tagged address), in bytes. The numbers of types and what else a build may
 * choose come from the constants that V8 exports for debuggers (v8_find.c).
 *
 * Limits: 64-bit builds without compressed pointers (node; not Chromium and Electron).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In all known versions. */
enum {
	V8_TAG = 1,			/* of an address, in its lowest bits; 3: weak */
	V8_MAP_TYPE = 12,		/* 16 bits */
	V8_STRING_LENGTH = 12,		/* 32 bits */
	V8_STRING_DATA = 16,
	V8_ARRAY_LENGTH = 8,		/* a small integer: in the upper half of its word */
	V8_ARRAY_DATA = 16,
	/* InterpreterData: the function's bytecodes, and the copy of a builtin that it has. */
	V8_INTERPRETER_BYTECODE = 8, V8_INTERPRETER_COPY = 16,
	V8_SCRIPT_SOURCE = 8, V8_SCRIPT_NAME = 16, V8_SCRIPT_LINE_OFFSET = 24,
	V8_SCRIPT_LINE_ENDS = 56, V8_SCRIPT_ID = 64,
	V8_FRAME_BYTECODE = -32,	/* from the frame pointer: the function's bytecodes */
	V8_FRAME_OFFSET = -40,		/* a small integer: the next bytecode, from the object on */
	V8_FRAME_FUNCTION = -16, V8_FRAME_CONTEXT = -8,
};

#define V8_KIND_MASK 15
#define V8_KIND_BUILTIN 2
#define V8_MAX_BYTECODES 256

/* Numbers, without holes: struct v8_layout is sent between processes. */
struct v8_layout {
	uint32_t function_shared;	/* JSFunction: its SharedFunctionInfo */
	uint32_t function_code;		/* its Code; 0: it has the number of an entry instead */
	uint32_t shared_data;		/* its bytecodes, or code, or the number of a builtin */
	uint32_t shared_name, shared_script;
	uint32_t shared_token;		/* 16 bits: from the keyword to where it begins */
	uint32_t shared_literal;	/* 32 bits: its number in the script */
	uint32_t scope_variables;	/* ScopeInfo: the first slot that not all have */
	uint32_t scope_position;	/* 0: behind those slots */
	uint32_t bytecode_data, bytecode_positions;
	/* Code, and its InstructionStream; both are one object if code_start is 0. */
	uint32_t code_data;		/* deoptimization data; of baseline code: bytecodes */
	uint32_t code_positions;	/* of baseline code: of its bytecodes */
	uint32_t code_start, code_size, code_flags;
	uint32_t stream_header, stream_code;
	uint32_t kind_baseline;		/* in code_flags; next are Maglev, Turbofan */
	/* Indices in deoptimization data. */
	uint32_t deopt_literals, deopt_shared, deopt_inlining;
	uint32_t deopt_wraps;		/* 1: the SharedFunctionInfo is in a wrapper */
	uint32_t deopt_exits;		/* where exits begin; next: checks, calls, first entry */
	uint32_t translations;		/* row of v8_translation.c; 0: no Maglev */
	uint32_t safepoint_length;	/* of Maglev's table: how long it is, and then of what */
	uint32_t regexp_marker;		/* of frames of regular expressions; 0: they have none */
	uint32_t has_bare_regexp;	/* 1: frames of regular expressions have no marker */
	uint32_t is_scope_raw;		/* 1: flags of a ScopeInfo are no small integer */
	/* Instance types. */
	uint32_t type_shared, type_script, type_scope, type_function;
	uint32_t type_bytecode, type_code, type_stream;
	uint32_t type_interpreter;	/* 0: not known */
	/* Bytes of bytecodes, for operands of three widths, one after the other; 0: unknown. */
	uint32_t nr_bytecodes;
	uint8_t bytecode_sizes[V8_MAX_BYTECODES * 3];
};


/* The row of a version, without the types. 0; -ENOTSUP: it is not known. */
int v8_layout_of(uint32_t major, uint32_t minor, struct v8_layout *out);

/* Whether all numbers are such that nothing is read far from where it is. */
bool v8_layout_is_sound(const struct v8_layout *l);
