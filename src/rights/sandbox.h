/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that reads foreign bytes shuts itself in before it reads the first one.
 *
 * The problem. An ELF file, a name to demangle, a perf map or a trace comes from somebody else, and
 * a mistake in a parser may hand the process over to him. Whatever the process may do then, he may
 * do.
 *
 * The idea. All that a parser needs is opened before, and reaches it as descriptors. Then the
 * process gives up everything else, in layers that do not rely on each other:
 *
 *	SANDBOX_RIGHTS	  no capabilities, and no program gives any back (capabilities.h)
 *	SANDBOX_LIMITS	  bounds on memory and on the size of files; no core file
 *	SANDBOX_FILES	  Landlock: opens, makes and removes nothing		Linux 5.13
 *	SANDBOX_WRITES	  Landlock: opens for reading only, of a report that	Linux 5.13
 *			  opens files
 *	SANDBOX_NETWORK	  Landlock: neither binds nor connects TCP		Linux 6.7
 *	SANDBOX_SCOPE	  Landlock: no signal and no abstract socket out of it	Linux 6.12
 *	SANDBOX_CALLS	  seccomp: only the system calls that parsing takes
 *
 * A system call that no parser makes unless it was taken over (connect, execve, ptrace, bpf, mount,
 * ...) kills the process. One that is merely not on the list fails with ENOSYS, as in a kernel that
 * does not have it: the C library then does without. Opening a path fails with EACCES, because the
 * C library may look for a file of its own, and goes on without it.
 *
 * Example: a worker that was forked with a channel as descriptor 3.
 *
 *	const struct sandbox_rules rules = { SANDBOX_WORKER, .memory_bytes = 256 << 20 };
 *
 *	if (sandbox_enter(&rules) < 0)
 *		_exit(1);
 *	serve(3);
 *
 * Limits. Each layer is left out where the kernel does not have it or a filter of a container
 * forbids it; the result says which are in force, and sandbox_text() puts that into words. The
 * layers are those of the calling thread: it is called before other threads are started. A process
 * of root without capabilities still owns root's files, which only SANDBOX_FILES and SANDBOX_CALLS
 * keep from it. Under AddressSanitizer there is no bound on memory, because it reserves terabytes;
 * and SANDBOX_REPORT has SANDBOX_RIGHTS only, because the search for leaks at the end of a process
 * traces it from another one.
 *
 * Sources: seccomp(2), landlock(7), seccomp_rule_add(3).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sandbox_kind {
	/*
	 * Reads descriptors that it has, maps memory that is not executable, sends and receives
	 * bytes, receives descriptors. Writes to no file, not even in memory, opens no path, starts
	 * nothing, has no clock but reading.
	 */
	SANDBOX_WORKER,
	/*
	 * A command for its user may do what a worker may, and what it needs besides: files and
	 * their names, also in memory, threads, waiting for children, the size of a terminal,
	 * signals as a descriptor.
	 */
	SANDBOX_REPORT,
	SANDBOX_KINDS
};

enum sandbox_part {
	SANDBOX_RIGHTS = 1,
	SANDBOX_LIMITS = 2,
	SANDBOX_FILES = 4,
	SANDBOX_NETWORK = 8,
	SANDBOX_SCOPE = 16,
	SANDBOX_CALLS = 32,
	SANDBOX_WRITES = 64,
};

struct sandbox_rules {
	enum sandbox_kind kind;
	/* SANDBOX_REPORT: the process opens no path any more, so SANDBOX_FILES is in force, too. */
	bool opens_nothing;
	/* SANDBOX_REPORT: it reads /proc/PID/maps of others, which Landlock cannot but forbid. */
	bool sees_processes;
	/* SANDBOX_REPORT: it asks helper processes (src/helpers) through pairs of sockets. */
	bool asks_helpers;
	/* SANDBOX_REPORT: it answers connections to a socket that listens already. */
	bool serves;
	/*
	 * SANDBOX_REPORT: it connects to others, and loads libraries that name resolution wants.
	 * It opens files for reading.
	 */
	bool connects;
	/* SANDBOX_REPORT: it starts processes that are as shut in as itself. */
	bool forks;
	uint64_t kept;			/* CAP_BIT()s of capabilities that it keeps; usually 0 */
	/* Address space that it may take beyond what it has now. 0: unbounded. */
	uint64_t memory_bytes;
	/*
	 * Memory of its own that it may take beyond what it has now; what it maps of files for
	 * reading is not counted. 0: unbounded.
	 */
	uint64_t data_bytes;
	/*
	 * SANDBOX_WORKER: CPU time that it may use until it is killed: one that was taken over
	 * answers in time and computes on. 0: unbounded.
	 */
	uint64_t cpu_seconds;
};

/*
 * The parts that are in force: SANDBOX_... of enum sandbox_part. -errno: not even the capabilities
 * could be given up, and the process must not read foreign bytes. Prints nothing; allocates memory.
 */
int sandbox_enter(const struct sandbox_rules *rules);

/* The parts that these rules put in force where the kernel has everything. */
unsigned sandbox_parts_of(const struct sandbox_rules *rules);

/* "system calls, files, network": the words for a set of parts; "" for none. */
void sandbox_text(unsigned parts, char *buf, size_t size);
