/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_translation.h"

#include <errno.h>
#include <stdbool.h>

#include "src/runtimes/v8/v8_positions.h"

#define MAX_OPERANDS 6
#define MAX_OPERATIONS (1u << 16)	/* that are looked at */

/* The first operations are the same in all versions. */
enum { INTERPRETED, INTERPRETED_TOO, CONTINUATION, CONTINUATION_TOO, NR_JS_FRAMES };

/*
 * What differs between versions: how many operands each operation has, and which numbers the others
 * have that matter. Bytes from nr on say that operations are those of an earlier translation, and
 * how many: as the last operation does, with an operand.
 */
struct grammar {
	uint8_t nr, frames, begin;	/* begin, begin + 1; frames are those below .frames */
	const char *operands;
};

static const struct grammar grammars[] = {
	{ 40, 10, 12, "5333" "213432" "10" "33" "111111111111111111" "0" "11111" "21" },
	{ 45, 11, 14, "6433" "2134333" "100" "33" "111" "0" "11111111111111111" "0" "11111" "21" },
};

struct reading {
	const struct grammar *g;
	const uint8_t *v;
	size_t bytes;
	size_t at;			/* of the next operation */
	size_t earlier;			/* of the next one in the earlier translation */
	uint32_t taken;			/* operations that are still to be taken from there */
	uint32_t passed;		/* that came here since some were, and are skipped there */
	uint32_t looks;
	int bad;
};

struct operation {
	uint32_t code;
	uint32_t operands[MAX_OPERANDS];
};

/* The sign is the lowest bit, and the others are the value without it. */
static int32_t to_signed(uint32_t v)
{
	return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

static void read_operation(struct reading *r, size_t *at, struct operation *o)
{
	if (*at >= r->bytes || r->v[*at] >= r->g->nr - 1 || ++r->looks > MAX_OPERATIONS)
		r->bad = 1;
	if (r->bad)
		return;
	o->code = r->v[(*at)++];
	for (int i = 0; i < r->g->operands[o->code] - '0'; i++)
		o->operands[i] = v8_table_number(r->v, r->bytes, at, &r->bad);
}

static void take_earlier(struct reading *r, struct operation *o)
{
	if (!r->taken)
		r->bad = 1;
	for (; r->passed && !r->bad; r->passed--)
		read_operation(r, &r->earlier, o);
	r->taken--;
	read_operation(r, &r->earlier, o);
}

static void next_operation(struct reading *r, struct operation *o)
{
	const uint32_t match = r->g->nr - 1u;
	uint32_t code;

	if (r->bad || (!r->taken && r->at >= r->bytes)) {
		r->bad = 1;
		return;
	}
	if (r->taken) {
		take_earlier(r, o);
		return;
	}
	code = r->v[r->at];
	if (code < match) {
		read_operation(r, &r->at, o);
		r->passed++;
		return;
	}
	r->at++;
	r->taken = code > match ? code - r->g->nr
				: v8_table_number(r->v, r->bytes, &r->at, &r->bad);
	take_earlier(r, o);
}

static bool is_begin(const struct reading *r, const struct operation *o)
{
	return o->code == r->g->begin || o->code == r->g->begin + 1u;
}

/* How many frames there are; 0: it is no translation. */
static int32_t begin(struct reading *r)
{
	struct operation o = { 0 }, earlier = { 0 };
	const size_t start = r->at;
	size_t at;

	next_operation(r, &o);
	if (r->bad || !is_begin(r, &o) || o.operands[0] > start)
		return 0;
	r->earlier = r->bytes;
	if (o.operands[0]) {
		r->earlier = at = start - o.operands[0];
		read_operation(r, &at, &earlier);
		if (r->bad || !is_begin(r, &earlier))
			return 0;
	}
	return to_signed(o.operands[1]);
}

int v8_translation_read(const uint8_t *v, size_t bytes, uint32_t at, uint32_t version,
			struct v8_frame_state *out, int max)
{
	struct reading r = { .v = v, .bytes = bytes, .at = at };
	int32_t left;
	int nr = 0;

	if (!version || version > sizeof(grammars) / sizeof(grammars[0]))
		return -ESTALE;
	r.g = &grammars[version - 1];
	for (left = begin(&r); left > 0 && !r.bad;) {
		struct operation o = { 0 };

		next_operation(&r, &o);
		if (r.bad || is_begin(&r, &o))
			return -ESTALE;
		left -= o.code < r.g->frames;
		if (o.code >= NR_JS_FRAMES)
			continue;
		if (nr == max)
			return -ESTALE;
		out[nr].literal = to_signed(o.operands[1]);
		out[nr++].bytecode = o.code >= CONTINUATION ? -1 : to_signed(o.operands[0]);
	}
	return r.bad || !nr ? -ESTALE : nr;
}
