/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memfds NUMBER sleep|calls: maps so many files in memory executable, each another one, and sleeps; or calls the code in each
 * of them in turn, for ever: main > round > (code without a name) > visited.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ready.h"

typedef void (*code_fn)(void (*)(void));

static volatile unsigned long sink;

FRAME void visited(void);
FRAME void round_of(code_fn *v, long nr);

FRAME void visited(void)
{
	for (int i = 0; i < 2000; i++)
		sink += (unsigned long)i;
	NO_TAIL_CALL();
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret: behind the number of the file. */
static code_fn new_file(long i)
{
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	int fd = memfd_create("file", MFD_CLOEXEC);
	unsigned char page[64] = { 0 };
	char *p;

	memcpy(page, &i, sizeof(i));
	memcpy(page + 16, code, sizeof(code));
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		_exit(1);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		_exit(1);
	return (code_fn)(void *)(p + 16);
}

FRAME void round_of(code_fn *v, long nr)
{
	for (long i = 0; i < nr; i++)
		v[i](visited);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 0;
	code_fn *v = calloc((size_t)nr + 1, sizeof(*v));

	for (long i = 0; v && i < nr; i++)
		v[i] = new_file(i);
	say_ready();
	if (argc < 3 || strcmp(argv[2], "calls"))
		for (;;)
			pause();
	for (;;)
		round_of(v, nr);
}
