/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/base64.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/own_file.h"
#include "src/push/push_headers.h"
#include "src/push/secret_text.h"

enum { SECRET_MAX = 65536 };		/* bytes of a file */

/*
 * systemd gives a service its credentials by a list of access, which shows as rights of the group;
 * the directory is open to the service alone.
 */
static bool is_credential(const char *path)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	size_t len = dir ? strlen(dir) : 0;

	return len && !strncmp(path, dir, len) && path[len] == '/' && !strstr(path, "/../");
}

static int check_secret(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail(-errno, "read %s", path);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return fail_why(-EINVAL, "%s is no regular file", path);
	if (st.st_uid && !own_file_is_ours(&st))
		return fail_why(-EACCES, "%s belongs to another user, who would choose the secret",
				path);
	if (st.st_mode & (is_credential(path) ? 07 : 077))
		return fail_why(-EACCES, "%s: others can read this secret. Try: chmod 600 %s", path,
				path);
	fcntl(fd, F_SETFL, 0);		/* a pipe is waited for */
	return 0;
}

/* The text is the caller's, who wipes it. */
static int read_secret(const char *path, char **text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;
	ssize_t n;

	*text = NULL;
	if (fd < 0)
		return fail(-errno, "open %s", path);
	err = check_secret(fd, path);
	n = err ? err : io_read_all(fd, text, SECRET_MAX);
	close(fd);
	if (err)
		return err;
	return n < 0 ? fail((int)n, "read %s", path) : 0;
}

/* Its only line, without the end of line. */
static int read_one_line(const char *path, char **text)
{
	int err = read_secret(path, text);
	size_t len = err ? 0 : strcspn(*text, "\r\n");

	if (err)
		return err;
	if (!len || (*text)[len + strspn(*text + len, "\r\n")])
		return fail_why(-EINVAL, "%s holds no secret: one line is wanted", path);
	(*text)[len] = 0;
	return 0;
}

int push_secret_bearer(struct push_headers *h, const char *path)
{
	char *text, *value = NULL;
	int err = read_one_line(path, &text);

	if (!err && asprintf(&value, "Bearer %s", text) < 0) {
		value = NULL;
		err = fail(-ENOMEM, "%s", path);
	}
	if (!err)
		err = push_headers_add(h, path, "Authorization", 13, value, strlen(value));
	secret_text_free(text);
	secret_text_free(value);
	return err;
}

static int put_basic(const char *text, size_t len, char **value)
{
	size_t size;
	FILE *out = open_memstream(value, &size);

	if (!out)
		return fail(-ENOMEM, "--basic-file");
	fputs("Basic ", out);
	base64_put(out, text, len);
	return fclose(out) ? fail(-ENOMEM, "--basic-file") : 0;
}

int push_secret_basic(struct push_headers *h, const char *path)
{
	char *text, *value = NULL;
	int err = read_one_line(path, &text);
	size_t len = text ? strlen(text) : 0;

	if (!err && !strchr(text, ':'))
		err = fail_why(-EINVAL, "%s: one line of USER:PASSWORD is wanted", path);
	if (!err)
		err = put_basic(text, len, &value);
	if (!err)
		err = push_headers_add(h, path, "Authorization", 13, value, strlen(value));
	secret_text_free(text);
	secret_text_free(value);
	return err;
}

int push_secret_headers(struct push_headers *h, const char *path)
{
	char *text;
	int err = read_secret(path, &text);

	if (!err)
		err = push_headers_of_lines(h, path, text);
	secret_text_free(text);
	return err;
}
