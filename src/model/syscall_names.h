/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of system calls by number, as libseccomp knows them, for the architecture of a recording.
 * The machine that reads the recording may have another one.
 *
 *	names = syscall_names_new("x86_64")	NULL: out of memory
 *	syscall_name(names, 202)		"futex": borrowed from names
 *	syscall_names_free(names)
 */
#pragma once

#include <stdint.h>

struct syscall_names;

/* arch as in the trace: "x86_64", "aarch64". Any other architecture has no names. */
struct syscall_names *syscall_names_new(const char *arch);
void syscall_names_free(struct syscall_names *names);	/* NULL is fine */

/* NULL: there is no system call of this number, or it is newer than this program. */
const char *syscall_name(const struct syscall_names *names, uint32_t nr);
