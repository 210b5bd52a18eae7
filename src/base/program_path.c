/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/program_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 if path can be executed; -errno. */
static int is_program(const char *path)
{
	struct stat st;

	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return -errno;
	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

/* Looks in the directories of PATH. A file that may not be executed is said only if none may. */
static int find_in_path(const char *name)
{
	const char *dirs = getenv("PATH");
	char path[PATH_MAX];
	int found = -ENOENT;

	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (size_t len;; dirs += len + 1) {
		int err;

		len = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%.*s%s%s", (int)len, dirs, len ? "/" : "", name);
		err = is_program(path);
		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
		if (!dirs[len])
			return found;
	}
}

int program_look_up(const char *name)
{
	return strchr(name, '/') || !*name ? is_program(name) : find_in_path(name);
}
