/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_inlining.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/v8/v8_deopt.h"
#include "src/runtimes/v8/v8_maglev.h"
#include "src/runtimes/v8/v8_positions.h"

#define INLINING_BYTES 16		/* of an inlining position: where it is called, and what */
#define MAX_INLININGS (1u << 16)

struct inlining {
	int32_t caller;			/* index; -1: the function itself */
	int32_t function;		/* index of the literal */
	int32_t character;		/* of the call */
};

struct reading {
	struct v8_deopt d;
	uint8_t *inlinings;
	size_t nr_inlinings;
};

static int read_inlinings(struct reading *r)
{
	uint64_t array;
	int err = v8_deopt_element(&r->d, r->d.data, r->d.l->deopt_inlining, &array), bytes;

	if (err)
		return err;
	bytes = v8_bytes_read(r->d.m, array, &r->inlinings);
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
		err = v8_deopt_literal(&r->d, at.function, &out[nr].shared);
		out[nr++].character = character;
		inlining = at.caller;
		character = at.character;
	}
	/* Positions lead outwards; more of them than can be is a circle. */
	if (!err && inlining >= 0)
		err = -ESTALE;
	if (!err)
		err = v8_deopt_function(&r->d, &out[nr].shared);
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

/* Maglev's code has no positions. */
static int put_unknown(const struct reading *r, struct v8_inlined *out)
{
	out[0] = out[1] = (struct v8_inlined){ .shared = 0, .character = -1 };
	return v8_deopt_function(&r->d, &out[1].shared) ? -ESTALE : 2;
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

static int at_positions(struct reading *r, const struct v8_code *c, uint64_t pc, int is_interrupted,
			struct v8_inlined *out)
{
	struct v8_position *v = NULL;
	uint8_t *table = NULL;
	int nr = v8_bytes_read(r->d.m, c->positions, &table);

	if (nr >= 0)
		nr = v8_positions_decode(table, (size_t)nr, &v);
	if (nr >= 0)
		nr = at_position(r, v, (size_t)nr, (uint32_t)(pc - c->start), is_interrupted, out);
	free(v);
	free(table);
	return nr;
}

int v8_inlined_at(const struct target_memory *m, const struct v8_layout *l, const struct v8_code *c,
		  uint64_t pc, int is_interrupted, struct v8_inlined out[V8_MAX_INLINED])
{
	struct reading r = { .d = { .m = m, .l = l, .data = c->data } };
	int nr = -ESTALE;

	if (l->translations && c->kind == l->kind_baseline + 1)
		nr = v8_maglev_at(m, l, c, pc, is_interrupted, out);
	if (nr != -ESTALE)
		return nr;
	nr = read_inlinings(&r);
	if (!nr)
		nr = at_positions(&r, c, pc, is_interrupted, out);
	free(r.inlinings);
	return nr;
}
