/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8_inlining.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/v8_positions.h"

#define INLINING_BYTES 16		/* of an inlining position: where it is called, and what */
#define MAX_INLININGS (1u << 16)
#define WEAK 2				/* beside V8_TAG */
#define WRAPPED 8			/* where a wrapper has its object */

struct inlining {
	int32_t caller;			/* index; -1: the function itself */
	int32_t function;		/* index of the literal */
	int32_t character;		/* of the call */
};

struct reading {
	const struct target_memory *m;
	const struct v8_layout *l;
	uint64_t data;			/* deoptimization data */
	uint8_t *inlinings;
	size_t nr_inlinings;
};

/* Element i of a FixedArray, which must have it. */
static int element(const struct reading *r, uint64_t array, uint32_t i, uint64_t *v)
{
	uint64_t length;
	int err = (array & 1) ? target_read_u64(r->m, (array & ~3ull) + V8_ARRAY_LENGTH, &length)
			      : -ESTALE;

	if (!err && i >= length >> 32)
		err = -ESTALE;
	return err ? err : target_read_u64(r->m, (array & ~3ull) + V8_ARRAY_DATA + 8ull * i, v);
}

static int outermost(const struct reading *r, uint64_t *shared)
{
	int err = element(r, r->data, r->l->deopt_shared, shared);

	if (!err && r->l->deopt_wraps)
		err = target_read_u64(r->m, (*shared & ~3ull) + WRAPPED, shared);
	return err;
}

static int read_inlinings(struct reading *r)
{
	uint64_t array;
	int err = element(r, r->data, r->l->deopt_inlining, &array), bytes;

	if (err)
		return err;
	bytes = v8_octets_read(r->m, array, &r->inlinings);
	if (bytes < 0)
		return bytes;
	r->nr_inlinings = (size_t)bytes / INLINING_BYTES;
	return r->nr_inlinings > MAX_INLININGS ? -ESTALE : 0;
}

static struct inlining inlining_at(const struct reading *r, size_t i)
{
	const uint8_t *v = r->inlinings + i * INLINING_BYTES;
	struct v8_position p;
	struct inlining out;
	uint64_t raw;

	memcpy(&raw, v, sizeof(raw));
	memcpy(&out.function, v + sizeof(raw), sizeof(out.function));
	v8_position_decode(raw, &p);
	out.caller = p.inlining;
	out.character = p.character;
	return out;
}

static int literal(const struct reading *r, int32_t i, uint64_t *shared)
{
	uint64_t literals;
	int err = i < 0 ? -ESTALE : element(r, r->data, r->l->deopt_literals, &literals);

	if (!err)
		err = element(r, literals, (uint32_t)i, shared);
	*shared = err ? 0 : *shared & ~(uint64_t)WEAK;
	return err;
}

/* From the inlining position on outwards. */
static int expand(const struct reading *r, int32_t inlining, int32_t character,
		  struct v8_inlined out[V8_MAX_INLINED])
{
	int nr = 0, err = 0;

	while (!err && inlining >= 0 && nr < V8_MAX_INLINED - 1) {
		struct inlining at;

		if ((size_t)inlining >= r->nr_inlinings)
			return -ESTALE;
		at = inlining_at(r, (size_t)inlining);
		err = literal(r, at.function, &out[nr].shared);
		out[nr++].character = character;
		inlining = at.caller;
		character = at.character;
	}
	/* Positions lead outwards; more of them than can be is a circle. */
	if (!err && inlining >= 0)
		err = -ESTALE;
	if (!err)
		err = outermost(r, &out[nr].shared);
	out[nr].character = character;
	return err ? err : nr + 1;
}

/* How many callers an inlining position has. */
static int depth(const struct reading *r, int32_t inlining)
{
	int n = 0;

	while (inlining >= 0 && (size_t)inlining < r->nr_inlinings && n < V8_MAX_INLINED) {
		inlining = inlining_at(r, (size_t)inlining).caller;
		n++;
	}
	return n;
}

/* The innermost inlining position that both are in; -1: none. */
static int32_t common(const struct reading *r, int32_t a, int32_t b)
{
	int da = depth(r, a), db = depth(r, b);

	while (a != b && (da || db)) {
		if (da >= db && a >= 0 && (size_t)a < r->nr_inlinings) {
			a = inlining_at(r, (size_t)a).caller;
			da--;
		} else if (b >= 0 && (size_t)b < r->nr_inlinings) {
			b = inlining_at(r, (size_t)b).caller;
			db--;
		} else {
			return -1;
		}
	}
	return a == b ? a : -1;
}

/* Maglev's code has no positions unless something has asked V8 for them. */
static int put_unknown(const struct reading *r, struct v8_inlined *out)
{
	out[0] = out[1] = (struct v8_inlined){ .shared = 0, .character = -1 };
	return outermost(r, &out[1].shared) ? -ESTALE : 2;
}

static int at_position(const struct reading *r, const struct v8_position *v, size_t nr,
		       uint32_t offset, int is_interrupted, struct v8_inlined *out)
{
	const struct v8_position *p = v8_position_at(v, nr, offset);
	int32_t inlining;

	if (!is_interrupted && !p && r->nr_inlinings)
		return put_unknown(r, out);
	if (!is_interrupted)
		return p ? expand(r, p->inlining, p->character, out) : expand(r, -1, -1, out);
	if (!p || p + 1 == v + nr)
		return expand(r, -1, -1, out);
	inlining = common(r, p->inlining, p[1].inlining);
	return expand(r, inlining, p->inlining == p[1].inlining ? p->character : -1, out);
}

int v8_inlined_at(const struct target_memory *m, const struct v8_layout *l, const struct v8_code *c,
		  uint64_t pc, int is_interrupted, struct v8_inlined out[V8_MAX_INLINED])
{
	struct reading r = { .m = m, .l = l, .data = c->data };
	const uint32_t offset = (uint32_t)(pc - c->start);
	struct v8_position *v = NULL;
	uint8_t *table = NULL;
	int err = read_inlinings(&r), nr = 0;

	if (!err) {
		nr = v8_octets_read(m, c->positions, &table);
		if (nr >= 0)
			nr = v8_positions_decode(table, (size_t)nr, &v);
		err = nr < 0 ? nr : 0;
	}
	if (!err)
		err = at_position(&r, v, (size_t)nr, offset, is_interrupted, out);
	free(v);
	free(table);
	free(r.inlinings);
	return err;
}
