/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the file of a kernel with its debug information (vmlinux) may be, and which of those that
 * are there is it. The places are those of perf (vmlinux_path in tools/perf/util/symbol.c), of
 * libdwfl (linux-kernel-modules.c of elfutils) and of gdb for debug files by build-id. A file
 * counts only if it has the build-id of the kernel, whatever its name is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define KERNEL_PLACE_MAX 320

struct file_opener;
struct parsers;

struct kernel_wanted {
	const char *release;		/* as uname -r; may be foreign */
	const uint8_t *build_id;
	uint32_t build_id_len;
};

/*
 * The i-th place beneath a directory of debug files (/usr/lib/debug), or beneath a root directory.
 * false: there are no more. *path may be "": it makes no sense for this kernel.
 */
bool kernel_debug_place(const struct kernel_wanted *w, size_t i, char path[KERNEL_PLACE_MAX]);
bool kernel_root_place(const struct kernel_wanted *w, size_t i, char path[KERNEL_PLACE_MAX]);

/*
 * The file of this machine: sealed, the caller closes it. -ENOENT: there is none. An opener that
 * does not answer ends the search. May be called from any thread.
 */
int kernel_file_find(struct file_opener *o, struct parsers *p, const struct kernel_wanted *w,
		     struct stat *st);
