/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks a Java virtual machine to write the names of its code to /tmp/perf-PID.map, as
 * `jcmd PID Compiler.perfmap` does (JDK 17 and later).
 *
 * A JVM is asked through a socket that it makes on request (HotSpot: attachListener_posix.cpp):
 *
 *	/tmp/.attach_pidN	is made, which tells the JVM what the next signal means
 *	SIGQUIT			the JVM makes the socket
 *	/tmp/.java_pidN		"1" "jcmd" "Compiler.perfmap" "" "", each with a NUL; it answers
 *				"0\n" and a text
 *
 * N is its number in its own PID namespace, and /tmp that of its own mount namespace. It answers
 * nobody but its own user, and it would be wrong to do this with other rights than that user's: all
 * names are his to change. So each question has a process of its own, which becomes that user, with
 * no capabilities and no groups, before it looks up the first name. No program is started, so no
 * JDK is needed, here or in the container.
 *
 * SIGQUIT ends a process that does not catch it (a JVM with -Xrs, or one that just starts). So it
 * is sent only to one that does, by a descriptor for the process that was looked at (pidfd).
 *
 *	jvm_attach_new(&a)		forks a process with ROLE_JAVA (recording_rights.h),
 *					so before any thread is started
 *	jvm_attach_ask(a, pid, start, wait)	from any thread
 *	jvm_attach_free(a)
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "src/helpers/helper.h"

struct jvm_attach;

struct helper_deaths;
int jvm_attach_new(struct helper_deaths *deaths, struct jvm_attach **ap);
void jvm_attach_free(struct jvm_attach *a);		/* NULL is fine; after all its threads */

/*
 * start_boottime_ns: when the process began; 0: unknown. 0: the map is written. -ESRCH: the process
 * is gone; -EPERM: we may not become its user; -ENOTSUP: it may not be asked (-Xrs,
 * -XX:+DisableAttachMechanism); -ENOSYS: it does not know the question (older than JDK 17);
 * -ETIMEDOUT, or another -errno.
 */
int jvm_attach_ask(struct jvm_attach *a, pid_t pid, uint64_t start_boottime_ns,
		   const struct helper_wait *wait);
uint64_t jvm_attach_cpu_ns(const struct jvm_attach *a);	/* of all these processes */
