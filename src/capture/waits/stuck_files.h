/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread hangs on that waits in the kernel for a file: the path that its system call looks
 * up, and where that path, or the file of its descriptor, is mounted. "A server does not answer" is
 * found by the mount, not by the call.
 *
 *	openat() of		.file			.mount
 *	"/mnt/a"		/mnt/a			nfs4 server:/export /mnt
 *	"a", in /mnt		/mnt/a			nfs4 server:/export /mnt
 *
 * The scan has read the path (OBJECT_PATH). The directory is asked for in /proc, and the mount in
 * /proc/TGID/mountinfo; no file system is asked, so none that hangs can delay this. A thread is
 * looked at when it has waited for STUCK_LOOK_NS, and once for each wait.
 *
 * A path that leads through a symbolic link to another file system has the mount of the link, where
 * path_mount.h says so: src/waits/stuck.c compares it with the functions of the kernel's stack.
 *
 *	stuck_files_new(intern, ctx, &s)
 *	stuck_files_fill(s, stack, &sample)	after .ran_ns and .file are set
 *	stuck_files_forget(s)			string ids mean something else from now on
 *	stuck_files_free(s)
 */
#pragma once

#include "src/capture/waits/descriptor_names.h"

struct rec_sample;
struct stuck_files;

#define STUCK_LOOK_NS 100000000ull

int stuck_files_new(intern_text_fn intern, void *ctx, struct stuck_files **sp);
void stuck_files_free(struct stuck_files *s);	/* NULL is fine */
void stuck_files_forget(struct stuck_files *s);
void stuck_files_fill(struct stuck_files *s, const struct wire_stack *stack,
		      struct rec_sample *out);
