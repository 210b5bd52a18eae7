/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/model/binary.h"
#include "src/model/process.h"

static void close_places(const struct jit_process *e)
{
	for (size_t i = 0; i < e->nr_places; i++)
		if (e->places[i].tmp.dir >= 0)
			close(e->places[i].tmp.dir);
}

void jit_process_release(struct jit_process *e)
{
	close_places(e);
	jit_code_release(&e->code);
	free(e->v);
	free(e->changes);
}

/* true: the name is that of a jitdump: "/tmp/jit-4711.dump". Runtimes map them for us to see. */
static bool is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

void jit_process_find_dump(struct jit_process *e, const struct process *p,
			   const struct binaries *binaries)
{
	for (size_t i = 0; p && i < process_nr_mappings(p) && !e->dump; i++) {
		const struct binary *b = binaries_get(binaries, process_mapping(p, i)->binary);

		if (b && b->path && is_dump(b->path))
			e->dump = b->index;
	}
}

void jit_process_ask(const struct jit_process *e, struct jit_reading *r)
{
	struct perf_map_query *q = r->v;

	r->since_ns = e->dump_read_ns;
	for (size_t i = 0; i < e->nr; i++) {
		if (e->v[i].time_ns < r->since_ns)
			r->since_ns = e->v[i].time_ns;
		*q++ = (struct perf_map_query){ .addr = e->v[i].addr, .cookie = e->v[i].cookie,
						.time_ns = e->v[i].time_ns,
						.name = PERF_MAP_NO_NAME, .is_old = i < e->nr_old };
		*q++ = (struct perf_map_query){ .addr = e->v[i].addr, .cookie = WATCHED,
						.name = PERF_MAP_NO_NAME, .is_old = i < e->nr_old };
	}
	/* Whether other code is there by now. */
	for (size_t i = 0; i < e->code.nr; i++)
		*q++ = (struct perf_map_query){ .addr = e->code.v[i].addr, .cookie = WATCHED,
						.name = PERF_MAP_NO_NAME, .is_old = 1 };
	r->nr = (size_t)(q - r->v);
	r->nr_new = e->nr - e->nr_old;
	memcpy(r->places, e->places, sizeof(r->places));
	r->nr_places = e->nr_places;
	r->dump_mark = e->dump_mark;
}

void jit_process_keep(struct jit_process *e, const struct jit_reading *r, size_t nr_asked)
{
	bool was_read = !r->err || r->err == -E2BIG;
	size_t kept = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->v[i].name == PERF_MAP_NO_NAME && r->v[i].cookie != WATCHED)
			e->v[kept++] = (struct jit_request){ r->v[i].addr, r->v[i].time_ns,
							     r->v[i].cookie };
	assert(kept <= nr_asked && nr_asked <= e->nr);
	memmove(e->v + kept, e->v + nr_asked, (e->nr - nr_asked) * sizeof(*e->v));
	e->nr -= nr_asked - kept;
	e->nr_old = was_read ? kept : 0;
	memcpy(e->places, r->places, sizeof(e->places));
	e->dump_mark = r->dump_mark;
	e->pause_ns = kept < nr_asked || r->err != -ENOENT ? AGAIN_NS : 2 * e->pause_ns;
	if (e->pause_ns > AGAIN_MAX_NS)
		e->pause_ns = AGAIN_MAX_NS;
	e->next_ns = now_ns() + e->pause_ns;
}

int jit_process_changed(struct jit_process *e, uint64_t since_ns)
{
	uint64_t *last = array_push(&e->changes, &e->nr_changes, &e->cap_changes);
	size_t before = e->nr_changes - !!last;
	size_t at = bisect(before, k, e->changes[k] <= since_ns);

	if (!last)
		return -ENOMEM;
	memmove(e->changes + at + 1, e->changes + at, (before - at) * sizeof(*last));
	assert(!at || e->changes[at - 1] <= since_ns);
	assert(at == before || e->changes[at + 1] > since_ns);
	e->changes[at] = since_ns;
	return 0;
}

uint32_t jit_process_changes(const struct jit_process *e, uint64_t time_ns)
{
	return (uint32_t)bisect(e->nr_changes, k, e->changes[k] <= time_ns);
}

void jit_process_forget(struct jit_process *e, size_t nr)
{
	assert(nr <= e->nr);
	e->nr -= nr;
	memmove(e->v, e->v + nr, e->nr * sizeof(*e->v));
}
