/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entry i of the deoptimization data is an offset of a bytecode, where the translation begins, and
 * where the exit is. First come those of checks, whose exits are one after the other; then those of
 * calls, which the table of safepoints names.
 *
 * Places are laid out in the order of bytecodes, function by function, and what is slow or rare
 * once more in that order behind it. So an instruction between two places of one inlined function
 * is in it, too.
 */
#include "src/runtimes/v8/v8_maglev.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/runtimes/v8/v8_bytecodes.h"
#include "src/runtimes/v8/v8_deopt.h"
#include "src/runtimes/v8/v8_positions.h"
#include "src/runtimes/v8/v8_translation.h"

#define MAX_CODE (4u << 20)		/* bytes */
#define MAX_TABLE (1u << 20)
#define MAX_ENTRIES (1u << 16)
#define MAX_WORDS (MAX_ENTRIES * 3)
#define TABLE_HEADER 16			/* bytes, of the table of safepoints */
#define SMALL_INTEGER_SHIFT 32
#define NO_PLACE UINT32_MAX
/* Jumps of x86-64 to a distance of 32 bits: always, and on a condition. */
#define JUMP 0xe9
#define JUMP_IF_0 0x0f
#define JUMP_IF_1 0x80
#define JUMP_IF_MASK 0xf0

#define NR_INLINED 1			/* how many functions were inlined: index in the data */
/* Behind v8_layout.deopt_exits; the numbers of checks and calls are next to it. */
enum { EXITS, NR_CHECKS, NR_CALLS, FIRST_ENTRY };
enum { ENTRY_BYTECODE, ENTRY_TRANSLATION, ENTRY_EXIT, ENTRY_WORDS };

struct place {
	uint32_t offset;		/* of the next instruction */
	uint32_t entry;
};

struct maglev {
	struct v8_deopt d;
	const struct v8_code *code;
	uint64_t *words;		/* of the deoptimization data, from the first entry on */
	uint32_t exits, nr_checks, nr_entries, nr_inlined;
	uint8_t *translations;
	size_t translation_bytes;
	struct place *places;
	size_t nr, cap;
};

/* Frames of one place, outermost first. */
struct frames {
	struct v8_frame_state v[V8_MAX_INLINED];
	int nr;
};

static int number(const struct maglev *g, uint32_t i, uint32_t max, uint32_t *out)
{
	uint64_t word;
	int err = v8_deopt_element(&g->d, g->d.data, i, &word);

	if (!err && word >> SMALL_INTEGER_SHIFT > max)
		err = -ESTALE;
	*out = err ? 0 : (uint32_t)(word >> SMALL_INTEGER_SHIFT);
	return err;
}

static uint32_t entry(const struct maglev *g, uint32_t i, int which)
{
	return (uint32_t)(g->words[i * ENTRY_WORDS + (uint32_t)which] >> SMALL_INTEGER_SHIFT);
}

static int read_entries(struct maglev *g)
{
	const uint32_t at = g->d.l->deopt_exits, first = at + FIRST_ENTRY;
	uint32_t nr_calls = 0;
	uint64_t last;
	int err = number(g, at + EXITS, MAX_CODE, &g->exits);

	if (!err)
		err = number(g, at + NR_CHECKS, MAX_ENTRIES / 2, &g->nr_checks);
	if (!err)
		err = number(g, at + NR_CALLS, MAX_ENTRIES / 2, &nr_calls);
	if (!err)
		err = number(g, NR_INLINED, UINT32_MAX, &g->nr_inlined);
	g->nr_entries = g->nr_checks + nr_calls;
	if (err || !g->nr_entries || g->exits > g->code->size)
		return err ? err : -ESTALE;
	/* The array is as long as that. */
	err = v8_deopt_element(&g->d, g->d.data, first + g->nr_entries * ENTRY_WORDS - 1, &last);
	if (err)
		return err;
	g->words = calloc(g->nr_entries, ENTRY_WORDS * sizeof(*g->words));
	if (!g->words)
		return -ENOMEM;
	return v8_memory_read(g->d.m, (g->d.data & ~3ull) + V8_ARRAY_DATA + 8ull * first,
			      (uint8_t *)g->words,
			      (size_t)g->nr_entries * ENTRY_WORDS * sizeof(*g->words));
}

static int read_translations(struct maglev *g)
{
	uint64_t array;
	int err = v8_deopt_element(&g->d, g->d.data, 0, &array), bytes;

	if (err)
		return err;
	bytes = v8_bytes_read(g->d.m, array, &g->translations);
	if (bytes < 0)
		return bytes;
	g->translation_bytes = (size_t)bytes;
	return 0;
}

static int add_place(struct maglev *g, uint32_t offset, uint32_t i)
{
	struct place *p = array_push(&g->places, &g->nr, &g->cap);

	if (!p)
		return -ENOMEM;
	*p = (struct place){ offset, i };
	return 0;
}

/* ---- calls ---- */

struct safepoints {
	uint32_t nr, has_entry, pc_bytes, entry_bytes, bytes;
};

static uint32_t little_endian(const uint8_t *v, uint32_t n)
{
	uint32_t out = 0;

	for (uint32_t i = 0; i < n; i++)
		out |= (uint32_t)v[i] << 8 * i;
	return out;
}

static int read_header(const struct maglev *g, struct safepoints *s)
{
	uint8_t header[TABLE_HEADER];
	const uint8_t *length = header + g->d.l->safepoint_length;
	uint32_t sizes, register_bytes;
	int err = target_read(g->d.m, g->code->start + g->code->size, header, sizeof(header));

	if (err)
		return err;
	s->nr = little_endian(length, 4);
	sizes = little_endian(length + 4, 4);
	s->has_entry = sizes & 1;
	register_bytes = sizes >> 1 & 7;
	s->pc_bytes = sizes >> 4 & 7;
	s->entry_bytes = sizes >> 7 & 7;
	if (s->nr > MAX_ENTRIES || register_bytes > 4 || s->pc_bytes > 4 || s->entry_bytes > 4)
		return -ESTALE;
	s->bytes = s->pc_bytes + 1 + register_bytes;
	if (s->has_entry)
		s->bytes += s->entry_bytes + s->pc_bytes;
	return s->nr * s->bytes > MAX_TABLE ? -ESTALE : 0;
}

/*
 * Return addresses that have an entry. Once the code is to be left, those on the stack are replaced
 * by the entry's exit.
 */
static int add_calls(struct maglev *g, uint32_t address, uint32_t *at)
{
	struct safepoints s;
	uint8_t *v = NULL;
	int err = read_header(g, &s);

	*at = NO_PLACE;
	if (err || !s.has_entry || !s.nr)
		return err;
	v = malloc((size_t)s.nr * s.bytes);
	if (!v)
		return -ENOMEM;
	err = v8_memory_read(g->d.m, g->code->start + g->code->size + TABLE_HEADER, v,
			     (size_t)s.nr * s.bytes);
	for (uint32_t i = 0; !err && i < s.nr; i++) {
		const uint8_t *p = v + (size_t)i * s.bytes;
		const uint32_t offset = little_endian(p, s.pc_bytes);
		const uint32_t e = little_endian(p + s.pc_bytes, s.entry_bytes) - 1;
		const uint32_t exit = little_endian(p + s.pc_bytes + s.entry_bytes, s.pc_bytes) - 1;

		if (e >= g->nr_entries)
			continue;
		if (address == offset || address == exit)
			*at = e;
		err = add_place(g, offset, e);
	}
	free(v);
	return err;
}

/* ---- checks ---- */

/* The check whose exit that is. */
static uint32_t check_of(const struct maglev *g, uint32_t exit)
{
	const uint32_t first = entry(g, 0, ENTRY_EXIT);
	uint32_t step, i;

	if (g->nr_entries < 2 || exit < g->exits || exit < first)
		return NO_PLACE;
	step = entry(g, 1, ENTRY_EXIT) - first;
	i = step ? (exit - first) / step : 0;
	return i < g->nr_checks && entry(g, i, ENTRY_EXIT) == exit ? i : NO_PLACE;
}

static int add_checks(struct maglev *g)
{
	const size_t bytes = g->exits;
	uint8_t *v;
	int err;

	if (!g->nr_checks || !bytes)
		return 0;
	v = malloc(bytes);
	if (!v)
		return -ENOMEM;
	err = v8_memory_read(g->d.m, g->code->start, v, bytes);
	for (size_t i = 0; !err && i + 6 <= bytes; i++) {
		size_t next = i + 5;
		uint32_t e;

		if (v[i] == JUMP_IF_0 && (v[i + 1] & JUMP_IF_MASK) == JUMP_IF_1)
			next = i + 6;
		else if (v[i] != JUMP)
			continue;
		e = check_of(g, (uint32_t)next + little_endian(v + next - 4, 4));
		if (e != NO_PLACE)
			err = add_place(g, (uint32_t)next, e);
	}
	free(v);
	return err;
}

/* ---- frames ---- */

static int by_offset(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	return (p->offset > q->offset) - (p->offset < q->offset);
}

/* The first place behind offset. */
static size_t place_behind(const struct maglev *g, uint32_t offset)
{
	size_t i = 0;

	while (i < g->nr && g->places[i].offset <= offset)
		i++;
	return i;
}

static int frames_at(const struct maglev *g, uint32_t i, struct frames *f)
{
	f->nr = v8_translation_read(g->translations, g->translation_bytes,
				    entry(g, i, ENTRY_TRANSLATION), g->d.l->translations, f->v,
				    V8_MAX_INLINED);
	return f->nr < 0 ? f->nr : 0;
}

/*
 * *f becomes what it has in common with the frames behind. Whether those are of the same function
 * that was inlined at the same place.
 */
static int keep_common(struct frames *f, const struct frames *behind)
{
	int n = 0;

	for (; n < f->nr && n < behind->nr && f->v[n].literal == behind->v[n].literal; n++) {
		if (f->v[n].bytecode == behind->v[n].bytecode)
			continue;
		if (n + 1 == f->nr && n + 1 == behind->nr)
			return 1;
		f->v[n].bytecode = -1;
		f->nr = n + 1;
		return 0;
	}
	if (n == f->nr && n == behind->nr)
		return 1;
	f->nr = n;
	return 0;
}

/* The frames of an address that no table has. Returns whether no more were inlined there. */
static int frames_between(const struct maglev *g, uint32_t offset, struct frames *f)
{
	const size_t i = place_behind(g, offset);
	struct frames behind;
	int err;

	if (!g->nr)
		return -ESTALE;
	err = frames_at(g, g->places[i ? i - 1 : 0].entry, f);
	if (err)
		return err;
	if (!i || i == g->nr) {
		f->nr = 1;
		f->v[0].bytecode = -1;
		return 0;
	}
	err = frames_at(g, g->places[i].entry, &behind);
	if (err)
		return err;
	return keep_common(f, &behind) ? 1 : f->nr ? 0 : -ESTALE;
}

static int put_frames(const struct maglev *g, const struct frames *f, struct v8_inlined *out)
{
	int err = 0;

	for (int i = 0; !err && i < f->nr; i++) {
		struct v8_inlined *o = &out[f->nr - 1 - i];

		err = v8_deopt_literal(&g->d, f->v[i].literal, &o->shared);
		if (!err)
			err = v8_bytecodes_character(g->d.m, g->d.l, o->shared, f->v[i].bytecode,
						     &o->character);
	}
	return err ? err : f->nr;
}

/* A call that no table has: the functions that were inlined there may be more. */
static int put_call(const struct maglev *g, struct frames *f, int is_sure, struct v8_inlined *out)
{
	int mark = !is_sure && g->nr_inlined && f->nr < V8_MAX_INLINED, nr;

	f->v[f->nr - 1].bytecode = -1;
	out[0] = (struct v8_inlined){ .shared = 0, .character = -1 };
	nr = put_frames(g, f, out + mark);
	return nr < 0 ? nr : nr + mark;
}

static int tell(struct maglev *g, uint32_t offset, int is_interrupted, struct v8_inlined *out)
{
	struct frames f;
	uint32_t call;
	int err = add_calls(g, offset + !is_interrupted, &call), is_sure = 0;

	if (!err && !is_interrupted && call != NO_PLACE) {
		err = frames_at(g, call, &f);
		return err ? err : put_frames(g, &f, out);
	}
	if (!err)
		err = add_checks(g);
	if (err)
		return err;
	qsort(g->places, g->nr, sizeof(*g->places), by_offset);
	is_sure = frames_between(g, offset, &f);
	if (is_sure < 0)
		return is_sure;
	return is_interrupted ? put_frames(g, &f, out) : put_call(g, &f, is_sure, out);
}

int v8_maglev_at(const struct target_memory *m, const struct v8_layout *l, const struct v8_code *c,
		 uint64_t pc, int is_interrupted, struct v8_inlined out[V8_MAX_INLINED])
{
	struct maglev g = { .d = { .m = m, .l = l, .data = c->data }, .code = c };
	int nr = read_entries(&g);

	if (!nr)
		nr = read_translations(&g);
	if (!nr)
		nr = tell(&g, (uint32_t)(pc - c->start), is_interrupted, out);
	free(g.words);
	free(g.translations);
	free(g.places);
	return nr;
}
