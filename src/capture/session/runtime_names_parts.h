/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runtime_names.c and runtime_answers.c share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/base/worker.h"
#include "src/capture/session/code_owners.h"
#include "src/capture/session/runtime_names.h"
#include "src/model/per_process.h"
#include "src/runtimes/runtime.h"

/* A frame that waits for its name. */
struct waiting {
	uint32_t frame, instruction;
	uint8_t kind;			/* enum runtime_frame_kind */
};

/* A code object. The job touches only what is above .waiting. */
struct code {
	struct worker_job job;
	struct runtime_names *names;
	const struct runtime_image *image;
	uint64_t bias, serial, addr;
	uint32_t cookie, tgid, slot;
	struct code_owner *owner;
	enum runtime_frame_kind kind;
	bool looks_for_way;		/* the first one of its runtime */
	bool has_way;
	struct unwind_runtime way;
	struct runtime_code *code;
	int err;
	struct waiting *waiting;
	size_t nr_waiting, cap_waiting;
	struct code *next;		/* of those whose frames can be answered */
	uint64_t tried_ns, waits_since_ns;
	unsigned tries;
	bool is_pending, is_read, is_listed;
	bool is_left;			/* its process is forgotten */
	uint32_t number;		/* no other object has it, ever */
	size_t at;			/* in codes */
	struct code *next_of_process;
};

/* The code objects of a process. */
struct codes_of {
	uint64_t serial;
	struct code *first;
};

struct image_binary {
	const struct runtime_image *image;
	uint32_t binary;
};

struct runtime_names {
	struct runtime_names_deps deps;
	struct worker_pool *pool;	/* NULL: not needed yet */
	struct memory_reader *memory;	/* of its thread */
	struct runtime_keep *keep;	/* the same */
	struct code **codes;
	size_t nr_codes, cap_codes;
	struct hash_index index;
	struct per_process of_processes;	/* struct codes_of */
	uint32_t next_number;
	struct code_owners owners;
	struct code *ready;
	struct image_binary *binaries;
	size_t nr_binaries, cap_binaries;
	size_t nr_pending;		/* jobs */
	uint64_t last_serial;		/* of the process whose object came last */
	uint32_t last_slot;
	uint64_t next_look_ns;		/* for frames of objects that stay gone */
	struct runtime_names_stats stats;
};

/* A number for the functions of an object, which no other object has, ever. */
static inline uint64_t runtime_names_place(const struct code *c)
{
	return (uint64_t)(c->number + 1) << 32;
}

/* Names the frames that wait for c, or says why they have no name (-errno), and forgets them. */
int runtime_names_answer(struct code *c, int why, symbol_fn fn, void *ctx);
