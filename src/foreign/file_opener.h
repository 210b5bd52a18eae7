/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens foreign files (foreign_file.h) in helper processes, because each step of opening may block
 * for ever. These processes keep the rights to open other users' files, and read nothing of them:
 * they give what stands for a file (kept_file.h) or, to be read at once, a sealed file
 * (sealed_file.h).
 *
 *	file_opener_new(keeper, &o)
 *	file_opener_mapped(o, pid, map, &st)	and the like: a kept file, or -errno
 *	file_opener_again(o, kept, dev)		the same file, open: a seal, or -errno
 *	file_opener_free(o)
 *
 * Each kind of question has a helper of its own, so a debug file that hangs delays no program. A
 * helper that does not answer in time is left behind. The time is paid by the user whose process it
 * is about, and who has spent his time is asked nothing for a while (wait_budget.h): whoever makes
 * files that hang could otherwise stop the recording by making many.
 *
 * Functions may be called from any thread, and wait for those that ask the same. -ETIMEDOUT: no
 * answer in time; -EBUSY: not asked.
 */
#pragma once

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "src/foreign/debug_files.h"
#include "src/foreign/foreign_file.h"
#include "src/helpers/helper.h"

struct file_opener;

/* To be given to helper_keeper_new(). */
extern const struct helper_kind file_opener_kind;

int file_opener_new(struct helper_keeper *k, struct file_opener **op);
void file_opener_free(struct file_opener *o);		/* NULL is fine */

/* The user who pays for what pid has mapped: wait_budget_user(). */
uid_t file_opener_user(struct file_opener *o, pid_t pid);
/* The user who pays for a process that has these users. */
uid_t file_opener_user_was(struct file_opener *o, uid_t real, uid_t effective);

/*
 * The functions of foreign_file.h; -ESRCH: pid has ended meanwhile. *is_unsure: the file is from
 * foreign_open_mapped_now(), because no other was found.
 */
int file_opener_mapped(struct file_opener *o, pid_t pid, const struct proc_map *map,
		       struct stat *st, bool *is_unsure);

/*
 * Opens a kept file to be read now. Its file system pays for the time, since the process that has
 * mapped it may be gone: dev is a number for that, such as st_dev.
 */
int file_opener_again(struct file_opener *o, int kept, uint64_t dev);

/* What may be the debug file of a binary, best first; their number. The caller closes them. */
size_t file_opener_debug(struct file_opener *o, pid_t pid, const char *path, const struct stat *st,
			 const struct debug_name *name, int fds[DEBUG_FILES_MAX]);
int file_opener_perf_map(struct file_opener *o, const struct process_tmp *tmp,
			 const struct helper_wait *wait, struct stat *st);

/*
 * The files that the debug information of a binary names (debug_files.h), kept, best first; the
 * caller closes them. 0: there are none, or no answer in time, or names that are not sound: they
 * may come from a parser as they are. Only the reader of a file can tell whether it is the right
 * one: it compares the build-id (BESIDE_ALT) or the id of the unit (DW_AT_dwo_id).
 *
 *	struct beside_query q = { .pid = pid, .path = path, .st = &st, .from = debug, .names = &n };
 *	nr = file_opener_beside(o, &q, files);
 */
struct beside_query {
	pid_t pid;			/* a process that has mapped the binary; 0: unknown */
	const char *path;		/* of the binary, as mapped; NULL: unknown */
	const struct stat *st;		/* of the binary: st_dev, st_ino, st_uid count */
	/*
	 * The file that has the names, as this opener gave it: the binary or its debug file, which
	 * relative names count from. -1: unknown.
	 */
	int from;
	const struct beside_names *names;
};

size_t file_opener_beside(struct file_opener *o, const struct beside_query *q,
			  struct beside_file files[BESIDE_MAX]);

/*
 * A regular file by its path beneath dir, which may be an O_PATH descriptor; no link leads out of
 * dir. A kept file, or -errno.
 */
int file_opener_beneath(struct file_opener *o, int dir, const char *path, struct stat *st);

/*
 * A copy of the file behind a mapping, as a plain descriptor, for file systems that are served by a
 * program or another machine: reading such a file may block, too. The time is up when nothing more
 * of it comes for 0.5 s. -ENOEXEC: it is no ELF file; -EFBIG: it is larger than 128 MiB.
 */
int file_opener_copy(struct file_opener *o, pid_t pid, const struct proc_map *map,
		     struct stat *st);
