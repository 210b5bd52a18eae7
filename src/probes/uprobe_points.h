/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where a uprobe is to be put: the functions or USDT probes that a spec names, as offsets in
 * files.
 *
 *	uprobe_points_find(&scope, &spec, &points)
 *	uprobe_points_free(&points)
 *
 * Which files are looked into: the one that the spec names; else the files that the given processes
 * have mapped; else those of the command that is to be started and the libraries of this machine
 * (/etc/ld.so.cache).
 *
 * The files are foreign bytes. A process of its own opens them, gives up all rights (sandbox.h),
 * reads their symbols and writes what it has found; it is ended when it takes too long.
 *
 * No probe is put where it could do harm. It replaces the first byte of an instruction, so an
 * offset inside of one would destroy the program: instructions are decoded from the beginning of
 * the function on. What cannot be probed is refused by name, and the others are found all the
 * same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/probes/probe_spec.h"
#include "src/probes/usdt_frame.h"

struct id_list;

struct uprobe_scope {
	const struct id_list *pids;	/* NULL or empty: no process is named */
	const char *command;		/* program that is to be started; NULL: none */
};

struct uprobe_point {
	char *path;			/* of the file, for people */
	char *attach_path;		/* by which the kernel finds it */
	char *symbol;			/* demangled; "f+0x12" if it is not its beginning */
	uint64_t offset;		/* in the file */
	uint64_t address;		/* as in the symbol table, with the spec's offset */
	uint64_t size;			/* of the function */
	uint64_t semaphore;		/* of usdt: its offset in the file; 0: there is none */
	struct usdt_frame frame;	/* of usdt, if the spec wants it */
	char *arguments;		/* of usdt: as the note has them; else "" */
	char *refused;			/* why it cannot be probed; NULL: it can */
};

struct uprobe_points {
	struct uprobe_point *v;		/* by file and address */
	size_t nr, cap;
	size_t nr_refused;
	size_t nr_files;		/* that were looked into */
};

/* 0; -ENOENT: nothing matches; or another -errno. Explained, except that -ENOENT is not. */
int uprobe_points_find(const struct uprobe_scope *scope, const struct probe_spec *spec,
		       struct uprobe_points *out);
/* Explains that nothing matches in so many files. -ENOENT. */
int uprobe_points_none(const struct probe_spec *spec, size_t nr_files);
void uprobe_points_free(struct uprobe_points *p);
