/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/process_runtimes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "unwind/frame_program.h"

#include ARCH_HEADER

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

struct process_runtimes {
	struct process_runtimes_fds fds;
	struct known_image **images;	/* pointers to them stay */
	size_t nr_images, cap_images;
	struct of_binary *binaries;
	size_t nr_binaries, cap_binaries;
	uint32_t nr_programs;
	struct per_process shortened;	/* of struct short_way */
};

/* Constants that memory has told. */
struct short_way {
	uint64_t serial, bias;
	struct unwind_runtime runtime;	/* but for its program */
};

int process_runtimes_new(struct process_runtimes **rp)
{
	*rp = calloc(1, sizeof(**rp));
	if (!*rp)
		return -ENOMEM;
	(*rp)->fds = (struct process_runtimes_fds){ -1, -1 };
	(*rp)->shortened.size = sizeof(struct short_way);
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
	per_process_release(&r->shortened);
	free(r);
}

/* Gives the image's program to the kernel side. Programs that are equal have one number. */
static void load_program(struct process_runtimes *r, struct known_image *k)
{
	struct frame_program program;
	uint32_t number = r->nr_programs;

	k->program = NO_PROGRAM;
	/* Without the thread pointer each stack would have a mark. */
	if (!ARCH_HAS_THREAD_POINTER || r->fds.programs < 0 || runtime_program(&k->image, &program))
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
		note("%s: not known yet, so its frames are those of the interpreter itself", title);
	return add_binary(r, binary, (uint32_t)(r->nr_images - 1));
}

bool process_runtimes_same(struct process_runtimes *r, uint32_t binary, uint32_t other)
{
	const struct of_binary *o = entry_of(r, other);

	return o && !entry_of(r, binary) && add_binary(r, binary, o->image);
}

/* The runtime that p has mapped. Programs without one pay a look at an empty list. */
static const struct known_image *image_of(const struct process_runtimes *r,
					  const struct process *p, uint64_t *bias)
{
	for (size_t i = 0; r->nr_binaries && i < p->nr_maps; i++) {
		const struct mapping *m = &p->maps[i];
		const struct of_binary *b = m->binary ? entry_of(r, m->binary) : NULL;

		if (!b || m->died_ns != TIME_NEVER)
			continue;
		*bias = 0 - m->to_vaddr;
		return r->images[b->image];
	}
	return NULL;
}

void process_runtimes_shorten(struct process_runtimes *r, const struct process *p, uint64_t bias,
			      const struct unwind_runtime *rt)
{
	struct short_way *s = per_process_at(&r->shortened, p);

	if (!s)
		return;
	s->bias = bias;
	s->runtime = *rt;
	process_runtimes_publish(r, p);
}

void process_runtimes_publish(struct process_runtimes *r, const struct process *p)
{
	struct unwind_runtime value;
	const struct known_image *k;
	const struct short_way *s;
	uint64_t bias;

	if (r->fds.runtimes < 0 || !r->nr_binaries)
		return;
	k = image_of(r, p, &bias);
	if (!k || k->program == NO_PROGRAM) {
		bpf_map_delete_elem(r->fds.runtimes, &p->tgid);
		return;
	}
	runtime_constants(&k->image, bias, &value);
	s = per_process_find(&r->shortened, p);
	if (s && s->bias == bias)
		value = s->runtime;
	value.program = k->program;
	bpf_map_update_elem(r->fds.runtimes, &p->tgid, &value, BPF_ANY);
}

void process_runtimes_forget(struct process_runtimes *r, uint32_t tgid)
{
	if (r->fds.runtimes >= 0 && r->nr_binaries)
		bpf_map_delete_elem(r->fds.runtimes, &tgid);
}

const struct runtime_image *process_runtimes_of(const struct process_runtimes *r,
						const struct process *p, uint64_t *bias)
{
	const struct known_image *k = image_of(r, p, bias);

	return k ? &k->image : NULL;
}

const struct runtime_image *process_runtimes_nth(const struct process_runtimes *r, size_t i,
						 uint32_t *binary)
{
	if (i >= r->nr_images)
		return NULL;
	*binary = r->images[i]->binary;
	return &r->images[i]->image;
}
