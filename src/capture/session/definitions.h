/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the definition records of a recording: strings, binaries, processes with their mappings,
 * threads, functions. Each is written once, before its first use. The functions return ids of
 * records; 0 stands for "none" and for "out of memory", which is rare enough to look the same in a
 * trace.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"
#include "src/symbolize/symbol_batch.h"

struct definitions;
struct binaries;
struct process;
struct symbol;
struct symbol_line;

int definitions_new(record_fn sink, void *sink_ctx, const struct binaries *bs,
		    struct definitions **dp);
/* These are the only ones from here on: no binary is written yet. */
void definitions_begin(struct definitions *d);
void definitions_free(struct definitions *d);		/* NULL is fine */

uint32_t definitions_string(struct definitions *d, const char *s);
uint32_t definitions_binary(struct definitions *d, uint32_t index);
/*
 * Writes the process at its first use, and at each use the changes of its mappings since the use
 * before.
 */
uint32_t definitions_process(struct definitions *d, struct process *p,
			     const struct process *parent);
/* The id of the process; 0: it is not written yet. */
uint32_t definitions_process_id(const struct definitions *d, const struct process *p);
uint32_t definitions_thread(struct definitions *d, const struct rec_thread *t, const char *comm);
/*
 * Forgets threads that have ended and were not met for 15 s, so that a recording of days does not
 * keep all threads it has ever seen. To be called now and then; it looks once in 15 s. Returns the
 * number of threads that are known.
 */
size_t definitions_retire(struct definitions *d, uint64_t now_ns);
uint32_t definitions_func(struct definitions *d, const struct symbol_line *l);
/* The functions of an address, innermost first. Returns how many: 0, it has no name. */
uint32_t definitions_lines(struct definitions *d, const struct symbol *sym,
			   struct rec_line v[SYMBOL_MAX_DEPTH]);

/* The first error of the sink. After it all calls write nothing. */
int definitions_error(const struct definitions *d);
size_t definitions_memory(const struct definitions *d);	/* bytes that they take */
uint64_t definitions_threads(const struct definitions *d);
uint64_t definitions_processes(const struct definitions *d);
