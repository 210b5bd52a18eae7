/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that reads the task iterator for a snapshot. The BPF program runs inside its read(),
 * and may have to wait there for a page of a thread that it looks at: in the worst case for ever,
 * and no signal ends that. So it is a process of its own: one that hangs is left behind, and
 * neither the recording nor its end waits for it. (A thread that hangs would keep our process from
 * ever being reaped.)
 *
 *	task_reader_open(prog_fd, place, &r)
 *	task_reader_begin(r, &scope)		a walk begins
 *	task_reader_next(r, buf, size) ...	until it is 0 or negative
 *	task_reader_close(r)			waits for it, unless it hangs
 *
 * A reader hangs when it sleeps for 2 s, gives no rows and has not come to another task meanwhile.
 * It may still hold the iterator and the program; who opens another one keeps them apart (struct
 * scan_control).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_reader;
struct scan_place;

struct reader_scope {
	uint32_t only_pid, only_tid;	/* let the kernel visit only these (6.1+); 0: all */
	uint32_t strictly;		/* -ENOTSUP where the kernel cannot; else all are visited */
};

/* place is borrowed: what the BPF program says of where it is. */
int task_reader_open(int prog_fd, const struct scan_place *place, struct task_reader **rp);
void task_reader_close(struct task_reader *r);		/* NULL is fine */

int task_reader_begin(struct task_reader *r, const struct reader_scope *scope);

#define TASK_READER_BYTES (32 * 1024)	/* of rows that come at once, at most; size is at least
					   that */

/*
 * Bytes of rows; 0: the walk is over; -ETIMEDOUT: the reader hangs; or another -errno, said
 * already.
 */
long task_reader_next(struct task_reader *r, void *buf, size_t size);

/* Where in the kernel a reader waits: a function's name, "" unknown. */
void task_reader_waits_in(const struct task_reader *r, char *buf, size_t size);

uint64_t task_reader_cpu_ns(const struct task_reader *r);	/* processor time so far */
