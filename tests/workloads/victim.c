/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * victim HOW [FILE]: sleeps in pause() with the stack pointer in memory of a kind that a stack should not be in, and has
 * never touched it: file (FILE mapped private), shared (MAP_SHARED | MAP_ANONYMOUS), memfd, uffd (nobody serves its
 * faults). "prog": FILE is mapped executable and the stack is an ordinary one. "ready PID"; exit 77: could not be had.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ready.h"

enum { BYTES = 64 * 1024 };

static void *from_fd(int fd, int prot, int flags)
{
	return fd < 0 ? MAP_FAILED : mmap(NULL, BYTES, prot, flags, fd, 0);
}

static void *map_file(const char *file)
{
	return from_fd(open(file, O_RDONLY), PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

static void *map_prog(const char *file)
{
	return from_fd(open(file, O_RDONLY), PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

static void *map_shared(const char *file)
{
	(void)file;
	return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void *map_memfd(const char *file)
{
	int fd = memfd_create("stack", 0);

	(void)file;
	return ftruncate(fd, BYTES) ? MAP_FAILED : from_fd(fd, PROT_READ | PROT_WRITE, MAP_SHARED);
}

static void *map_uffd(const char *file)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = { .api = UFFD_API };
	void *p = map_shared(file);
	struct uffdio_register reg = { .range = { (unsigned long)p, BYTES }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg) ? MAP_FAILED : p;
}

static const struct {
	const char *name;
	void *(*map)(const char *file);
	int is_stack;
} kinds[] = {
	{ "file", map_file, 1 }, { "shared", map_shared, 1 }, { "memfd", map_memfd, 1 }, { "uffd", map_uffd, 1 },
	{ "prog", map_prog, 0 },
};

/* Everything is said before the stack is gone. */
static void sleep_on(char *stack)
{
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp\n1: mov $34, %%eax\nsyscall\njmp 1b" : : "r"(stack) : "rax", "rcx", "r11", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov sp, %0\n1: mov x0, 0\nmov x1, 0\nmov x2, 0\nmov x3, 0\nmov x8, 73\nsvc 0\nb 1b"
			 : : "r"(stack) : "x0", "x1", "x2", "x3", "x8", "memory");
#endif
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char *p;

		if (strcmp(argv[1], kinds[i].name))
			continue;
		p = kinds[i].map(argc > 2 ? argv[2] : "");
		if (p == MAP_FAILED)
			break;
		say_ready();
		if (kinds[i].is_stack)
			sleep_on(p + BYTES / 2);
		for (;;)
			pause();
	}
	return 77;
}
