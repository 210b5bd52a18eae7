/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *	u32 magic, u8 0, u8 0, u8 quantum, u8 pointer_size
 *	1.2:  word nr_functions, functions
 *	1.16: word nr_functions, nr_files, names, units, files, pcs, functions
 *	1.18: word nr_functions, nr_files, text_start, names, units, files, pcs, functions
 *	functions: nr_functions * { entry, record }, end
 *		1.18: u32, entries minus the start of the text; before: words
 *	record, offsets from functions (1.2: from the header):
 *		entry, i32 name, i32 args, i32 deferreturn, u32 pcsp, pcfile, pcline, nr_pcdata,
 *		[1.16: u32 unit, [1.20: i32 line,]] u8 id, [1.17: u8 flags]
 *	names: strings that end with 0; pcs: pcsp leads into here
 */
#include "unwind/go_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "unwind/go_rules.h"

#define MAX_NAME 64
#define HEADER_BYTES 72

/* The layout of a version. Words of the header are counted after its first 8 bytes. */
struct layout {
	uint32_t magic;
	uint8_t names, pcs, functions;	/* words with their offsets; 0: offset 0 */
	uint8_t entry_bytes;		/* of a function's entry */
	uint8_t flags;			/* offset in the record; 0: there are none */
};

static const struct layout layouts[] = {
	{ 0xfffffffb, 0, 0, 0, 8, 0 },
	{ 0xfffffffa, 2, 5, 6, 8, 41 },
	{ 0xfffffff0, 3, 6, 7, 4, 37 },
	{ 0xfffffff1, 3, 6, 7, 4, 41 },
};

struct go_table {
	const struct go_table_input *in;
	const struct layout *layout;
	uint64_t nr, names, pcs, records, functions;	/* the last four: offsets */
	struct go_runtime runtime;
};

static const struct layout *find_layout(const uint8_t *bytes)
{
	struct byte_reader r = br_make(bytes, 8);
	uint32_t magic = br_u32(&r);
	bool is_x86_64 = !br_u16(&r) && br_u8(&r) == 1 && br_u8(&r) == 8;

	for (size_t i = 0; is_x86_64 && i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].magic == magic)
			return &layouts[i];
	}
	return NULL;
}

static uint64_t field_at(const struct go_table *t, uint64_t offset, unsigned bytes)
{
	struct byte_reader r = br_make(t->in->pclntab, t->in->len);

	br_bytes(&r, offset);
	return br_fixed(&r, bytes);
}

static uint64_t header_word(const struct go_table *t, unsigned i)
{
	return field_at(t, 8 + 8 * i, 8);
}

static int read_header(struct go_table *t)
{
	const struct layout *l;
	uint64_t left;

	if (t->in->len < HEADER_BYTES)
		return -ENOENT;
	l = find_layout(t->in->pclntab);
	if (!l)
		return -ENOENT;
	t->layout = l;
	t->nr = header_word(t, 0);
	t->functions = 16;
	if (l->functions) {
		t->names = header_word(t, l->names);
		t->pcs = header_word(t, l->pcs);
		t->records = t->functions = header_word(t, l->functions);
	}
	if (t->names >= t->in->len || t->pcs >= t->in->len || t->functions >= t->in->len)
		return -ENOENT;
	left = t->in->len - t->functions;
	return t->nr < left / (2 * l->entry_bytes) ? 0 : -ENOENT;
}

/* Word i of the list of functions. Entries are at even places; the last word is the end. */
static uint64_t function_word(const struct go_table *t, uint64_t i)
{
	return field_at(t, t->functions + i * t->layout->entry_bytes, t->layout->entry_bytes);
}

static uint64_t entry_of(const struct go_table *t, uint64_t i)
{
	return (t->layout->entry_bytes == 4 ? t->in->text_vaddr : 0) + function_word(t, 2 * i);
}

/* The name at offset; "" for a long one, as only short names of runtime functions are needed. */
static const char *name_at(const struct go_table *t, uint64_t offset)
{
	uint64_t left = offset < t->in->len ? t->in->len - offset : 0;
	const char *name = (const char *)t->in->pclntab + (t->in->len - left);

	return memchr(name, 0, left < MAX_NAME ? left : MAX_NAME) ? name : "";
}

/* Reads function i; false: it is not in the code, or its record is not in the table. */
static bool read_function(const struct go_table *t, uint64_t i, struct go_function *f)
{
	const struct go_table_input *in = t->in;
	const struct layout *l = t->layout;
	uint64_t record = t->records + function_word(t, 2 * i + 1), pcsp, name;

	f->lo = entry_of(t, i);
	f->hi = entry_of(t, i + 1);
	if (f->lo < in->code_vaddr || f->hi <= f->lo || f->hi - in->code_vaddr > in->code_len ||
	    record >= in->len)
		return false;
	f->code = in->code + (f->lo - in->code_vaddr);
	name = (uint32_t)field_at(t, record + l->entry_bytes, 4);
	pcsp = (uint32_t)field_at(t, record + l->entry_bytes + 12, 4);
	f->name = name_at(t, t->names + name);
	f->flags = l->flags ? (uint8_t)field_at(t, record + l->flags, 1) : 0;
	f->runtime = &t->runtime;
	f->depths = br_make(in->pclntab, in->len);
	br_bytes(&f->depths, t->pcs + pcsp);
	return pcsp;	/* 0: C code, linked by the Go linker */
}

/* A wrapper has the name of the function that it calls, so there may be two of them. */
static void read_runtime(struct go_table *t)
{
	struct go_function f;

	for (uint64_t i = 0; i < t->nr && !t->runtime.is_known; i++) {
		if (read_function(t, i, &f) && !strcmp(f.name, "runtime.systemstack"))
			go_runtime_read(f.code, f.hi - f.lo, &t->runtime);
	}
}

int go_table_rows(const struct go_table_input *in, struct cfi_rows *out)
{
	struct go_table t = { .in = in };
	uint64_t end = 0;	/* of the previous function: they must ascend */
	int err;

	cfi_rows_release(out);
	if (in->machine != CFI_X86_64)
		return -ENOTSUP;
	err = read_header(&t);
	if (!err)
		read_runtime(&t);
	for (uint64_t i = 0; i < t.nr && !err; i++) {
		struct go_function f;

		if (!read_function(&t, i, &f))
			continue;
		out->stats.nr_fdes++;
		if (f.lo >= end)
			err = go_rules_add(&f, out);
		else
			err = -EBADMSG;
		end = f.hi > end ? f.hi : end;
		if (err == -EBADMSG) {
			out->stats.bad_entries++;
			err = 0;
		}
	}
	if (err)
		cfi_rows_release(out);
	return err;
}
