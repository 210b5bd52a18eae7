/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/v8/v8_layout.h"
#include "src/runtimes/v8/v8_strings.h"

#define PIECE 32768			/* bytes of text that are read at once */

/*
 * A script is known again by its process, its number, and where its text is. Numbers are those of
 * an isolate, of which a process may have several, and a text may be moved: then it is read again.
 */
struct key {
	uint64_t process, id, text;
	uint32_t length;
};

struct v8_lines {
	struct key key;
	uint64_t last_use;
	uint32_t *ends;			/* the first character of each line but the first */
	size_t nr, cap;
	uint32_t until;			/* characters that were looked at */
	uint32_t before;		/* the last of them */
	uint32_t first;			/* line of the first character, from 0 */
};

struct v8_scripts {
	struct v8_lines v[V8_SCRIPTS];
	uint64_t uses;
};

struct v8_scripts *v8_scripts_new(void)
{
	return calloc(1, sizeof(struct v8_scripts));
}

void v8_scripts_free(struct v8_scripts *s)
{
	for (size_t i = 0; s && i < V8_SCRIPTS; i++)
		free(s->v[i].ends);
	free(s);
}

static bool is_same(const struct key *a, const struct key *b)
{
	return a->process == b->process && a->id == b->id && a->text == b->text &&
	       a->length == b->length;
}

/* The lines of that script, or the place of those that were not used for the longest time. */
static struct v8_lines *place_of(struct v8_scripts *s, const struct key *key)
{
	struct v8_lines *oldest = &s->v[0];

	for (size_t i = 0; i < V8_SCRIPTS; i++) {
		if (s->v[i].last_use && is_same(&s->v[i].key, key))
			return &s->v[i];
		if (s->v[i].last_use < oldest->last_use)
			oldest = &s->v[i];
	}
	free(oldest->ends);
	*oldest = (struct v8_lines){ .key = *key };
	return oldest;
}

/* A carriage return before a newline ends no line of its own, which is seen one character later. */
static bool ends_line(uint32_t c, uint32_t before)
{
	return before == '\n' || (before == '\r' && c != '\n') || before == 0x2028 ||
	       before == 0x2029;
}

static int look_at(struct v8_lines *l, const uint8_t *v, uint32_t n, uint32_t width)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = width == 1 ? v[i] : v[2 * i] | (uint32_t)v[2 * i + 1] << 8;
		uint32_t *end;

		if (ends_line(c, l->before)) {
			end = l->nr < V8_MAX_LINES ? array_push(&l->ends, &l->nr, &l->cap) : NULL;
			if (!end)
				return l->nr < V8_MAX_LINES ? -ENOMEM : -ENOTSUP;
			*end = l->until + i;
		}
		l->before = c;
	}
	l->until += n;
	return 0;
}

static int look_on(const struct target_memory *m, const struct v8_text *t, uint32_t until,
		   struct v8_lines *l)
{
	const uint32_t most = PIECE / t->width;
	uint8_t v[PIECE];
	int err = 0;

	while (!err && l->until < until) {
		uint32_t n = t->length - l->until < most ? t->length - l->until : most;

		err = target_read(m, t->addr + (uint64_t)l->until * t->width, v,
				  (size_t)n * t->width);
		if (!err)
			err = look_at(l, v, n, t->width);
	}
	return err;
}

int v8_lines_find(const struct kept_memory *k, uint64_t script, uint32_t until,
		  const struct v8_lines **out)
{
	struct v8_scripts *const scripts = k->kept;
	const struct target_memory *m = &k->memory;
	uint64_t head[V8_SCRIPT_ID / 8 + 1];
	struct v8_lines *l;
	struct v8_text t;
	struct key key;
	int err = target_read(m, script - V8_TAG, head, sizeof(head));

	if (!err)
		err = v8_text_find(m, head[V8_SCRIPT_SOURCE / 8], &t);
	if (err)
		return err;
	if (until > t.length)
		until = t.length;
	if (until > V8_MAX_TEXT)
		return -ENOTSUP;
	key = (struct key){ k->process, head[V8_SCRIPT_ID / 8], t.addr, t.length };
	l = place_of(scripts, &key);
	l->last_use = ++scripts->uses;
	l->first = (uint32_t)(head[V8_SCRIPT_LINE_OFFSET / 8] >> 32);
	err = look_on(m, &t, until, l);
	*out = l;
	return err;
}

uint32_t v8_line_of(const struct v8_lines *l, int64_t character)
{
	size_t low = 0, nr = l ? l->nr : 0;

	if (!l || character < 0 || character > l->until || !l->until)
		return 0;
	while (nr) {
		size_t half = nr / 2;

		if (l->ends[low + half] <= character) {
			low += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return (uint32_t)low + 1 + l->first;
}
