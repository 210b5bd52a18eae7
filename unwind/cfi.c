#include "unwind/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "unwind/cfi_program.h"

/* Padding between functions up to this needs no row of its own: nothing runs there. */
#define MAX_PADDING 15

/* DW_EH_PE_ */
enum {
	PE_ABSPTR = 0x00, PE_ULEB128 = 0x01, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04, PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c, PE_PCREL = 0x10, PE_TEXTREL = 0x20, PE_DATAREL = 0x30,
	PE_FUNCREL = 0x40, PE_OMIT = 0xff,
};

struct fde {
	uint64_t lo, hi;
	struct byte_reader instructions;
	uint32_t cie;
	uint32_t order;			/* in the section: makes the sort stable */
};

struct parse {
	const struct cfi_input *in;
	const struct cfi_regs *regs;
	struct cfi_rows *out;
	struct cfi_cie *cies;
	uint64_t *cie_at;		/* offset in the section, beside cies[] */
	size_t nr_cies, cap_cies, nr_cie_at, cap_cie_at;
	struct hash_index cie_index;
	struct fde *fdes;
	size_t nr_fdes, cap_fdes;
	bool no_memory;
};

void cfi_rows_release(struct cfi_rows *rows)
{
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}

struct unwind_rule cfi_rows_find(const struct cfi_rows *rows, uint64_t vaddr)
{
	size_t lo = 0, hi = rows->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rows->v[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? rows->v[lo - 1].rule : (struct unwind_rule){ 0 };
}

/* ---- encoded pointers ---- */

static uint64_t pointer_value(struct byte_reader *r, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case PE_ABSPTR: case PE_UDATA8: case PE_SDATA8: return br_u64(r);
	case PE_ULEB128: return br_uv(r);
	case PE_SLEB128: return (uint64_t)cfi_sleb(r);
	case PE_UDATA2: return br_u16(r);
	case PE_UDATA4: return br_u32(r);
	case PE_SDATA2: return (uint64_t)(int64_t)(int16_t)br_u16(r);
	case PE_SDATA4: return (uint64_t)(int64_t)(int32_t)br_u32(r);
	}
	r->bad = true;
	return 0;
}

uint64_t cfi_pointer(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in, uint64_t func)
{
	uint64_t at = in->vaddr + (uint64_t)(r->p - in->eh_frame), v;

	if (encoding == PE_OMIT)
		return 0;
	v = pointer_value(r, encoding);
	switch (encoding & 0x70) {
	case PE_PCREL: return v + at;
	case PE_TEXTREL: return v + in->text_vaddr;
	case PE_DATAREL: return v + in->got_vaddr;
	case PE_FUNCREL: return v + func;
	}
	return v;
}

/* ---- entries ---- */

/* Length field and body of the entry at r; false at the end. 64-bit lengths escape with 0xffffffff. */
static bool next_entry(struct byte_reader *r, struct byte_reader *body)
{
	while (br_left(r) >= 4) {
		uint64_t len = br_u32(r);

		if (!len)
			continue;	/* a terminator in the middle: objects were linked behind it */
		if (len == 0xffffffff)
			len = br_u64(r);
		*body = br_sub(r, len);
		return !body->bad;
	}
	return false;
}

/* What the augmentation string promises, read from the augmentation data. */
static void parse_augmentation(struct parse *ps, struct cfi_cie *c, const char *text, struct byte_reader *r)
{
	struct byte_reader data = br_sub(r, br_uv(r));

	for (const char *a = text + 1; *a && !data.bad; a++) {
		switch (*a) {
		case 'R': c->fde_encoding = br_u8(&data); break;
		case 'P': cfi_pointer(&data, br_u8(&data), ps->in, 0); break;
		case 'L': br_u8(&data); break;
		case 'S': c->is_signal = true; break;
		case 'B': case 'G': break;
		default: return;	/* the rest is skipped by its length */
		}
	}
}

static void parse_cie(struct parse *ps, struct cfi_cie *c, struct byte_reader r)
{
	struct cfi_program program = { .regs = ps->regs, .cie = c };
	const char *text;
	size_t len;
	uint8_t version;

	memset(c, 0, sizeof(*c));
	c->bad = true;
	br_u32(&r);	/* CIE id */
	version = br_u8(&r);
	text = (const char *)r.p;
	len = strnlen(text, br_left(&r));
	if (r.bad || len == br_left(&r) || (version != 1 && version != 3 && version != 4))
		return;
	br_bytes(&r, len + 1);
	if (!strcmp(text, "eh"))
		br_u64(&r);
	if (version == 4)
		br_u16(&r);	/* address and segment sizes */
	c->code_align = br_uv(&r);
	c->data_align = cfi_sleb(&r);
	if (version == 1)
		br_u8(&r);
	else
		br_uv(&r);
	if (text[0] == 'z') {
		c->has_augmentation = true;
		parse_augmentation(ps, c, text, &r);
	}
	program.instructions = r;
	c->bad = r.bad || !cfi_program_run(&program, &c->initial);
}

struct cie_key {
	const struct parse *ps;
	uint64_t at;
};

static bool same_cie(const void *ctx, uint32_t id)
{
	const struct cie_key *k = ctx;

	return k->ps->cie_at[id] == k->at;
}

/* Number of the CIE whose entry begins at this offset; IX_NONE: there is none. */
static uint32_t find_cie(struct parse *ps, uint64_t at)
{
	struct cie_key k = { ps, at };
	uint32_t id = ix_find(&ps->cie_index, hash_u64(9, at), same_cie, &k);
	struct byte_reader r, body;
	struct cfi_cie *c;
	uint64_t *place;

	if (id != IX_NONE)
		return id;
	r = br_make(ps->in->eh_frame + at, ps->in->len - at);
	if (!next_entry(&r, &body))
		return IX_NONE;
	c = array_push(&ps->cies, &ps->nr_cies, &ps->cap_cies);
	place = array_push(&ps->cie_at, &ps->nr_cie_at, &ps->cap_cie_at);
	id = (uint32_t)ps->nr_cies - 1;
	if (!c || !place || ix_add(&ps->cie_index, hash_u64(9, at), id)) {
		ps->no_memory = true;
		return IX_NONE;
	}
	*place = at;
	parse_cie(ps, c, body);
	ps->out->stats.nr_cies++;
	return id;
}

static void parse_fde(struct parse *ps, struct byte_reader body)
{
	uint64_t id_at = (uint64_t)(body.p - ps->in->eh_frame), back = br_u32(&body), len;
	uint32_t cie = back <= id_at ? find_cie(ps, id_at - back) : IX_NONE;
	struct fde f = { .cie = cie, .order = (uint32_t)ps->nr_fdes }, *place;
	const struct cfi_cie *c = cie == IX_NONE ? NULL : &ps->cies[cie];

	if (!c || c->bad) {
		ps->out->stats.bad_entries++;
		return;
	}
	f.lo = cfi_pointer(&body, c->fde_encoding, ps->in, 0);
	len = pointer_value(&body, c->fde_encoding & 0x0f);
	if (c->has_augmentation)
		br_bytes(&body, br_uv(&body));
	f.instructions = body;
	if (body.bad || __builtin_add_overflow(f.lo, len, &f.hi)) {
		ps->out->stats.bad_entries++;
		return;
	}
	if (!len || !f.lo)
		return;		/* a function that the linker threw away */
	place = array_push(&ps->fdes, &ps->nr_fdes, &ps->cap_fdes);
	ps->no_memory |= !place;
	if (place)
		*place = f;
}

static void scan(struct parse *ps)
{
	struct byte_reader r = br_make(ps->in->eh_frame, ps->in->len), body, id;

	while (!ps->no_memory && next_entry(&r, &body)) {
		id = body;
		if (br_u32(&id))
			parse_fde(ps, body);
		else if (id.bad)
			ps->out->stats.bad_entries++;
	}
	if (br_left(&r) >= 4)
		ps->out->stats.bad_entries++;	/* an entry longer than the section: the rest cannot be told apart */
}

static int by_start(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort_fdes(struct parse *ps)
{
	for (size_t i = 1; i < ps->nr_fdes; i++) {
		if (ps->fdes[i].lo < ps->fdes[i - 1].lo) {
			qsort(ps->fdes, ps->nr_fdes, sizeof(*ps->fdes), by_start);
			return;
		}
	}
}

/* ---- rows ---- */

static void push_row(void *ctx, uint64_t vaddr, const struct unwind_rule *rule)
{
	struct parse *ps = ctx;
	struct cfi_rows *out = ps->out;

	if (out->nr && !memcmp(&out->v[out->nr - 1].rule, rule, sizeof(*rule)))
		return;
	if (out->nr && out->v[out->nr - 1].vaddr == vaddr) {
		out->v[out->nr - 1].rule = *rule;
		/* What stands before may now be the same rule. */
		if (out->nr > 1 && !memcmp(&out->v[out->nr - 2].rule, rule, sizeof(*rule)))
			out->nr--;
		return;
	}
	if (array_reserve(&out->v, &out->cap, out->nr + 1)) {
		ps->no_memory = true;
		return;
	}
	out->v[out->nr++] = (struct cfi_row){ vaddr, *rule };
}

static void run_fde(struct parse *ps, const struct fde *f, uint64_t end)
{
	static const struct unwind_rule unsupported = { .cfa = CFA_UNSUPPORTED };
	struct cfi_state state = ps->cies[f->cie].initial;
	struct cfi_program program = {
		.regs = ps->regs, .cie = &ps->cies[f->cie], .instructions = f->instructions, .vaddr = f->lo, .end = end,
		.row = push_row, .ctx = ps,
	};

	if (cfi_program_run(&program, &state))
		return;
	ps->out->stats.bad_entries++;
	if (!ps->out->nr || ps->out->v[ps->out->nr - 1].vaddr < f->lo)
		push_row(ps, f->lo, &unsupported);
}

static void make_rows(struct parse *ps)
{
	static const struct unwind_rule none = { .cfa = CFA_NONE };
	uint64_t covered = 0;

	for (size_t i = 0; i < ps->nr_fdes && !ps->no_memory; i++) {
		const struct fde *f = &ps->fdes[i];
		uint64_t next = i + 1 < ps->nr_fdes ? f[1].lo : UINT64_MAX;

		if (f->lo < covered)
			ps->out->stats.overlaps++;
		if (next == f->lo) {
			ps->out->stats.overlaps++;
			ps->fdes[i + 1].order = f->order;	/* of two with one start the first counts */
			ps->fdes[i + 1].hi = f->hi;
			ps->fdes[i + 1].cie = f->cie;
			ps->fdes[i + 1].instructions = f->instructions;
			continue;
		}
		run_fde(ps, f, f->hi < next ? f->hi : next);
		covered = f->hi;
		if (next == UINT64_MAX || (f->hi < next && next - f->hi > MAX_PADDING))
			push_row(ps, f->hi, &none);
	}
	for (size_t i = 0; i < ps->out->nr; i++)
		ps->out->stats.unsupported += ps->out->v[i].rule.cfa == CFA_UNSUPPORTED;
}

int cfi_parse(const struct cfi_input *in, struct cfi_rows *out)
{
	struct parse ps = { .in = in, .regs = cfi_regs_of(in->machine), .out = out };

	cfi_rows_release(out);
	scan(&ps);
	sort_fdes(&ps);
	out->stats.nr_fdes = ps.nr_fdes;
	make_rows(&ps);
	free(ps.cies);
	free(ps.cie_at);
	free(ps.fdes);
	ix_release(&ps.cie_index);
	return ps.no_memory ? -ENOMEM : 0;
}
