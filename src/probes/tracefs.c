/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TRACEFS_MAGIC_NUMBER 0x74726163

#ifndef FSOPEN_CLOEXEC
#define FSOPEN_CLOEXEC 1
#define FSMOUNT_CLOEXEC 1
#define FSCONFIG_CMD_CREATE 6
#endif

static int open_mounted(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct statfs fs;

		if (fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == TRACEFS_MAGIC_NUMBER)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

static int mount_detached(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), fd = -1;

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (fd < 0)
		fd = -errno;
	if (fs >= 0)
		close(fs);
	return fd;
}

int tracefs_open(void)
{
	int fd = open_mounted();

	return fd >= 0 ? fd : mount_detached();
}

FILE *tracefs_events(int tracefs)
{
	int fd = openat(tracefs, "available_events", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* The text of a file, which ends with NUL; NULL: errno says why. The caller frees it. */
static char *read_file(int tracefs, const char *category, const char *name, const char *file)
{
	char path[512], *text;
	size_t len = 0, cap = 16384;
	ssize_t n;
	int fd;

	if (strchr(category, '/') || strchr(name, '/')) {
		errno = ENOENT;
		return NULL;
	}
	snprintf(path, sizeof(path), "events/%s/%s/%s", category, name, file);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	text = fd < 0 ? NULL : malloc(cap + 1);
	while (text && len < cap && (n = read(fd, text + len, cap - len)) > 0)
		len += (size_t)n;
	if (text)
		text[len] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

long tracefs_id(int tracefs, const char *category, const char *name)
{
	char *text = read_file(tracefs, category, name, "id");
	long id = text ? strtol(text, NULL, 10) : -errno;

	free(text);
	return id;
}

/*
 * A line of the format: " field:int common_pid;   offset:4;       size:4; signed:1;". The name is
 * the last word of the declaration, without "[16]".
 */
static bool parse_field(const char *line, char *name, size_t size, struct tracefs_field *out)
{
	const char *decl = strstr(line, "field:"), *end, *begin;
	unsigned offset, bytes, is_signed;
	size_t len;

	end = decl ? strchr(decl, ';') : NULL;
	if (!end ||
	    sscanf(end, "; offset:%u; size:%u; signed:%u;", &offset, &bytes, &is_signed) != 3)
		return false;
	while (end > decl && end[-1] == ']')
		while (end > decl && *--end != '[')
			;
	for (begin = end; begin > decl && begin[-1] != ' ' && begin[-1] != '*'; begin--)
		;
	len = (size_t)(end - begin);
	if (!len || len >= size)
		return false;
	memcpy(name, begin, len);
	name[len] = 0;
	*out = (struct tracefs_field){ offset, bytes, is_signed };
	return true;
}

int tracefs_field(int tracefs, const char *category, const char *name, const char *field,
		  struct tracefs_field *out, char *names, size_t size)
{
	char *text = read_file(tracefs, category, name, "format"), *save = NULL, *line;
	int err = text ? -ENOENT : -errno;
	struct tracefs_field f;
	char known[128];
	size_t n = 0;

	names[0] = 0;
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && err;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!parse_field(line, known, sizeof(known), &f))
			continue;
		if (strncmp(known, "common_", 7) && n < size)
			n += (size_t)snprintf(names + n, size - n, "%s%s", n ? ", " : "", known);
		if (!strcmp(known, field)) {
			*out = f;
			err = 0;
		}
	}
	free(text);
	return err;
}
