/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/hotspot/hotspot_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/record.h"
#include "src/runtimes/cached_memory.h"
#include "src/runtimes/hotspot/hotspot_method.h"
#include "src/runtimes/hotspot/hotspot_program.h"
#include "src/runtimes/hotspot/hotspot_stream.h"
#include "src/runtimes/runtime_kind.h"

#define MAX_TABLE (4u << 20)		/* bytes of PcDescs, of scopes */
#define MAX_METHODS 1024		/* of one block of code */
#define BLOB_NAME_BYTES 64
#define KIND_NMETHOD 1

struct scope_method {
	uint32_t index;			/* in the metadata; 0: the method of the code itself */
	struct hotspot_method method;
};

/* What is known of compiled code. An interpreted method has one entry and no tables. */
struct hotspot_code {
	struct scope_method *methods;
	size_t nr_methods, cap_methods;
	uint8_t *pcs, *scopes;
	size_t pcs_bytes, scopes_bytes;
	uint32_t code_size, const_bytes, desc_bytes, desc_pc, desc_scope, version;
	uint8_t tier;
};

struct reading {
	const struct hotspot_layout *l;
	const struct target_memory *m;
	uint64_t code, metadata;
	struct hotspot_code *out;
};

struct scope {
	uint32_t caller, method, bci;	/* caller 0: none */
	bool has_bci;
};

static int read_u32(const struct reading *r, uint32_t offset, uint32_t *v)
{
	return target_read(r->m, r->code + offset, v, sizeof(*v));
}

static int read_u64(const struct reading *r, uint32_t offset, uint64_t *v)
{
	return target_read_u64(r->m, r->code + offset, v);
}

static bool has(uint32_t offset)
{
	return offset != HOTSPOT_ABSENT;
}

/* ---- tables ---- */

static int copy(const struct reading *r, uint64_t from, uint64_t to, uint8_t **v, size_t *bytes)
{
	int err = 0;

	if (to <= from)
		return 0;		/* a native method has none */
	if (to - from > MAX_TABLE)
		return -ESTALE;
	*v = malloc(to - from);
	if (!*v)
		return -ENOMEM;
	for (uint64_t done = 0; done < to - from && !err;) {
		uint64_t n = to - from - done;

		if (n > TARGET_READ_BYTES)
			n = TARGET_READ_BYTES;
		err = target_read(r->m, from + done, *v + done, n);
		done += n;
	}
	*bytes = to - from;
	return err;
}

/* Tables in the nmethod itself: scopes, PcDescs, dependencies, in this order. */
static int find_inner(struct reading *r, uint64_t at[4])
{
	const struct hotspot_layout *l = r->l;
	uint32_t pcs = 0, end = 0, metadata = 0;
	int err = read_u32(r, l->nm_pcs, &pcs);

	if (!err)
		err = read_u32(r, l->nm_pcs_end, &end);
	if (!err)
		err = read_u32(r, l->nm_metadata, &metadata);
	if (!err)
		err = read_u64(r, l->nm_scopes_begin, &at[2]);
	at[0] = r->code + pcs;
	at[1] = r->code + end;
	at[3] = at[0];
	r->metadata = r->code + metadata;
	return err;
}

/* Tables beside it: PcDescs, scopes. */
static int find_outer(struct reading *r, uint64_t at[4])
{
	const struct hotspot_layout *l = r->l;
	uint32_t pcs = 0, scopes = 0, size = 0, relocation = 0;
	uint64_t data = 0, mutable_data = 0;
	int err = read_u32(r, l->nm_pcs, &pcs);

	if (!err)
		err = read_u32(r, l->nm_scopes, &scopes);
	if (!err)
		err = read_u32(r, l->nm_immutable_size, &size);
	if (!err)
		err = read_u64(r, l->nm_immutable_data, &data);
	if (!err)
		err = read_u64(r, l->blob_mutable_data, &mutable_data);
	if (!err)
		err = read_u32(r, l->blob_relocation_size, &relocation);
	at[0] = data + pcs;
	at[1] = at[2] = data + scopes;
	at[3] = data + size;
	r->metadata = mutable_data + relocation;
	return err;
}

static int read_tables(struct reading *r)
{
	struct hotspot_code *c = r->out;
	uint64_t at[4] = { 0 };
	int err = has(r->l->nm_immutable_data) ? find_outer(r, at) : find_inner(r, at);

	if (!err)
		err = copy(r, at[0], at[1], &c->pcs, &c->pcs_bytes);
	if (!err)
		err = copy(r, at[2], at[3], &c->scopes, &c->scopes_bytes);
	return err;
}

static uint32_t table_u32(const struct hotspot_code *c, size_t desc, uint32_t offset)
{
	const struct target_bytes pcs = { c->pcs, c->pcs_bytes };

	return target_bytes_u32(pcs, (uint64_t)desc * c->desc_bytes + offset);
}

static size_t nr_descs(const struct hotspot_code *c)
{
	return c->desc_bytes ? c->pcs_bytes / c->desc_bytes : 0;
}

/* false: there is no such scope. */
static bool scope_at(const struct hotspot_code *c, uint32_t at, struct scope *out)
{
	struct hotspot_stream s = hotspot_stream_at(c->scopes, c->scopes_bytes, at, c->version);
	uint32_t bci;

	if (!at)
		return false;
	out->caller = hotspot_stream_u32(&s);
	out->method = hotspot_stream_u32(&s);
	bci = hotspot_stream_u32(&s);
	out->bci = bci - 1;
	out->has_bci = bci;
	return !s.r.bad;
}

/* ---- methods ---- */

static const struct hotspot_method *method_of(const struct hotspot_code *c, uint32_t index)
{
	for (size_t i = 0; i < c->nr_methods; i++)
		if (c->methods[i].index == index)
			return &c->methods[i].method;
	return NULL;
}

static int add_method(struct reading *r, uint32_t index, uint64_t at, const uint32_t *cookie)
{
	struct hotspot_code *c = r->out;
	struct scope_method *m;
	struct hotspot_method method;
	int err;

	if (c->nr_methods == MAX_METHODS)
		return -EFBIG;
	err = hotspot_method_read(r->l, r->m, at, cookie, &method);
	if (err)
		return err;
	m = array_push(&c->methods, &c->nr_methods, &c->cap_methods);
	if (!m) {
		hotspot_method_release(&method);
		return -ENOMEM;
	}
	*m = (struct scope_method){ index, method };
	return 0;
}

/* Those of a scope and of its callers. What cannot be read stays unknown. */
static int add_scope(struct reading *r, uint32_t at)
{
	struct scope s;

	for (int depth = 0; depth < RUNTIME_MAX_LINES && scope_at(r->out, at, &s); depth++) {
		uint64_t method = 0;
		int err = 0;

		at = s.caller;
		if (!s.method || method_of(r->out, s.method))
			continue;
		if (!target_read_u64(r->m, r->metadata + 8ull * (s.method - 1), &method) && method)
			err = add_method(r, s.method, method, NULL);
		if (err == -ENOMEM || err == -EFBIG)
			return err;
	}
	return 0;
}

static int add_scopes(struct reading *r)
{
	uint32_t last = 0;
	int err = 0;

	for (size_t i = 0; i < nr_descs(r->out) && !err; i++) {
		uint32_t at = table_u32(r->out, i, r->out->desc_scope);

		if (at != last)
			err = add_scope(r, at);
		last = at;
	}
	return err;
}

/* ---- code ---- */

static int read_blob_name(const struct reading *r, char name[BLOB_NAME_BYTES])
{
	uint64_t at = 0;
	int err = read_u64(r, r->l->blob_name, &at);

	memset(name, 0, BLOB_NAME_BYTES);
	for (int i = 0; i < BLOB_NAME_BYTES - 1 && !err; i++) {
		err = target_read(r->m, at + (uint64_t)i, name + i, 1);
		if (!name[i])
			break;
	}
	return err;
}

/*
 * What the stubs in a block are for, by its name: "StubRoutines (1)", since 21 in words. There are
 * many in each, and the JVM keeps no names of them.
 */
static const struct {
	const char *block, *stub;
} stub_blocks[] = {
	{ "StubRoutines (1)", "intrinsic stub" },
	{ "StubRoutines (initial", "intrinsic stub" },
	{ "StubRoutines (compiler", "intrinsic stub" },
	{ "StubRoutines (2)", "arraycopy or intrinsic stub" },
	{ "StubRoutines (final", "arraycopy or intrinsic stub" },
};

static const char *stub_name(const char *block, bool is_interrupted)
{
	for (size_t i = 0; i < sizeof(stub_blocks) / sizeof(stub_blocks[0]); i++) {
		if (strncmp(block, stub_blocks[i].block, strlen(stub_blocks[i].block)))
			continue;
		/* The one that calls other code is that through which native code calls Java. */
		return i < 2 && !is_interrupted ? "call stub" : stub_blocks[i].stub;
	}
	return block;
}

/* 1: the block is a compiled method, 0: it is none; or -errno. */
static int is_method(const struct reading *r)
{
	uint32_t header = 0;
	uint8_t kind = 0;
	int err;

	if (has(r->l->blob_kind)) {
		err = target_read(r->m, r->code + r->l->blob_kind, &kind, 1);
		return err ? err : kind == KIND_NMETHOD;
	}
	err = read_u32(r, r->l->blob_header_size, &header);
	return err ? err : header == r->l->nm_bytes;
}

static uint8_t tier_of(const struct reading *r)
{
	static const uint8_t tiers[] = { TIER_COMPILED, TIER_BASELINE, TIER_BASELINE,
					 TIER_BASELINE, TIER_OPTIMIZED };
	uint8_t level = 0;

	if (target_read(r->m, r->code + r->l->nm_level, &level, 1) || level >= sizeof(tiers))
		return TIER_COMPILED;
	return tiers[level];
}

/*
 * A freed nmethod keeps its number until its memory is used again. Its method does not: another
 * class may be there by then.
 */
static int check_used(const struct reading *r)
{
	uint8_t is_used = 1;
	int err = 0;

	if (has(r->l->block_used))
		err = target_read(r->m, r->code - r->l->block_header + r->l->block_used, &is_used,
				  1);
	return err ? err : is_used ? 0 : -ESTALE;
}

static int check_number(const struct reading *r, uint32_t cookie)
{
	uint32_t number = 0;
	int err = check_used(r);

	if (!err)
		err = read_u32(r, r->l->nm_compile_id, &number);
	return err ? err : number == cookie ? 0 : -ESTALE;
}

/* Where its instructions begin, from the block on. */
static int read_begin(const struct reading *r, uint32_t *offset)
{
	uint64_t begin = 0;
	int err;

	if (!has(r->l->blob_code_begin))
		return read_u32(r, r->l->blob_code_offset, offset);
	err = read_u64(r, r->l->blob_code_begin, &begin);
	*offset = (uint32_t)(begin - r->code);
	return err;
}

static int read_nmethod(struct reading *r, uint32_t cookie, struct runtime_code *c)
{
	uint64_t method = 0;
	int err = check_number(r, cookie);

	if (!err)
		err = read_begin(r, &c->code_offset);
	if (!err)
		err = read_u64(r, r->l->nm_method, &method);
	if (!err)
		err = add_method(r, 0, method, NULL);
	if (!err)
		err = read_u32(r, r->l->blob_size, &r->out->code_size);
	if (!err)
		err = read_tables(r);
	if (!err)
		err = add_scopes(r);
	r->out->tier = tier_of(r);
	return err;
}

/* The first of its names is that of all of the code. */
static int take_name(struct runtime_code *c)
{
	const struct hotspot_code *h = c->own;

	c->name = strdup(h->methods[0].method.name);
	c->file = h->methods[0].method.file ? strdup(h->methods[0].method.file) : NULL;
	c->first_line = h->methods[0].method.first_line;
	return c->name ? 0 : -ENOMEM;
}

static int read_compiled(struct reading *r, uint32_t cookie, struct runtime_code *c)
{
	char name[BLOB_NAME_BYTES];
	int err = is_method(r);

	if (err < 0)
		return err;
	if (!err) {
		err = read_blob_name(r, name);
		if (err)
			return err;
		r->out->tier = TIER_BUILTIN;
		c->name = name[0] ? strdup(name) : NULL;
		return c->name ? 0 : -ESTALE;
	}
	err = read_nmethod(r, cookie, c);
	return err ? err : take_name(c);
}

static int read_interpreted(struct reading *r, uint32_t cookie, struct runtime_code *c)
{
	int err = add_method(r, 0, r->code, &cookie);

	r->out->tier = TIER_INTERPRETED;
	return err ? err : take_name(c);
}

/* Whether it is still what was read, seen without what is kept of memory. */
static int check_unchanged(const struct reading *r, const struct target_memory *m,
			   enum runtime_frame_kind kind, uint32_t cookie)
{
	struct reading now = *r;

	now.m = m;
	if (kind != RUNTIME_FRAME_INTERPRETED)
		return r->out->tier == TIER_BUILTIN ? 0 : check_number(&now, cookie);
	return hotspot_method_check(r->l, m, r->code, cookie);
}

static struct hotspot_code *code_new(const struct hotspot_layout *l)
{
	struct hotspot_code *h = calloc(1, sizeof(*h));

	if (h)
		*h = (struct hotspot_code){ .const_bytes = l->const_bytes,
					    .desc_bytes = l->desc_bytes, .desc_pc = l->desc_pc,
					    .desc_scope = l->desc_scope, .version = l->version };
	return h;
}

int hotspot_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		      enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		      struct runtime_code **out)
{
	struct cached_memory *memory = cached_memory_new(&k->memory);
	struct runtime_code *c = calloc(1, sizeof(*c));
	struct hotspot_image h;
	struct reading r = { .l = &h.layout, .code = code };
	int err = -ENOMEM;

	(void)bias;
	RUNTIME_GET_OWN(image, &h);
	if (c)
		c->own = r.out = code_new(r.l);
	if (memory && r.out) {
		r.m = cached_memory_view(memory);
		err = kind == RUNTIME_FRAME_INTERPRETED ? read_interpreted(&r, cookie, c)
							: read_compiled(&r, cookie, c);
		if (!err)
			err = check_unchanged(&r, &k->memory, kind, cookie);
	}
	cached_memory_free(memory);
	if (!err) {
		r.out->methods = array_shrink(r.out->methods,
					      r.out->nr_methods * sizeof(*r.out->methods));
		r.out->cap_methods = r.out->nr_methods;
		*out = c;
		return 0;
	}
	if (c) {
		hotspot_code_free(c);
		free(c->name);
		free(c->file);
	}
	free(c);
	return err;
}

static struct runtime_line line_of(const struct hotspot_code *h, const struct hotspot_method *m,
				   bool has_bci, uint32_t bci)
{
	return (struct runtime_line){
		.name = m->name, .file = m->file, .first_line = m->first_line, .tier = h->tier,
		.line = has_bci && bci < m->code_bytes ? hotspot_method_line(m, bci) : 0,
	};
}

/* The scope of an instruction; 0: it has none. */
static uint32_t find_scope(const struct hotspot_code *h, uint32_t at, bool is_interrupted)
{
	for (size_t i = 0; i < nr_descs(h); i++) {
		int32_t pc = (int32_t)table_u32(h, i, h->desc_pc);

		if (is_interrupted ? pc > (int32_t)at : pc == (int32_t)at)
			return table_u32(h, i, h->desc_scope);
	}
	return 0;
}

static int lines_of_compiled(const struct runtime_code *c, uint32_t at, bool is_interrupted,
			     struct runtime_line *lines, size_t max)
{
	const struct hotspot_code *h = c->own;
	uint32_t scope = find_scope(h, at, is_interrupted);
	struct scope s;
	size_t n = 0;

	for (; n < max && scope_at(h, scope, &s); n++) {
		const struct hotspot_method *m = method_of(h, s.method);

		if (!m)
			break;
		lines[n] = line_of(h, m, s.has_bci, s.bci);
		scope = s.caller;
	}
	if (scope && n < max)
		n = 0;			/* the chain is damaged */
	if (!n)
		lines[n++] = line_of(h, &h->methods[0].method, false, 0);
	return (int)n;
}

int hotspot_code_lines(const struct runtime_code *c, uint32_t instruction,
		       struct runtime_line *lines, size_t max)
{
	const struct hotspot_code *h = c->own;
	uint32_t at = instruction & ~HOTSPOT_INTERRUPTED;

	if (h->tier == TIER_BUILTIN) {
		*lines = (struct runtime_line){
			.name = stub_name(c->name, instruction & HOTSPOT_INTERRUPTED),
			.tier = TIER_BUILTIN,
		};
		return 1;
	}
	if (h->tier == TIER_INTERPRETED) {
		*lines = line_of(h, &h->methods[0].method, true, instruction - h->const_bytes);
		return 1;
	}
	if (at >= h->code_size)
		return -ESTALE;
	return lines_of_compiled(c, at - c->code_offset, instruction & HOTSPOT_INTERRUPTED, lines,
				 max);
}

void hotspot_code_free(struct runtime_code *c)
{
	struct hotspot_code *h = c->own;

	if (!h)
		return;
	for (size_t i = 0; i < h->nr_methods; i++)
		hotspot_method_release(&h->methods[i].method);
	free(h->methods);
	free(h->pcs);
	free(h->scopes);
	free(h);
	c->own = NULL;
}
