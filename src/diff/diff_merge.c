/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/diff/diff_merge.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/profile/profile.h"
#include "src/profile/profile_delta.h"
#include "src/profile/tree_builder.h"

/* Names that are compared, by those of one side; 0: not made yet, else plus 1. */
struct name_map {
	uint32_t *names, *labels, *files;
};

struct merging {
	struct tree_builder tree;
	struct name_map maps[2];
	char *buf;			/* room for the longest name */
	size_t cap_buf;
};

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(s + len - n, end, n);
}

/* The length of s without digits at its end. */
static size_t without_digits(const char *s, size_t len)
{
	while (len && s[len - 1] >= '0' && s[len - 1] <= '9')
		len--;
	return len;
}

/* The length without the clone's number: of "copy.constprop.3", that of "copy.constprop". */
static size_t without_clone(const char *s, size_t len)
{
	static const char *const words[] = { ".constprop.", ".isra.", ".part.", ".llvm.",
					     ".lto_priv.", ".cold.", ".clone." };
	size_t stem = without_digits(s, len);

	for (size_t i = 0; stem < len && i < sizeof(words) / sizeof(words[0]); i++)
		if (ends_with(s, stem, words[i]))
			return stem - 1;
	return len;
}

/* The length of the name alone in "java (12)" and "cc1plus (212 processes)". */
static size_t without_number(const char *s, size_t len)
{
	static const char many[] = " processes)";
	size_t end = ends_with(s, len, many) ? len - strlen(many)
		     : ends_with(s, len, ")")  ? len - 1
					       : 0;
	size_t stem = without_digits(s, end);

	return end && stem < end && ends_with(s, stem, " (") ? stem - 2 : len;
}

/* The length of "[libfoo.so" in "[libfoo.so.1.2+0x1a40]"; 0: it is a name. */
static size_t without_address(const char *s, size_t len)
{
	const char *plus, *version;

	if (len < 2 || s[0] != '[' || s[len - 1] != ']')
		return 0;
	plus = memrchr(s, '+', len);
	if (!plus || plus + 3 > s + len || memcmp(plus, "+0x", 3))
		return 0;
	version = memmem(s, (size_t)(plus - s), ".so.", 4);
	return (size_t)((version ? version + 3 : plus) - s);
}

size_t diff_name(char *dst, const char *s, size_t len, bool is_label)
{
	size_t stem = is_label ? 0 : without_address(s, len);

	if (stem) {
		memcpy(dst, s, stem);
		dst[stem] = ']';
		return stem + 1;
	}
	len = is_label ? without_number(s, len) : without_clone(s, len);
	memcpy(dst, s, len);
	return len;
}

static size_t last_part(char *dst, const char *s, size_t len)
{
	const char *slash = memrchr(s, '/', len);

	if (slash && slash + 1 < s + len) {
		len -= (size_t)(slash + 1 - s);
		s = slash + 1;
	}
	memcpy(dst, s, len);
	return len;
}

enum map_kind { MAP_NAME, MAP_LABEL, MAP_FILE };

static uint32_t mapped(struct merging *m, const struct profile *p, struct name_map *map,
		       enum map_kind kind, uint32_t name)
{
	uint32_t *known = kind == MAP_NAME    ? &map->names[name]
			  : kind == MAP_LABEL ? &map->labels[name]
					      : &map->files[name];
	size_t len;
	const char *s = intern_get(p->names, name, &len);

	if (*known)
		return *known - 1;
	if (len >= m->cap_buf) {
		char *more = realloc(m->buf, len + 1);

		m->tree.failed |= !more;
		if (!more)
			return 0;
		m->buf = more;
		m->cap_buf = len + 1;
	}
	len = kind == MAP_FILE ? last_part(m->buf, s, len)
			       : diff_name(m->buf, s, len, kind == MAP_LABEL);
	*known = tree_builder_name(&m->tree, m->buf, len) + 1;
	return *known - 1;
}

static int map_init(struct name_map *map, const struct profile *p)
{
	size_t nr = intern_count(p->names);

	map->names = calloc(nr, sizeof(*map->names));
	map->labels = calloc(nr, sizeof(*map->labels));
	map->files = calloc(nr, sizeof(*map->files));
	return map->names && map->labels && map->files ? 0 : -ENOMEM;
}

static void map_release(struct name_map *map)
{
	free(map->names);
	free(map->labels);
	free(map->files);
}

/* Nodes come after their parents, so the parent's place is known. The roots are one. */
static int place_nodes(struct merging *m, const struct profile *p, struct name_map *map,
		       uint32_t **placep)
{
	uint32_t *place = calloc(p->nr_nodes, sizeof(*place));

	*placep = place;
	if (!place || map_init(map, p))
		return -ENOMEM;
	for (size_t i = 1; i < p->nr_nodes && !m->tree.failed; i++) {
		const struct node *n = &p->nodes[i];
		bool is_label = n->flags & NODE_SYNTHETIC;
		struct node key = {
			.name = mapped(m, p, map, is_label ? MAP_LABEL : MAP_NAME, n->name),
			.file = mapped(m, p, map, MAP_FILE, n->file),
			.kind = n->kind,
			.flags = (uint8_t)(n->flags & ~NODE_INLINED),
			.is_level = n->is_level,
		};

		assert(n->parent < i);
		place[i] = tree_builder_child(&m->tree, place[n->parent], &key);
	}
	return m->tree.failed ? -ENOMEM : 0;
}

/* ---- Weights ---- */

static uint64_t scaled(uint64_t weight, const struct diff_ratio *scale)
{
	unsigned __int128 v = (unsigned __int128)weight * scale->num / scale->den;

	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

/*
 * Each weight becomes the step of the scaled sum of all so far. So the sum of many small ones,
 * which would all be rounded alike, is right.
 */
static void weigh_before(const struct profile *p, const uint32_t *place,
			 const struct diff_ratio *scale, struct node_delta *v)
{
	uint64_t weight = 0, samples = 0, weight_then = 0, samples_then = 0;

	for (size_t i = 0; i < p->nr_nodes; i++) {
		struct node_delta *d = &v[place[i]];

		weight = weight_sum(weight, p->nodes[i].self);
		samples = weight_sum(samples, p->nodes[i].self_samples);
		d->before_self += scaled(weight, scale) - weight_then;
		d->before_self_samples += scaled(samples, scale) - samples_then;
		weight_then = scaled(weight, scale);
		samples_then = scaled(samples, scale);
	}
}

static void weigh_after(const struct profile *p, const uint32_t *place, struct node_delta *v)
{
	for (size_t i = 0; i < p->nr_nodes; i++) {
		v[place[i]].after_self += p->nodes[i].self;
		v[place[i]].after_self_samples += p->nodes[i].self_samples;
	}
}

static void sum_totals(const struct profile *p, struct node_delta *v)
{
	for (size_t i = p->nr_nodes; i-- > 0;) {
		v[i].total.before += v[i].before_self;
		v[i].total.after += v[i].after_self;
		if (p->nodes[i].parent == NODE_NONE)
			continue;
		v[p->nodes[i].parent].total.before += v[i].total.before;
		v[p->nodes[i].parent].total.after += v[i].total.after;
	}
}

static struct profile_delta *weigh(struct merging *m, struct profile *const sides[2],
				   const struct diff_ratio *scale, uint32_t *const place[2])
{
	struct profile_delta *d = calloc(1, sizeof(*d));
	const struct profile *p = m->tree.p;

	if (d)
		d->nodes = calloc(p->nr_nodes, sizeof(*d->nodes));
	if (!d || !d->nodes) {
		free(d);
		return NULL;
	}
	weigh_before(sides[0], place[0], scale, d->nodes);
	weigh_after(sides[1], place[1], d->nodes);
	sum_totals(p, d->nodes);
	for (uint32_t i = 0; i < p->nr_nodes; i++) {
		const struct node_delta *n = &d->nodes[i];

		tree_builder_add(&m->tree, i, weight_sum(n->before_self, n->after_self),
				 weight_sum(n->before_self_samples, n->after_self_samples));
	}
	return d;
}

/* ---- Names to be shown ---- */

static uint32_t kept_name(struct profile *p, const struct profile *side, uint32_t name,
			  bool *failed)
{
	size_t len;
	const char *s = intern_get(side->names, name, &len);
	uint32_t id = intern_bytes(p->names, s, len);

	*failed |= id == UINT32_MAX;
	return id == UINT32_MAX ? 0 : id;
}

/* A function without a name: its node stands for all of the file that are called there. */
static bool has_address(const struct profile *side, uint32_t name)
{
	size_t len;
	const char *s = intern_get(side->names, name, &len);

	return without_address(s, len);
}

/* Those of a later node of the side replace those of an earlier one. */
static int show_side(struct profile *p, const struct profile *side, const uint32_t *place)
{
	bool failed = false;

	for (size_t i = 1; i < side->nr_nodes; i++) {
		const struct node *n = &side->nodes[i];
		struct node *to = &p->nodes[place[i]];

		assert(place[i] < p->nr_nodes);
		if (!(n->flags & NODE_SYNTHETIC) && !has_address(side, n->name))
			to->name = kept_name(p, side, n->name, &failed);
		to->binary = kept_name(p, side, n->binary, &failed);
		if (n->file)
			to->file = kept_name(p, side, n->file, &failed);
		if (n->file)
			to->line = n->line;
		to->flags = (uint8_t)((to->flags & ~NODE_INLINED) | (n->flags & NODE_INLINED));
	}
	return failed ? -ENOMEM : 0;
}

static int show_names(struct diff_merged *out, struct profile *const sides[2])
{
	int err = 0;

	out->key = malloc(out->p->nr_nodes * sizeof(*out->key));
	if (!out->key)
		return -ENOMEM;
	for (size_t i = 0; i < out->p->nr_nodes; i++)
		out->key[i] = out->p->nodes[i].name;
	for (int side = 0; side < 2 && !err; side++)
		err = show_side(out->p, sides[side], out->place[side]);
	return err;
}

int diff_merge(struct profile *const sides[2], const struct diff_ratio *scale,
	       struct diff_merged *out)
{
	struct merging m = { .buf = NULL };
	struct profile_delta *deltas = NULL;
	int err = tree_builder_init(&m.tree);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	/* Both were limited when they were made. */
	m.tree.max_depth = UINT16_MAX;
	m.tree.max_nodes = UINT32_MAX / 4;
	for (int side = 0; side < 2 && !err; side++)
		err = place_nodes(&m, sides[side], &m.maps[side], &out->place[side]);
	if (!err)
		deltas = weigh(&m, sides, scale, out->place);
	out->p = deltas ? tree_builder_take(&m.tree) : NULL;
	if (out->p)
		out->p->deltas = deltas;
	else
		profile_delta_free(deltas);
	err = out->p ? show_names(out, sides) : -ENOMEM;
	for (int side = 0; side < 2; side++)
		map_release(&m.maps[side]);
	free(m.buf);
	tree_builder_release(&m.tree);
	return err;
}

void diff_merged_release(struct diff_merged *m)
{
	profile_free(m->p);
	free(m->place[0]);
	free(m->place[1]);
	free(m->key);
	memset(m, 0, sizeof(*m));
}
