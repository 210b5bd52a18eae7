/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flipping FILE: threads that sleep in futex() on locks of one page, while another thread has that page be by turns
 * anonymous memory, in which the locks stand, and a page of FILE, which nobody delivers (hungfs). Whoever looks which of
 * the two it is, and then reads, sooner or later reads the other one. "ready PID".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ready.h"

enum { WAITERS = 32, WORDS_EACH = 32 };	/* each waits for words of its own */

static size_t page;
static uint32_t *locks;
static int file;

/* Locked mutexes of glibc: {lock, count, owner, users, kind}. */
static void fill(void)
{
	for (int i = 0; i < WAITERS; i++) {
		uint32_t *w = locks + i * WORDS_EACH;

		w[0] = 2;
		w[2] = (uint32_t)getpid();
		w[3] = 1;
	}
}

static void map(int flags, int fd)
{
	if (mmap(locks, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | flags, fd, 0) == MAP_FAILED) {
		perror("flipping: mmap");
		exit(77);
	}
}

static void *wait_for_it(void *word)
{
	for (;;)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	page = (size_t)sysconf(_SC_PAGESIZE);
	file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	locks = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (file < 0 || locks == MAP_FAILED)
		return 77;
	fill();
	for (int i = 0; i < WAITERS; i++)
		if (pthread_create(&thread, NULL, wait_for_it, locks + i * WORDS_EACH))
			return 77;
	usleep(100000);		/* they sleep */
	say_ready();
	for (;;) {
		map(0, file);
		map(MAP_ANONYMOUS, -1);
		fill();
	}
}
