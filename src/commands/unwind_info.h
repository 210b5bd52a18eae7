/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How `probee unwind-info` shows what it found, as text or as JSON with the same figures. Internal
 * to cmd_unwind_info.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped_binaries;
struct mapped_binary;
struct unwind_facts;

struct unwind_info_args {
	bool rows, json;
	uint32_t top;			/* how many rows a list has; UINT32_MAX: default */
};

/* An address that was asked for. */
struct unwind_place {
	const struct unwind_facts *facts;
	const char *path;		/* of its binary; NULL: the only file that is shown */
	uint64_t addr;			/* as written: in the process, or in the file */
	uint64_t vaddr;			/* in the file */
};

/* How many of nr rows a list shows. */
static inline size_t unwind_info_limit(const struct unwind_info_args *args, size_t nr)
{
	uint32_t top = args->top != UINT32_MAX ? args->top : args->json ? 0 : 10;

	return top && nr > top ? top : nr;
}

/* The machine ("x86_64") and the type ("program") of a file. */
const char *unwind_info_machine(const struct unwind_facts *f);
const char *unwind_info_type(const struct unwind_facts *f);

/* The next range whose rule is not supported; false: there is none. *i must be 0 at first. */
bool unwind_info_next_unsupported(const struct unwind_facts *f, size_t *i, uint64_t *begin,
				  uint64_t *end);

void unwind_text_file(const char *path, const struct unwind_facts *f,
		      const struct unwind_info_args *args);
void unwind_text_places(const struct unwind_place *v, size_t nr);
void unwind_text_process(int pid, const struct mapped_binaries *m);

/* Prints one document: the file, or with m the process; and the places. */
void unwind_json(const char *path, const struct unwind_facts *f, int pid,
		 const struct mapped_binaries *m, const struct unwind_place *places,
		 size_t nr_places, const struct unwind_info_args *args);

/* Why a mapped binary has no facts, in words. */
const char *unwind_info_why(const struct mapped_binary *b);
