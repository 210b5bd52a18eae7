/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/process_runtimes.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "unwind/frame_program.h"

#define NO_PROGRAM UINT32_MAX

struct known_image {
	struct runtime_image image;
	uint32_t binary;
	uint32_t program;		/* its number, or NO_PROGRAM */
};

struct of_binary {
	uint32_t binary;
	uint32_t image;			/* index */
};

struct late_process {
	uint64_t serial;
	uint32_t tgid;
};

struct process_runtimes {
	struct process_runtimes_fds fds;
	struct known_image **images;	/* pointers to them stay */
	size_t nr_images, cap_images;
	struct of_binary *binaries;
	size_t nr_binaries, cap_binaries;
	struct late_process *late;
	size_t nr_late, cap_late;
	uint32_t nr_programs;
	struct per_process own;		/* of struct own_runtimes */
	bool has_told;			/* of processes that have too many */
	void (*on_process)(void *ctx, const struct process *p);	/* NULL: not wanted */
	void *ctx;
};

/* A runtime of a process. It keeps its slot as long as the process lives. */
struct own_runtime {
	uint32_t image;			/* index */
	bool is_mapped, has_way;
	uint64_t bias;
	struct unwind_runtime way;	/* with has_way: what memory has told */
};

struct own_runtimes {
	uint64_t serial;
	uint32_t nr;
	struct own_runtime v[PROGRAM_SLOTS];
};

int process_runtimes_new(struct process_runtimes **rp)
{
	*rp = calloc(1, sizeof(**rp));
	if (!*rp)
		return -ENOMEM;
	(*rp)->fds = (struct process_runtimes_fds){ -1, -1 };
	(*rp)->own.size = sizeof(struct own_runtimes);
	return 0;
}

void process_runtimes_free(struct process_runtimes *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_images; i++)
		free(r->images[i]);
	free(r->images);
	free(r->binaries);
	free(r->late);
	per_process_release(&r->own);
	free(r);
}

void process_runtimes_watch(struct process_runtimes *r,
			    void (*fn)(void *ctx, const struct process *p), void *ctx)
{
	r->on_process = fn;
	r->ctx = ctx;
}

/* Gives the image's program to the kernel side. Programs that are equal have one number. */
static void load_program(struct process_runtimes *r, struct known_image *k)
{
	struct frame_program program;
	uint32_t number = r->nr_programs;

	k->program = NO_PROGRAM;
	if (r->fds.programs < 0 || runtime_program(&k->image, &program))
		return;
	if (number >= PROGRAM_MAX_NR ||
	    bpf_map_update_elem(r->fds.programs, &number, &program, BPF_ANY))
		return;
	r->nr_programs++;
	k->program = number;
}

void process_runtimes_set(struct process_runtimes *r, const struct process_runtimes_fds *fds)
{
	r->fds = *fds;
	for (size_t i = 0; i < r->nr_images; i++)
		load_program(r, r->images[i]);
}

static const struct of_binary *entry_of(const struct process_runtimes *r, uint32_t binary)
{
	for (size_t i = 0; i < r->nr_binaries; i++)
		if (r->binaries[i].binary == binary)
			return &r->binaries[i];
	return NULL;
}

static bool add_binary(struct process_runtimes *r, uint32_t binary, uint32_t image)
{
	struct of_binary *b = array_push(&r->binaries, &r->nr_binaries, &r->cap_binaries);

	assert(image < r->nr_images);
	if (b)
		*b = (struct of_binary){ binary, image };
	return b;
}

bool process_runtimes_found(struct process_runtimes *r, uint32_t binary,
			    const struct runtime_image *image)
{
	char title[RUNTIME_TITLE_BYTES];
	struct known_image *k, **place;

	if (entry_of(r, binary))
		return false;
	k = malloc(sizeof(*k));
	place = k ? array_push(&r->images, &r->nr_images, &r->cap_images) : NULL;
	if (!place) {
		free(k);
		return false;
	}
	*place = k;
	*k = (struct known_image){ .image = *image, .binary = binary };
	load_program(r, k);
	runtime_title(image, title);
	if (!image->is_known)
		note_kept("%s: not known yet, so its frames are those of the interpreter itself",
			  title);
	return add_binary(r, binary, (uint32_t)(r->nr_images - 1));
}

bool process_runtimes_same(struct process_runtimes *r, uint32_t binary, uint32_t other)
{
	const struct of_binary *o = entry_of(r, other);

	return o && !entry_of(r, binary) && add_binary(r, binary, o->image);
}

/* One that owns code may have mapped parts of its file several times. */
static struct own_runtime *find_own(const struct process_runtimes *r, struct own_runtimes *own,
				    uint32_t image, uint64_t bias)
{
	const bool owns_code = runtime_owns_code(&r->images[image]->image);

	for (uint32_t i = 0; i < own->nr; i++)
		if (own->v[i].image == image && (own->v[i].bias == bias || owns_code))
			return &own->v[i];
	return NULL;
}

/* Gives the runtime a slot. */
static void add_own(struct process_runtimes *r, struct own_runtimes *own, const struct process *p,
		    const struct own_runtime *new)
{
	if (own->nr < PROGRAM_SLOTS) {
		own->v[own->nr++] = *new;
		return;
	}
	if (!r->has_told)
		note_kept("process %u has more than %d interpreters: the others have no frames",
			  p->tgid, PROGRAM_SLOTS);
	r->has_told = true;
}

/* Marks what p has mapped. One that has no slot yet, of those the one known first: to *new. */
static bool mark_mapped(const struct process_runtimes *r, const struct process *p,
			struct own_runtimes *own, struct own_runtime *new)
{
	bool found = false;

	for (size_t i = 0; i < p->nr_live; i++) {
		const struct mapping *m = &p->maps[i];
		const struct of_binary *b = m->binary ? entry_of(r, m->binary) : NULL;
		struct own_runtime *o;

		if (!b || r->images[b->image]->program == NO_PROGRAM)
			continue;
		o = find_own(r, own, b->image, 0 - m->to_vaddr);
		if (o)
			o->is_mapped = true;
		else if (!found || b->image < new->image)
			*new = (struct own_runtime){ .image = b->image, .is_mapped = true,
						     .bias = 0 - m->to_vaddr };
		found |= !o;
	}
	return found;
}

/*
 * The runtimes that p has mapped; NULL: none. Slots follow the order in which runtimes became
 * known, so a process that was forked has those of its parent. Programs without a runtime pay a
 * look at an empty list.
 */
static struct own_runtimes *own_of(struct process_runtimes *r, const struct process *p)
{
	struct own_runtimes none = { 0 }, *own = per_process_find(&r->own, p);
	struct own_runtime new;

	if (!r->nr_binaries || (!own && !mark_mapped(r, p, &none, &new)))
		return NULL;
	own = per_process_at(&r->own, p);
	for (uint32_t i = 0; own && i < own->nr; i++)
		own->v[i].is_mapped = false;
	for (int i = 0; own && i <= PROGRAM_SLOTS && mark_mapped(r, p, own, &new); i++)
		add_own(r, own, p, &new);
	return own;
}

void process_runtimes_shorten(struct process_runtimes *r, const struct process *p,
			      const struct runtime_image *image, uint64_t bias,
			      const struct unwind_runtime *rt)
{
	struct own_runtimes *own = own_of(r, p);

	for (uint32_t i = 0; own && i < own->nr; i++) {
		struct own_runtime *o = &own->v[i];

		if (&r->images[o->image]->image != image || o->bias != bias)
			continue;
		o->has_way = true;
		o->way = *rt;
	}
	process_runtimes_publish(r, p);
}

/* Where else p has mapped the code of the loops. */
static void add_other_places(const struct process_runtimes *r, const struct own_runtime *o,
			     const struct process *p, struct unwind_runtime *rt)
{
	const struct runtime_image *image = &r->images[o->image]->image;
	const uint64_t code = image->nr_loops ? image->loops[0].lo : 0;

	for (size_t i = 0; runtime_owns_code(image) && i < p->nr_live; i++) {
		const struct mapping *m = &p->maps[i];
		const struct of_binary *b = m->binary ? entry_of(r, m->binary) : NULL;
		const uint64_t bias = 0 - m->to_vaddr;

		if (b && b->image == o->image && bias != o->bias &&
		    code + bias >= m->start && code + bias < m->end)
			runtime_constants_again(image, bias, rt);
	}
}

static void fill_slot(const struct process_runtimes *r, const struct own_runtime *o,
		      const struct process *p, struct unwind_runtime *rt)
{
	const struct known_image *k = r->images[o->image];
	uint64_t lo = UINT64_MAX, hi = 0;

	if (o->has_way)
		*rt = o->way;
	else
		runtime_constants(&k->image, o->bias, rt);
	add_other_places(r, o, p, rt);
	for (uint32_t i = 0; i < k->image.nr_loops; i++) {
		lo = k->image.loops[i].lo < lo ? k->image.loops[i].lo : lo;
		hi = k->image.loops[i].hi > hi ? k->image.loops[i].hi : hi;
	}
	rt->program = k->program;
	rt->flags |= RUNTIME_IS_THERE;
	rt->lo = lo + o->bias;
	rt->bytes = hi > lo ? hi - lo : 0;
}

/* Takes the place of the smallest part that is known so far, if it is larger. */
static void add_loop(struct unwind_runtimes *all, uint64_t lo, uint64_t bytes)
{
	size_t least = 0;

	for (size_t i = 1; i < PROGRAM_LOOPS; i++)
		if (all->loops[i].bytes < all->loops[least].bytes)
			least = i;
	if (bytes <= all->loops[least].bytes)
		return;
	all->loops[least].lo = lo;
	all->loops[least].bytes = bytes;
}

static void add_loops(struct unwind_runtimes *all, const struct runtime_image *image,
		      uint64_t bias)
{
	for (uint32_t i = 0; i < image->nr_loops; i++)
		add_loop(all, image->loops[i].lo + bias, image->loops[i].hi - image->loops[i].lo);
}

/* ---- runtimes that are attached late ---- */

/* The first one that p has mapped and that is not attached; NULL: none. */
static struct known_image *late_of(const struct process_runtimes *r, const struct process *p,
				   uint64_t *bias)
{
	struct own_runtimes *own = per_process_find(&r->own, p);

	for (size_t i = 0; r->nr_binaries && i < p->nr_live; i++) {
		const struct mapping *m = &p->maps[i];
		const struct of_binary *b = m->binary ? entry_of(r, m->binary) : NULL;
		const struct own_runtime *o;

		if (!b || !runtime_is_attached_late(&r->images[b->image]->image))
			continue;
		*bias = 0 - m->to_vaddr;
		o = own ? find_own(r, own, b->image, *bias) : NULL;
		if (!o || !o->has_way)
			return r->images[b->image];
	}
	return NULL;
}

const struct runtime_image *process_runtimes_late_of(const struct process_runtimes *r,
						     const struct process *p, uint64_t *bias)
{
	const struct known_image *k = late_of(r, p, bias);

	return k ? &k->image : NULL;
}

static void add_late(struct process_runtimes *r, const struct process *p)
{
	struct late_process *l;
	uint64_t bias;

	if (!late_of(r, p, &bias))
		return;
	for (size_t i = 0; i < r->nr_late; i++)
		if (r->late[i].serial == p->serial)
			return;
	l = array_push(&r->late, &r->nr_late, &r->cap_late);
	if (l)
		*l = (struct late_process){ p->serial, p->tgid };
}

bool process_runtimes_take_late(struct process_runtimes *r, uint32_t *tgid, uint64_t *serial)
{
	if (!r->nr_late)
		return false;
	r->nr_late--;
	*tgid = r->late[r->nr_late].tgid;
	*serial = r->late[r->nr_late].serial;
	return true;
}

void process_runtimes_attached(struct process_runtimes *r, const struct process *p, uint64_t bias,
			       const struct runtime_image *image, const struct unwind_runtime *rt)
{
	char title[RUNTIME_TITLE_BYTES];
	uint64_t now;
	struct known_image *k = late_of(r, p, &now);

	if (!k || now != bias)
		return;
	if (!rt) {
		k->image.is_known = 0;
		runtime_title(&k->image, title);
		note_kept("%s: not known yet, so its frames are those of generated code", title);
		return;
	}
	if (k->program == NO_PROGRAM) {
		k->image = *image;
		load_program(r, k);
	}
	process_runtimes_shorten(r, p, &k->image, bias, rt);
}

/* ---- */

/*
 * Generated code of an unknown address belongs to the first runtime that owns such code: one that
 * has nothing else (V8 in a Ruby) must not lose it to a compiler that may not even be used.
 */
static void give_code_to_owners(struct unwind_runtimes *all)
{
	const uint32_t both = RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS;
	bool has_owner = false;

	for (int i = 0; i < PROGRAM_SLOTS; i++)
		has_owner |= (all->slots[i].flags & both) == RUNTIME_OWNS_CODE;
	for (int i = 0; has_owner && i < PROGRAM_SLOTS; i++)
		if (all->slots[i].flags & RUNTIME_HAS_LOOPS)
			all->slots[i].flags &= ~both;
}

void process_runtimes_publish(struct process_runtimes *r, const struct process *p)
{
	struct unwind_runtimes value = { 0 };
	const struct own_runtimes *own;
	uint32_t nr = 0;

	if (r->fds.runtimes < 0 || !r->nr_binaries)
		return;
	add_late(r, p);
	own = own_of(r, p);
	if (own && r->on_process)
		r->on_process(r->ctx, p);
	for (uint32_t i = 0; own && i < own->nr; i++) {
		const struct own_runtime *o = &own->v[i];

		if (!o->is_mapped || (!o->has_way &&
				      runtime_is_attached_late(&r->images[o->image]->image)))
			continue;
		fill_slot(r, o, p, &value.slots[i]);
		add_loops(&value, &r->images[o->image]->image, o->bias);
		nr++;
	}
	give_code_to_owners(&value);
	if (nr)
		bpf_map_update_elem(r->fds.runtimes, &p->tgid, &value, BPF_ANY);
	else
		bpf_map_delete_elem(r->fds.runtimes, &p->tgid);
}

void process_runtimes_forget(struct process_runtimes *r, uint32_t tgid)
{
	if (r->fds.runtimes >= 0 && r->nr_binaries)
		bpf_map_delete_elem(r->fds.runtimes, &tgid);
}

const struct runtime_image *process_runtimes_of(struct process_runtimes *r,
						const struct process *p, uint32_t slot,
						uint64_t *bias)
{
	const struct own_runtimes *own = per_process_find(&r->own, p);

	if (!own)
		own = own_of(r, p);
	if (!own || slot >= own->nr)
		return NULL;
	assert(own->v[slot].image < r->nr_images);
	*bias = own->v[slot].bias;
	return &r->images[own->v[slot].image]->image;
}

const struct runtime_image *process_runtimes_nth(const struct process_runtimes *r, size_t i,
						 uint32_t *binary)
{
	if (i >= r->nr_images)
		return NULL;
	*binary = r->images[i]->binary;
	return &r->images[i]->image;
}
