/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/kernel_code.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"

#define PLACE_ALIGN 64ull
#define STACKS_WAIT_NS (20 * NSEC_PER_SEC)	/* longer than lifetimes.h has them wait */

static bool overlap(const struct made_code *m, const struct kernel_code_event *ev)
{
	return m->start < ev->start + ev->len && ev->start < m->start + m->len;
}

/* What is there must have ended, even if nothing said so. true: there was something. */
static bool end_all(struct kernel_code *c, const struct kernel_code_event *ev)
{
	bool any = false;

	for (size_t i = 0; i < c->nr; i++) {
		struct made_code *m = &c->v[i];

		if (m->until_ns != UINT64_MAX || !overlap(m, ev))
			continue;
		m->until_ns = ev->time_ns;
		any = true;
	}
	return any;
}

/* The oldest goes that no stack can be of any more, or else the oldest. */
static void make_room(struct kernel_code *c, uint64_t now_ns)
{
	size_t gone = 0;

	if (c->nr < MAX_KERNEL_CODE)
		return;
	while (gone < c->nr && (now_ns < STACKS_WAIT_NS ||
				c->v[gone].until_ns >= now_ns - STACKS_WAIT_NS))
		gone++;
	if (gone == c->nr)
		gone = 0;
	free(c->v[gone].name);
	memmove(&c->v[gone], &c->v[gone + 1], (--c->nr - gone) * sizeof(*c->v));
}

static void add(struct kernel_code *c, const struct kernel_code_event *ev)
{
	uint64_t end = ev->start + ev->len;
	char *name = strdup(ev->name);
	struct made_code *m;

	make_room(c, ev->time_ns);
	m = name ? array_push(&c->v, &c->nr, &c->cap) : NULL;
	if (!m) {
		free(name);
		return;
	}
	*m = (struct made_code){
		.start = ev->start, .len = ev->len, .is_bpf = ev->is_bpf, .name = name,
		.from_ns = ev->is_end ? 0 : ev->time_ns,
		.until_ns = ev->is_end ? ev->time_ns : UINT64_MAX, .place = c->next_place,
	};
	c->next_place += (ev->len + PLACE_ALIGN - 1) & ~(PLACE_ALIGN - 1);
	c->lo = c->hi && c->lo < ev->start ? c->lo : ev->start;
	c->hi = c->hi > end ? c->hi : end;
}

void kernel_code_event(struct kernel_code *c, const struct kernel_code_event *ev)
{
	bool was_there;

	if (!ev->len || !*ev->name || ev->start > UINT64_MAX - ev->len)
		return;
	was_there = end_all(c, ev);
	if (!ev->is_end || !was_there)
		add(c, ev);
}

const struct made_code *kernel_code_find(const struct kernel_code *c, uint64_t addr,
					 uint64_t time_ns)
{
	if (addr < c->lo || addr >= c->hi)
		return NULL;
	for (size_t i = c->nr; i-- > 0;) {
		const struct made_code *m = &c->v[i];

		if (addr - m->start < m->len && time_ns >= m->from_ns && time_ns < m->until_ns)
			return m;
	}
	return NULL;
}

void kernel_code_release(struct kernel_code *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->v[i].name);
	free(c->v);
	*c = (struct kernel_code){ 0 };
}

const char *kernel_code_module(const struct made_code *m)
{
	if (m->is_bpf)
		return "bpf";
	return strncmp(m->name, "ftrace", 6) ? "__builtin__kprobes" : "__builtin__ftrace";
}
