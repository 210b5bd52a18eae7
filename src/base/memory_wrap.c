/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The linker's --wrap=malloc makes malloc() __wrap_malloc(), and __real_malloc() libc's. */
#include <stddef.h>

#include "src/base/memory.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

static void *counted(void *p)
{
	if (!p)
		memory_refused();
	return p;
}

void *__wrap_malloc(size_t size)
{
	return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return counted(__real_calloc(nr, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	return counted(__real_realloc(p, size));
}

char *__wrap_strdup(const char *text)
{
	return counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t size)
{
	return counted(__real_strndup(text, size));
}
