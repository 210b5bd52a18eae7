/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The builtins (bytecode handlers, stubs) are code that V8 has compiled itself when it was built.
 * They are in the program's text, without unwind information, as one block that is called the
 * embedded blob. In a program that was stripped its symbol is missing: then the block is the
 * largest part of the text of which no unwind information tells.
 */
#include "src/runtimes/v8/v8_find.h"

#include <errno.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/elf/fde_ranges.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/v8/v8_layout.h"

#define MAX_BLOB (64u << 20)
#define MIN_GAP (512u << 10)
#define MAX_FDES (2u << 20)
#define TAGGED_BYTES 8

enum {
	MAJOR, MINOR, BUILD, PATCH, TAGGED_SIZE, FUNCTION_SHARED, BYTECODE_DATA, BASELINE,
	TYPE_FUNCTION, TYPE_SHARED, TYPE_SCRIPT, TYPE_SCOPE, TYPE_BYTECODE, TYPE_CODE, TYPE_STREAM,
	TYPE_INTERPRETER, NR_NAMES
};

static const char *const names[NR_NAMES] = {
	[MAJOR] = "_ZN2v88internal7Version6major_E",
	[MINOR] = "_ZN2v88internal7Version6minor_E",
	[BUILD] = "_ZN2v88internal7Version6build_E",
	[PATCH] = "_ZN2v88internal7Version6patch_E",
	[TAGGED_SIZE] = "v8dbg_TaggedSize",
	[FUNCTION_SHARED] = "v8dbg_class_JSFunction__shared__SharedFunctionInfo",
	[BYTECODE_DATA] = "v8dbg_class_BytecodeArray__data__uintptr_t",
	[BASELINE] = "v8dbg_CodeKindBaseline",
	[TYPE_FUNCTION] = "v8dbg_type_JSFunction__JS_FUNCTION_TYPE",
	[TYPE_SHARED] = "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
	[TYPE_SCRIPT] = "v8dbg_type_Script__SCRIPT_TYPE",
	[TYPE_SCOPE] = "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE",
	[TYPE_BYTECODE] = "v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE",
	[TYPE_CODE] = "v8dbg_type_Code__CODE_TYPE",
	[TYPE_INTERPRETER] = "v8dbg_type_InterpreterData__INTERPRETER_DATA_TYPE",
	[TYPE_STREAM] = "v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE",
};

/* The values of the symbols, and whether they were found. */
struct constants {
	uint32_t v[NR_NAMES];
	bool found[NR_NAMES];
};

static uint32_t read_u32(struct elf_image *img, uint64_t vaddr, bool *found)
{
	uint64_t offset, left;
	uint32_t v = 0;

	*found = vaddr && !elf_image_offset_of(img, vaddr, &offset, &left) &&
		 left >= sizeof(v) && elf_image_pread(img, &v, sizeof(v), offset) == sizeof(v);
	return *found ? v : 0;
}

static int read_constants(struct elf_image *img, struct constants *c)
{
	struct exported_symbol v[NR_NAMES] = { 0 };
	int err;

	for (int i = 0; i < NR_NAMES; i++)
		v[i].name = names[i];
	err = exported_symbols_find(img, v, NR_NAMES);
	if (err)
		return err;
	/* Constants that are 0 may be in .bss. */
	for (int i = 0; i < NR_NAMES; i++) {
		c->v[i] = read_u32(img, v[i].vaddr, &c->found[i]);
		c->found[i] |= v[i].vaddr && i == PATCH;
	}
	return c->found[MAJOR] && c->found[MINOR] && c->found[TAGGED_SIZE] ? 0 : -ENOENT;
}

/* What the build says must be what the row of its version says. */
static int layout_of(const struct constants *c, struct v8_layout *l)
{
	int err = v8_layout_of(c->v[MAJOR], c->v[MINOR], l);

	if (err || c->v[TAGGED_SIZE] != TAGGED_BYTES)
		return -ENOTSUP;
	for (int i = TYPE_FUNCTION; i <= TYPE_CODE; i++)
		if (!c->found[i])
			return -ENOTSUP;
	if (c->v[FUNCTION_SHARED] != l->function_shared ||
	    c->v[BYTECODE_DATA] != l->bytecode_data || c->v[BASELINE] != l->kind_baseline)
		return -ENOTSUP;
	l->type_function = c->v[TYPE_FUNCTION];
	l->type_shared = c->v[TYPE_SHARED];
	l->type_script = c->v[TYPE_SCRIPT];
	l->type_scope = c->v[TYPE_SCOPE];
	l->type_bytecode = c->v[TYPE_BYTECODE];
	l->type_code = c->v[TYPE_CODE];
	l->type_interpreter = c->v[TYPE_INTERPRETER];
	l->type_stream = c->found[TYPE_STREAM] ? c->v[TYPE_STREAM] : c->v[TYPE_CODE];
	return 0;
}

/* The largest range without an FDE that lies between two. */
static int find_gap(struct elf_image *img, int fd, const void *data, struct runtime_range *out)
{
	uint64_t start, fde, lo, hi, last = 0;
	struct runtime_range widest = { 0 };
	struct fde_ranges fdes;

	fde_ranges_init(&fdes, img, fd, data);
	if (fdes.nr > MAX_FDES)
		return -ENOENT;
	for (uint64_t i = 0; i < fdes.nr; i++) {
		if (!fde_ranges_entry(&fdes, i, &start, &fde))
			return -ENOENT;
		if (i && start > last && start - last > widest.hi - widest.lo)
			widest = (struct runtime_range){ last, start };
		last = start;
	}
	if (widest.hi - widest.lo < MIN_GAP || !fde_ranges_find(&fdes, widest.lo, &lo, &hi) ||
	    hi >= widest.hi || widest.hi - hi < MIN_GAP || widest.hi - hi > MAX_BLOB)
		return -ENOENT;
	*out = (struct runtime_range){ hi, widest.hi };
	return 0;
}

/* What only .symtab has; a file that was stripped has none of it. */
enum { BLOB_DATA, BLOB, BLOB_SIZE, BYTECODE_SIZES, NR_LOCALS };

static const char *const local_names[NR_LOCALS] = {
	[BLOB_DATA] = "v8_Default_embedded_blob_code_data_",
	[BLOB] = "v8_Default_embedded_blob_code_",
	[BLOB_SIZE] = "v8_Default_embedded_blob_code_size_",
	[BYTECODE_SIZES] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE",
};

static int read_locals(struct elf_image *img, struct exported_symbol v[NR_LOCALS])
{
	struct exported_symbol *sizes = &v[BYTECODE_SIZES], exported;
	int err;

	for (int i = 0; i < NR_LOCALS; i++)
		v[i] = (struct exported_symbol){ .name = local_names[i] };
	err = local_symbols_find(img, v, NR_LOCALS);
	exported = (struct exported_symbol){ .name = sizes->name };
	if (!err && !sizes->vaddr && !exported_symbols_find(img, &exported, 1))
		*sizes = exported;
	return err;
}

/* Without the lengths of bytecodes, baseline code has no lines. */
static void read_bytecode_sizes(struct elf_image *img, const struct exported_symbol *sizes,
				struct v8_layout *l)
{
	uint64_t offset, left, bytes = sizes->size;

	if (!sizes->vaddr || !bytes || bytes % 3 || bytes > sizeof(l->bytecode_sizes) ||
	    elf_image_offset_of(img, sizes->vaddr, &offset, &left) || left < bytes ||
	    elf_image_pread(img, l->bytecode_sizes, bytes, offset) != (long)bytes)
		return;
	l->nr_bytecodes = (uint32_t)(bytes / 3);
}

static int find_blob(struct elf_image *img, const struct exported_symbol v[NR_LOCALS],
		     struct runtime_range *out)
{
	uint64_t begin = v[BLOB_DATA].vaddr ? v[BLOB_DATA].vaddr : v[BLOB].vaddr;
	bool found;
	uint32_t size = read_u32(img, v[BLOB_SIZE].vaddr, &found);

	if (!begin || !found || !size || size > MAX_BLOB)
		return -ENOENT;
	*out = (struct runtime_range){ begin, begin + size };
	return 0;
}

int v8_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct constants c = { 0 };
	struct exported_symbol locals[NR_LOCALS];
	struct v8_layout layout = { 0 };
	int err = read_constants(img, &c);

	if (err)
		return err;
	out->version = (c.v[MAJOR] & 0xff) << 24 | (c.v[MINOR] & 0xff) << 16 |
		       (c.v[BUILD] & 0xff) << 8 | (c.v[PATCH] & 0xff);
	err = layout_of(&c, &layout);
	if (!err)
		err = read_locals(img, locals);
	if (!err)
		err = find_blob(img, locals, &out->loops[0]);
	if (err == -ENOENT)
		err = find_gap(img, fd, data, &out->loops[0]);
	if (!err)
		read_bytecode_sizes(img, &locals[BYTECODE_SIZES], &layout);
	RUNTIME_SET_OWN(out, &layout);
	out->nr_loops = !err;
	out->is_known = !err;
	return err == -ENOTSUP || err == -ENOENT ? 0 : err;
}
