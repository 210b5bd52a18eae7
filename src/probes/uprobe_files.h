/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files in which a function may be: see uprobe_points.h.
 *
 *	uprobe_files_find(&scope, &spec, &files)
 *	uprobe_files_open(&files)	opens those that are regular files; the rest has fd -1
 *	uprobe_files_free(&files)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/elf/debug_name.h"
#include "src/foreign/debug_files.h"
#include "src/proc/procfs.h"

struct probe_spec;
struct uprobe_scope;

struct uprobe_file {
	char *path, *attach_path;
	pid_t pid;			/* of which it is mapped; 0: it is named by its path */
	struct proc_map map;		/* .path is not set */
	int fd;
	struct debug_name debug;	/* of a file that lacks names (has_debug_name) */
	bool has_debug_name;
	int debug_fds[DEBUG_FILES_MAX];	/* what may be its debug file, best first */
	size_t nr_debug_fds;
};

struct uprobe_files {
	struct uprobe_file *v;
	size_t nr, cap;
};

/* 0 or -errno, which was explained. */
int uprobe_files_find(const struct uprobe_scope *scope, const struct probe_spec *spec,
		      struct uprobe_files *out);
void uprobe_files_open(struct uprobe_files *f);
/* Behind the former: debug files of those that have the name of one. Returns how many have any. */
size_t uprobe_files_open_debug(struct uprobe_files *f);
void uprobe_files_free(struct uprobe_files *f);
