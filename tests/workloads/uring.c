/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uring: io_uring works for it: a read from a pipe that never has anything, given to a worker thread, which is a thread of this
 * process without user registers. "ready PID TID": of the worker. Exits with 2 where there is no io_uring.
 */
#include <dirent.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ready.h"

/* The thread that is not this one; 0: there is none yet. */
static int other_thread(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	int tid = 0;

	while (d && (e = readdir(d)))
		if (atoi(e->d_name) && atoi(e->d_name) != getpid())
			tid = atoi(e->d_name);
	if (d)
		closedir(d);
	return tid;
}

static int submit_read(int pipe_fd, char *byte)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	struct io_uring_sqe *sqe;
	unsigned *tail, *array;
	char *ring;

	if (fd < 0)
		return -1;
	ring = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqe == MAP_FAILED)
		return -1;
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_READ, .flags = IOSQE_ASYNC, .fd = pipe_fd, .addr = (uintptr_t)byte, .len = 1,
	};
	tail = (unsigned *)(void *)(ring + p.sq_off.tail);
	array = (unsigned *)(void *)(ring + p.sq_off.array);
	array[0] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return (int)syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0);
}

FRAME static void own_thread(void)
{
	for (;;)
		pause();
}

int main(void)
{
	static char byte;
	int fds[2], tid;

	if (pipe(fds) || submit_read(fds[0], &byte) != 1)
		return 2;
	for (int i = 0; i < 1000 && !(tid = other_thread()); i++)
		usleep(1000);
	if (!tid)
		return 2;
	usleep(20000);		/* into the read */
	alarm(LIFETIME_S);
	printf("ready %d %d\n", (int)getpid(), tid);
	fflush(stdout);
	own_thread();
	return 0;
}
