/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that reads the task iterator for a scan.
 *
 * The problem. The BPF program runs inside the read() of the iterator's file, and may have to wait
 * there for a page of the thread that it looks at: in the worst case for ever, and no signal ends
 * that. A thread that hangs would keep the whole process from ever being reaped.
 *
 * The idea. A child reads, and passes the rows on through a socket. A child that hangs is left
 * behind, and neither the recording nor its end waits for it:
 *
 *	task_reader_open(prog_fd, place, &r)	starts the child
 *	task_reader_begin(r, &scope)		a scan begins
 *	task_reader_next(r, buf, size) ...	until it is 0 or negative
 *	task_reader_close(r)			waits for the child, unless it hangs
 *
 * A reader that was killed (by the kernel, for want of memory) is told apart from one that hangs:
 * -ECHILD. Nothing of it is left in the kernel then, so the next one may take its place. The same
 * holds for one that somebody has stopped for 4 s (SIGSTOP): it is killed.
 *
 * A reader hangs when it sleeps for 0.6 s, gives no rows and has not come to another task
 * meanwhile: then a scan each second is complete nevertheless. A disk that has much to do may take
 * longer; what is left behind for that is taken back (left_readers.h).
 * For example, 4711 has its stack in a file of a FUSE server that does not answer (--faults=all):
 *
 *	reader A	rows of 1 to 4700		read() sleeps at 4711
 *	caller		task_reader_next() is -ETIMEDOUT after 0.6 s; closes A, opens B
 *	reader B	rows of all tasks again, but does not read the memory of 4711
 *	caller		drops the rows that A has handed out already (task_snapshot.c)
 *
 * Limits. The child left behind still holds the iterator and the program until its page comes, if
 * ever. The caller has to keep it apart from the next one (struct scan_control).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct child_forker;
struct task_reader;
struct scan_place;

struct task_reader_deps {		/* borrowed: forker, place, ctx */
	int prog_fd;
	const struct scan_place *place;	/* where the BPF program says which task it has come to */
	bool (*is_urgent)(void *ctx);	/* the user waits for the end; NULL: never */
	void *ctx;
	struct child_forker *forker;	/* NULL: this process forks */
};

struct reader_scope {
	uint32_t only_pid, only_tid;	/* the kernel visits only these (6.1+); 0: all */
	uint32_t strictly;		/* -ENOTSUP where the kernel cannot; else all are visited */
};

int task_reader_open(const struct task_reader_deps *deps, struct task_reader **rp);
void task_reader_close(struct task_reader *r);		/* NULL is fine */
/* Closes one that has died (-ECHILD), and reports what ended it (helper_deaths.h). */
void task_reader_bury(struct task_reader *r);
bool task_reader_was_stopped(const struct task_reader *r);	/* that is why it is dead */

/* 0; -ECHILD: the reader has died; or another -errno, which was reported. */
int task_reader_begin(struct task_reader *r, const struct reader_scope *scope);

#define TASK_READER_BYTES (32 * 1024)	/* of rows that come at once, at most */

/*
 * size is at least TASK_READER_BYTES. Bytes of rows; 0: the scan is over; -ETIMEDOUT: the reader
 * hangs; -ECHILD: it has died; -EINTR: it is urgent, and the reader is left behind; -ENOTSUP: see
 * reader_scope; or another -errno, which was reported.
 */
long task_reader_next(struct task_reader *r, void *buf, size_t size);

pid_t task_reader_pid(const struct task_reader *r);

/* Where in the kernel a reader waits: the name of a function; "": not known. */
void task_reader_waits_in(const struct task_reader *r, char *buf, size_t size);

uint64_t task_reader_cpu_ns(const struct task_reader *r);	/* processor time so far */
