/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_lock SECONDS: threads contend for the lock of their memory. Two of them change mappings, and three touch pages
 * that one of the two takes away again and again, so that the lock is given on at the ends of page faults.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ready.h"

#define BYTES (64L << 20)

static char *pages;

static char *map(long bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static void *change(void *unused)
{
	(void)unused;
	for (;;) {
		char *p = map(1 << 16);

		mprotect(p, 1 << 15, PROT_READ);
		munmap(p, 1 << 16);
		madvise(pages, BYTES, MADV_DONTNEED);
		mprotect(pages, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
		mprotect(pages, BYTES, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

static void *touch(void *unused)
{
	(void)unused;
	for (;;)
		for (long i = 0; i < BYTES; i += 4096)
			((volatile char *)pages)[i] = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	pages = map(BYTES);
	for (int i = 0; i < 5; i++)
		if (pthread_create(&t, NULL, i < 2 ? change : touch, NULL))
			return 1;
	say_ready();
	sleep(argc > 1 ? atoi(argv[1]) : 1);
	_exit(0);
}
