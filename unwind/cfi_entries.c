/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "unwind/cfi_pointer.h"

#define NO_CIE UINT32_MAX
#define LONG_LENGTH 0xffffffffu		/* the length proper follows in 8 bytes */
#define ADDRESS_SIZE 8

struct scan {
	const struct cfi_input *in;
	struct cfi_entries *out;
	struct cfi_stats *stats;
	struct cfi_program program;	/* for the instructions of CIEs; large */
};

/* ---- CIE ---- */

/*
 * Reads the data that belongs to each letter of the augmentation string. After an unknown letter
 * nothing can be read.
 */
static void read_augmentation(const struct cfi_input *in, struct cfi_cie *cie, const char *letters,
			      struct byte_reader *r)
{
	uint64_t len = br_uv(r);
	struct byte_reader data = br_sub(r, len);

	cie->has_augmentation_data = true;
	for (; *letters && !data.bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->fde_encoding = br_u8(&data);
			break;
		case 'P':
			cfi_pointer_skip(&data, br_u8(&data), in);
			break;
		case 'L':
			br_u8(&data);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B':	/* arm64: signed with key B */
		case 'G':	/* arm64: tagged stack */
			break;
		default:
			return;
		}
	}
	r->bad |= data.bad;
}

/* Reads the NUL-terminated string at r; NULL (and bad): there is none. */
static const char *read_string(struct byte_reader *r)
{
	const void *nul = memchr(r->p, 0, br_left(r));

	if (!nul) {
		r->bad = true;
		return NULL;
	}
	return (const char *)br_bytes(r, (uint64_t)((const uint8_t *)nul - r->p) + 1);
}

/* Reads everything before the instructions. False: the kind or the version is unknown. */
static bool read_cie_head(const struct cfi_input *in, struct cfi_cie *cie, struct byte_reader *r)
{
	uint8_t version = br_u8(r);
	const char *letters = read_string(r);

	if (!letters || (version != 1 && version != 3 && version != 4))
		return false;
	if (!strncmp(letters, "eh", 2)) {	/* g++ 2.x: a pointer to its exception table */
		br_bytes(r, ADDRESS_SIZE);
		letters += 2;
	}
	/* the second: size of a segment selector */
	if (version == 4 && (br_u8(r) != ADDRESS_SIZE || br_u8(r)))
		return false;
	cie->code_align = br_uv(r);
	cie->data_align = br_sleb(r);
	cie->ra_reg = version == 1 ? br_u8(r) : br_uv(r);
	if (*letters == 'z')
		read_augmentation(in, cie, letters + 1, r);
	else if (*letters)
		return false;
	return !r->bad;
}

static int add_cie(struct scan *s, struct byte_reader body, uint64_t offset)
{
	struct cfi_cie *cie = array_push(&s->out->cies, &s->out->nr_cies, &s->out->cap_cies);
	uint64_t vaddr;

	if (!cie)
		return -ENOMEM;
	cie->offset = offset;
	cie->bad = !read_cie_head(s->in, cie, &body);
	if (!cie->bad) {
		cfi_program_begin(&s->program, s->in, cie, body, 0);
		while (cfi_program_next(&s->program, &vaddr))
			;
		cie->bad = s->program.bad;
		cie->initial = s->program.state;
	}
	s->stats->nr_cies++;
	s->stats->bad_entries += cie->bad;
	return 0;
}

/* The CIE whose entry begins at offset; nearly always the last one. */
static uint32_t find_cie(const struct cfi_entries *e, uint64_t offset)
{
	size_t nr = e->nr_cies, at;

	if (nr && e->cies[nr - 1].offset == offset)
		return (uint32_t)nr - 1;
	at = bisect(nr, i, e->cies[i].offset < offset);
	return at < nr && e->cies[at].offset == offset ? (uint32_t)at : NO_CIE;
}

/* ---- FDE ---- */

/* 0, -ENOMEM, or -EBADMSG for a damaged one. cie_offset: where its CIE begins. */
static int add_fde(struct scan *s, struct byte_reader body, uint64_t cie_offset)
{
	struct cfi_entries *e = s->out;
	struct cfi_fde fde = { .cie = find_cie(e, cie_offset), .order = (uint32_t)e->nr_fdes },
		       *slot;
	const struct cfi_cie *cie;
	uint64_t len;

	if (fde.cie == NO_CIE || e->cies[fde.cie].bad)
		return -EBADMSG;
	cie = &e->cies[fde.cie];
	fde.lo = cfi_pointer(&body, cie->fde_encoding, s->in);
	len = cfi_pointer_bare(&body, cie->fde_encoding);
	if (cie->has_augmentation_data)
		br_bytes(&body, br_uv(&body));
	if (body.bad || __builtin_add_overflow(fde.lo, len, &fde.hi))
		return -EBADMSG;
	if (!len || !fde.lo)
		return 0;	/* the linker left this function out */
	fde.instructions = body;
	slot = array_push(&e->fdes, &e->nr_fdes, &e->cap_fdes);
	if (!slot)
		return -ENOMEM;
	*slot = fde;
	return 0;
}

/* ---- the section ---- */

/* Reads the body of the next entry and its offset; false at the end. */
static bool next_entry(const struct cfi_input *in, struct byte_reader *r, struct byte_reader *body,
		       uint64_t *offset)
{
	uint64_t len = 0;

	/* A length of 0 ends the entries of one object file; others may follow. */
	while (!len && br_left(r) >= 4) {
		*offset = (uint64_t)(r->p - in->eh_frame);
		len = br_u32(r);
	}
	if (!len)
		return false;
	if (len == LONG_LENGTH)
		len = br_u64(r);
	*body = br_sub(r, len);
	return true;
}

static int read_entry(struct scan *s, struct byte_reader body, uint64_t offset)
{
	uint64_t id_offset = (uint64_t)(body.p - s->in->eh_frame);
	uint32_t id = br_u32(&body);	/* 4 bytes even with a long length */
	int err;

	if (body.bad)
		err = -EBADMSG;
	else if (!id)
		err = add_cie(s, body, offset);
	else
		err = id <= id_offset ? add_fde(s, body, id_offset - id) : -EBADMSG;
	if (err == -EBADMSG) {
		s->stats->bad_entries++;
		err = 0;
	}
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Linkers keep most sections in order; then there is nothing to do. */
static void sort_fdes(struct cfi_entries *e)
{
	for (size_t i = 1; i < e->nr_fdes; i++) {
		if (e->fdes[i].lo < e->fdes[i - 1].lo) {
			qsort(e->fdes, e->nr_fdes, sizeof(*e->fdes), by_start);
			return;
		}
	}
}

static int read_section(struct scan *s)
{
	struct byte_reader r = br_make(s->in->eh_frame, s->in->len), body;
	uint64_t offset;
	int err = 0;

	while (!err && next_entry(s->in, &r, &body, &offset)) {
		if (body.bad)		/* too long, so the next entry is not found */
			s->stats->bad_entries++;
		else
			err = read_entry(s, body, offset);
	}
	return err;
}

/* ---- a part of the section ---- */

/* Loads the entry at offset and gives its body. False: it is not all in the section. */
static bool load_entry(const struct cfi_input *in, uint64_t offset, struct byte_reader *body)
{
	const uint64_t head = 4 + 8;	/* a long length */
	struct byte_reader r;
	uint64_t at;

	if (offset >= in->len || in->len - offset < head || in->load(in->ctx, offset, head))
		return false;
	r = br_make(in->eh_frame + offset, in->len - offset);
	if (!br_u32(&r))
		return false;
	r = br_make(in->eh_frame + offset, in->len - offset);
	return next_entry(in, &r, body, &at) && !body->bad &&
	       !in->load(in->ctx, offset, (uint64_t)(r.p - in->eh_frame) - offset);
}

/* The offset of the CIE of an FDE; false: there is none. */
static bool cie_of(const struct cfi_input *in, struct byte_reader body, uint64_t *offset)
{
	uint64_t id_offset = (uint64_t)(body.p - in->eh_frame);
	uint32_t id = br_u32(&body);

	*offset = id_offset - id;
	return !body.bad && id && id <= id_offset;
}

/* The offsets of the CIEs that the wanted FDEs share, ascending. Returns their number. */
static size_t list_cies(const struct cfi_input *in, uint64_t *cies)
{
	size_t nr = 0, distinct = 0;
	struct byte_reader body;

	for (size_t i = 0; i < in->nr_fdes; i++) {
		uint64_t cie;

		if (load_entry(in, in->fdes[i], &body) && cie_of(in, body, &cie) &&
		    (!nr || cies[nr - 1] != cie))
			cies[nr++] = cie;
	}
	qsort(cies, nr, sizeof(*cies), compare_u64);
	for (size_t i = 0; i < nr; i++)
		if (!distinct || cies[distinct - 1] != cies[i])
			cies[distinct++] = cies[i];
	return distinct;
}

static int read_listed(struct scan *s, const uint64_t *offsets, size_t nr)
{
	struct byte_reader body;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (load_entry(s->in, offsets[i], &body))
			err = read_entry(s, body, offsets[i]);
		else
			s->stats->bad_entries++;
	}
	return err;
}

static int read_part(struct scan *s)
{
	uint64_t *cies = malloc((s->in->nr_fdes + 1) * sizeof(*cies));
	int err = cies ? read_listed(s, cies, list_cies(s->in, cies)) : -ENOMEM;

	free(cies);
	return err ? err : read_listed(s, s->in->fdes, s->in->nr_fdes);
}

int cfi_entries_read(const struct cfi_input *in, struct cfi_entries *out, struct cfi_stats *stats)
{
	struct scan s = { .in = in, .out = out, .stats = stats };
	int err = in->fdes ? read_part(&s) : read_section(&s);

	sort_fdes(out);
	stats->nr_fdes = out->nr_fdes;
	return err;
}

void cfi_entries_release(struct cfi_entries *e)
{
	free(e->cies);
	free(e->fdes);
	memset(e, 0, sizeof(*e));
}
