/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a kernel that a test makes up, in the form of /proc/kallsyms. */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/symbolize/kernel_symbols.h"

/* 0, and the caller frees *out with kernel_symbols_free(); or not 0. */
static inline int kernel_fixture(const char *kallsyms, struct kernel_symbols **out)
{
	char path[] = "/tmp/probee-kallsyms.XXXXXX";
	ssize_t len = (ssize_t)strlen(kallsyms);
	int fd = mkstemp(path), err;

	if (fd < 0)
		return -1;
	err = write(fd, kallsyms, (size_t)len) != len;
	close(fd);
	if (!err)
		err = kernel_symbols_load_from(path, "/nonexistent", "/nonexistent", out);
	unlink(path);
	return err;
}
