/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for LD_PRELOAD that runs out of memory at a chosen moment: allocation number FAIL_AT of a process fails, and
 * allocation number FAIL_FROM and all later ones. With FAIL_COUNT=FILE the number of allocations is written there in the
 * end. A forked child counts on from its parent's number.
 *
 * libc's own allocations go through these functions, too: fopen(), strdup(), getline() and so on. Those of libseccomp are
 * neither counted nor refused: version 2.5.4 frees twice when one fails, or makes a filter that lacks rules.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIGH_FD 100		/* tests look at the low ones */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long count;
static long fail_at, fail_from;
static int count_fd = -1;
static atomic_int is_set_up;

static long number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

/* dladdr() allocates nothing. */
static int is_of_libseccomp(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "/libseccomp");
}

/* Whether this allocation fails. getenv() and strtol() allocate nothing. */
static int fails(const void *caller)
{
	long n;

	if (is_of_libseccomp(caller))
		return 0;
	n = atomic_fetch_add(&count, 1) + 1;

	if (!atomic_exchange(&is_set_up, 1)) {
		fail_at = number("FAIL_AT");
		fail_from = number("FAIL_FROM");
	}
	if (n != fail_at && (!fail_from || n < fail_from))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);

	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

/* The file is opened first: a report that has shut itself in opens none any more. */
__attribute__((constructor)) static void open_count(void)
{
	const char *path = getenv("FAIL_COUNT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	count_fd = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	close(fd);
}

__attribute__((destructor)) static void say_count(void)
{
	if (count_fd >= 0)
		dprintf(count_fd, "%ld\n", atomic_load(&count));
}
