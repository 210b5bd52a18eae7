/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/debug_info/unit_tree.h"
#include "src/debug_info/work_limit.h"

uint32_t unit_scopes_enter(struct unit_scopes *s, uint64_t offset, uint32_t around)
{
	struct unit_scope *x = array_push(&s->v, &s->nr, &s->cap);

	if (!x || s->nr >= NO_SCOPE || offset - s->unit >= UINT32_MAX) {
		s->failed = true;
		return around;
	}
	*x = (struct unit_scope){ (uint32_t)(offset - s->unit), UINT32_MAX, around, 0 };
	return (uint32_t)s->nr - 1;
}

void unit_scopes_leave(struct unit_scopes *s, uint32_t at, uint64_t end)
{
	if (at < s->nr && s->v[at].end == UINT32_MAX)
		s->v[at].end = (uint32_t)(end - s->unit);
}

/* Whether there may be scopes of functions beneath an entry. */
static bool may_have_scopes(const struct die_abbrev *a)
{
	unsigned tag = a->tag;

	return unit_scopes_has(a) || tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

void unit_scopes_read(struct unit_scopes *s, const struct die_units *us, const struct die_unit *u,
		      struct work_limit *w)
{
	struct byte_reader r = die_reader(u, u->first);
	uint32_t at[UNIT_MAX_DEPTH];
	unsigned depth = 0;
	struct die d;

	s->nr = 0;
	s->units = us;
	s->unit = u->offset;
	at[0] = NO_SCOPE;
	while (!r.bad && work_go_on(w, 1)) {
		enum die_found found = die_next(u, &r, &d);

		if (found == DIE_DAMAGED || (found == DIE_END && !depth))
			break;
		if (found == DIE_END) {
			if (at[depth] != at[depth - 1])
				unit_scopes_leave(s, at[depth], d.offset);
			if (!--depth)
				break;
			continue;
		}
		if (!may_have_scopes(d.abbrev) || depth + 1 == UNIT_MAX_DEPTH) {
			die_skip_tree(u, &r, d.abbrev, w);
			continue;
		}
		die_skip(u, &r, d.abbrev, w);
		if (!d.abbrev->has_children)
			continue;
		at[depth + 1] = unit_scopes_has(d.abbrev)
					? unit_scopes_enter(s, d.offset, at[depth])
					: at[depth];
		depth++;
	}
}

struct unit_scope *unit_scopes_around(const struct unit_scopes *s, uint64_t offset)
{
	uint64_t rel = offset - s->unit;
	size_t at = bisect(s->nr, i, s->v[i].offset < rel);
	uint32_t id = at ? (uint32_t)at - 1 : NO_SCOPE;

	while (id != NO_SCOPE && s->v[id].end <= rel)
		id = s->v[id].around;
	return id == NO_SCOPE ? NULL : &s->v[id];
}

void unit_scopes_release(struct unit_scopes *s)
{
	free(s->v);
	bb_release(&s->names);
	memset(s, 0, sizeof(*s));
}
