/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the code under test says to the user, kept off the test's own output.
 *
 *	stderr_begin(); err = opt_parse(...); text = stderr_end();
 *
 * The text is static and valid until the next stderr_end().
 */
#pragma once

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int stderr_saved, stderr_memory;

static inline void stderr_begin(void)
{
	fflush(stderr);
	stderr_saved = dup(STDERR_FILENO);
	stderr_memory = memfd_create("stderr", 0);
	assert(stderr_saved >= 0 && stderr_memory >= 0);
	dup2(stderr_memory, STDERR_FILENO);
}

static inline const char *stderr_end(void)
{
	static char text[8192];
	ssize_t n;

	fflush(stderr);
	n = pread(stderr_memory, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	dup2(stderr_saved, STDERR_FILENO);
	close(stderr_saved);
	close(stderr_memory);
	return text;
}
