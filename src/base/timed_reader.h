/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files under /proc that may never answer.
 *
 * The problem. Files under /proc wait for locks of the process that they are about, and a process
 * can hold these for ever (measured on 6.18, unless a kernel is named):
 *
 *	memory map	a thread waits with the lock for a page from a FUSE or NFS server: cmdline,
 *			environ, smaps, pagemap, map_files; maps up to Linux 6.16
 *	exec		a close-on-exec file of such a server is being closed: stat, maps, smaps,
 *			pagemap, environ, auxv, io, syscall, wchan, map_files, and the links exe,
 *			root, cwd, ns/
 *	none		status, comm, cgroup, limits, statm, mountinfo, children, the lists of task
 *			and fd
 *
 * ps hangs there, too, and probee must not.
 *
 * The idea. A thread of its own reads, and the caller waits for it with a time limit. A thread that
 * does not return in time is left behind with its buffer until it does; it costs no CPU time. The
 * next call starts another thread. A thread is enough here, while reading memory needs a
 * process (helper_process.h): the waits for these locks are killable, so probee itself can still
 * end.
 *
 * Example, with a timeout of 500 ms:
 *
 *	get("/proc/1234/maps")	the thread returns after 0.1 ms: the text
 *	get("/proc/666/maps")	no answer: -ETIMEDOUT after 500 ms, the thread is left behind
 *	get("/proc/1240/maps")	a new thread is started: the text
 *
 * A thread that is ready to run when its time is over has got no CPU, and is waited for a little
 * longer: six times as long.
 *
 * Limits. A process may make reads hang on purpose, and the caller waits each time. So after a
 * thread was left behind, reads have a tenth of the time, until no thread was left behind for a
 * minute. At most 256 threads are left behind at a time, then every get() is -EBUSY at once. Those
 * that have returned are looked for once a second. One read runs at a time, and a path has at most
 * 63 bytes.
 *
 *	timed_reader_new(io_read_file, timeout_ms)
 *	timed_reader_get(r, path, max, &text)	the length; caller frees the text (NUL at its end);
 *						-ETIMEDOUT, -EBUSY or another -errno
 *	timed_reader_free(r)
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct timed_reader;

/* A function such as io_read_file(). */
typedef ssize_t (*read_file_fn)(const char *path, char **out, size_t max);

struct timed_reader_options {
	read_file_fn read;
	int timeout_ms;
	void (*begin)(void);	/* what each thread does first (worker.h); NULL: nothing */
	/* Frees an answer that came too late; NULL: free(). */
	void (*drop)(const char *path, char *text);
};

/* NULL: no memory, or no thread could be started. */
struct timed_reader *timed_reader_new(read_file_fn read, int timeout_ms);
struct timed_reader *timed_reader_new_with(const struct timed_reader_options *opts);
ssize_t timed_reader_get(struct timed_reader *r, const char *path, size_t max, char **text);
void timed_reader_free(struct timed_reader *r);			/* NULL is fine */
