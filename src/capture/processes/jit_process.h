/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What jit_names.c keeps of a process that makes code: its requests that have no answer yet, where
 * its maps are, and whose code was found where. Internal to jit_names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/clock.h"
#include "src/capture/processes/jit_code.h"
#include "src/capture/processes/jit_reading.h"

struct binaries;
struct process;

/* Maps and dumps are read again after this time, or later where there is none. */
#define AGAIN_NS NSEC_PER_SEC
#define AGAIN_MAX_NS (16 * NSEC_PER_SEC)

struct jit_request {
	uint64_t addr, time_ns;
	uint32_t cookie;
};

struct jit_process {
	uint32_t tgid, binary;
	uint64_t serial;
	bool has_ended, has_said_why;
	char comm[16];
	struct jit_place places[JIT_PLACES];
	size_t nr_places;
	uint32_t dump;			/* binary: the jitdump that it has mapped; 0: none yet */
	struct perf_map_mark dump_mark;
	struct jit_request *v;
	size_t nr, cap;
	size_t nr_old;			/* requests that had no answer in the map at its mark */
	struct jit_code code;
	uint32_t later[JIT_CODE_GENERATIONS];	/* binaries; 0: none yet */
	uint64_t next_ns, pause_ns;	/* when its map is read again; 0: at once */
	bool is_met;			/* stacks had its code since the last reading began */
	uint64_t dump_read_ns;		/* what its dump says of the time before is known; or 0 */
	uint64_t *changes;		/* when code took the place of other code, sorted */
	size_t nr_changes, cap_changes;
};

void jit_process_release(struct jit_process *e);

/* Looks among the mappings of the process for a jitdump, unless there is one already. */
void jit_process_find_dump(struct jit_process *e, const struct process *p,
			   const struct binaries *binaries);

/* Fills in what is asked, and where. The reading has room for JIT_QUESTIONS(e). */
#define JIT_QUESTIONS(e) (2 * (e)->nr + (e)->code.nr)
void jit_process_ask(const struct jit_process *e, struct jit_reading *r);

/* After a reading of the first nr_asked requests: keeps those that have no name yet. */
void jit_process_keep(struct jit_process *e, const struct jit_reading *r, size_t nr_asked);

/* Notes that code took the place of other code then. */
int jit_process_changed(struct jit_process *e, uint64_t since_ns);
/* How often that had happened by then. */
uint32_t jit_process_changes(const struct jit_process *e, uint64_t time_ns);

/* Forgets the first nr requests, which are answered. Others may have come since. */
void jit_process_forget(struct jit_process *e, size_t nr);
