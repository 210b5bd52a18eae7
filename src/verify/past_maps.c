/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/verify/past_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/model/binary.h"

#define NEVER UINT64_MAX
#define MAX_BINARIES (1u << 20)		/* a trace that has more is not believed */

static int add_binary(struct past_maps *pm, const struct rec_binary *rec)
{
	struct rec_segment *segments = NULL;
	struct past_binary *b;

	if (rec->id >= MAX_BINARIES)
		return 0;
	while (pm->nr_binaries <= rec->id)
		if (!array_push(&pm->binaries, &pm->nr_binaries, &pm->cap_binaries))
			return -ENOMEM;
	b = &pm->binaries[rec->id];
	if (b->rec.id)
		return 0;
	if (rec->nr_segments) {
		segments = calloc(rec->nr_segments, sizeof(*segments));
		if (!segments)
			return -ENOMEM;
		memcpy(segments, rec->segments, rec->nr_segments * sizeof(*segments));
	}
	b->rec = *rec;
	b->rec.segments = segments;
	return 0;
}

/* Uses the same rule as the recorder. */
static uint64_t to_vaddr(const struct past_maps *pm, const struct rec_mapping *m)
{
	const struct rec_binary *rec = past_maps_binary(pm, m->binary);
	struct binary b = { 0 };

	if (!rec)
		return 0;
	b.segments = (struct rec_segment *)rec->segments;
	b.nr_segments = rec->nr_segments;
	b.is_elf = rec->nr_segments;
	return binary_to_vaddr(&b, m->start, m->pgoff_bytes);
}

/* The newest one that it names has ended. */
static void remove_mapping(struct past_maps *pm, const struct rec_mapping *m)
{
	for (size_t i = pm->nr_maps; i-- > 0; pm->work++) {
		struct past_map *p = &pm->maps[i];

		if (p->process == m->process && p->start == m->start &&
		    p->end == m->start + m->len && p->died_ns == NEVER) {
			p->died_ns = m->time_ns;
			return;
		}
	}
}

static int add_mapping(struct past_maps *pm, const struct rec_mapping *m)
{
	struct past_map *p;

	if (pm->work > PAST_MAPS_WORK)
		return -E2BIG;
	if (m->op == MAPPING_DEL) {
		remove_mapping(pm, m);
		return 0;
	}
	if (!m->len || m->start + m->len < m->start)
		return 0;
	if (pm->nr_maps >= PAST_MAPS_MAX)
		return -E2BIG;
	p = array_push(&pm->maps, &pm->nr_maps, &pm->cap_maps);
	if (!p)
		return -ENOMEM;
	*p = (struct past_map){
		.start = m->start,
		.end = m->start + m->len,
		.to_vaddr = to_vaddr(pm, m),
		.pgoff_bytes = m->pgoff_bytes,
		.born_ns = m->time_ns,
		.died_ns = NEVER,
		.process = m->process,
		.binary = m->binary,
	};
	return 0;
}

int past_maps_record(void *pm, const struct record *rec)
{
	if (rec->tag == REC_BINARY)
		return add_binary(pm, &rec->binary);
	if (rec->tag == REC_MAPPING)
		return add_mapping(pm, &rec->mapping);
	return 0;
}

void past_maps_release(struct past_maps *pm)
{
	for (size_t i = 0; i < pm->nr_binaries; i++)
		free((void *)pm->binaries[i].rec.segments);
	free(pm->binaries);
	free(pm->maps);
	*pm = (struct past_maps){ 0 };
}

const struct rec_binary *past_maps_binary(const struct past_maps *pm, uint32_t id)
{
	return id < pm->nr_binaries && pm->binaries[id].rec.id ? &pm->binaries[id].rec : NULL;
}

static bool overlaps(const struct past_list *list, const struct past_map *m)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->v[i].start < m->end && m->start < list->v[i].end)
			return true;
	return false;
}

static int take(struct past_maps *pm, struct past_list *list, const struct past_map *m)
{
	struct past_map *slot;

	pm->work += list->nr;
	if (pm->work > PAST_MAPS_WORK)
		return -E2BIG;
	if (overlaps(list, m))
		return 0;
	slot = array_push(&list->v, &list->nr, &list->cap);
	if (!slot)
		return -ENOMEM;
	*slot = *m;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct past_map *x = a, *y = b;

	return COMPARE(x->start, y->start);
}

int past_maps_at(struct past_maps *pm, uint32_t process, uint64_t time_ns,
		 struct past_list *list)
{
	int err = 0;

	list->nr = 0;
	pm->work += 2 * pm->nr_maps;
	/* The newest come first, because a mapping replaces older ones that it overlaps. */
	for (size_t i = pm->nr_maps; i-- > 0 && !err;) {
		const struct past_map *m = &pm->maps[i];

		if (m->process == process && m->born_ns <= time_ns && time_ns < m->died_ns)
			err = take(pm, list, m);
	}
	for (size_t i = 0; i < pm->nr_maps && !err; i++) {
		const struct past_map *m = &pm->maps[i];

		if (m->process == process && m->born_ns > time_ns)
			err = take(pm, list, m);
	}
	if (list->nr)
		qsort(list->v, list->nr, sizeof(*list->v), by_start);
	return err;
}

const struct past_map *past_list_find(const struct past_list *list, uint64_t addr)
{
	size_t after = bisect(list->nr, i, list->v[i].start <= addr);

	return after && addr < list->v[after - 1].end ? &list->v[after - 1] : NULL;
}
