/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/split_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "src/debug_info/die_units.h"
#include "src/debug_info/dwp_index.h"
#include "src/debug_info/split_file.h"
#include "src/debug_info/work_limit.h"

static const char *string_of(const struct die_unit *u, enum die_slot slot)
{
	return die_has(&u->entry, slot) ? die_string(u, &u->entry.value[slot]) : NULL;
}

bool split_unit_name(const struct die_unit *u, const char **name, const char **dir)
{
	*name = string_of(u, DIE_DWO_NAME);
	*dir = string_of(u, DIE_COMP_DIR);
	return *name != NULL;
}

/* Finds the unit among those of one .debug_info.dwo. */
static int find_in(const struct die_unit *skeleton, const struct debug_bytes *info,
		   struct work_limit *w, struct split_unit *x)
{
	struct die_skeleton k = { .addr_base = skeleton->addr_base, .base = skeleton->base };
	int err;

	x->s.part[DEBUG_INFO] = *info;
	err = die_units_new(&x->s, &x->units);
	if (err)
		return err;
	die_number(&skeleton->entry, DIE_GNU_RANGES_BASE, &k.ranges_base);
	die_units_set_skeleton(x->units, &k);
	x->u = die_units_find_split(x->units, skeleton->id, w, &err);
	if (x->u)
		die_units_keep(x->units, x->u);
	else
		split_unit_release(x);
	return err;
}

static int find_in_any(const struct die_unit *skeleton, const struct debug_bytes *infos, size_t nr,
		       struct work_limit *w, struct split_unit *x)
{
	int err = -ENOENT;

	for (size_t i = 0; i < nr && err == -ENOENT; i++)
		err = find_in(skeleton, &infos[i], w, x);
	return err;
}

int split_unit_find(const struct die_unit *skeleton, const struct split_parts *parts,
		    struct work_limit *w, struct split_unit *out)
{
	const struct debug_bytes *infos = parts->infos;
	size_t nr = parts->nr_infos;
	int err = 0;

	*out = (struct split_unit){ .s = parts->s };
	if (parts->index.len) {
		err = dwp_index_find(&parts->index, &parts->s, skeleton->id, &out->s);
		infos = &out->s.part[DEBUG_INFO];
		nr = 1;
	}
	out->s.part[DEBUG_ADDR] = skeleton->s->part[DEBUG_ADDR];
	out->s.part[DEBUG_RANGES] = skeleton->s->part[DEBUG_RANGES];
	return err ? err : find_in_any(skeleton, infos, nr, w, out);
}

void split_unit_release(struct split_unit *x)
{
	die_units_free(x->units);
	x->units = NULL;
	x->u = NULL;
}
