/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t io_pread(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t n = 0;

	while (n < len) {
		ssize_t k = pread(fd, (char *)buf + n, len - n, (off_t)(offset + n));

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (!k)
			break;
		n += (size_t)k;
	}
	return (ssize_t)n;
}

int io_write(int fd, const void *buf, size_t len, size_t *done)
{
	size_t n = 0;
	int err = 0;

	while (n < len && !err) {
		ssize_t k = write(fd, (const char *)buf + n, len - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			err = -errno;
		else
			n += (size_t)k;
	}
	if (done)
		*done = n;
	return err;
}

ssize_t io_read_all(int fd, char **out, size_t max)
{
	size_t cap = 4096, n = 0;
	char *buf = NULL, *grown;
	ssize_t k = 0;

	do {
		if (!buf || n + 1 >= cap) {
			cap *= buf ? 2 : 1;
			grown = realloc(buf, cap);
			if (!grown) {
				k = -ENOMEM;
				break;
			}
			buf = grown;
		}
		k = read(fd, buf + n, cap - n - 1);
		if (k < 0)
			k = errno == EINTR ? 1 : -errno;
		else
			n += (size_t)k;
		if (n > max)
			k = -EFBIG;
	} while (k > 0);
	if (k < 0) {
		free(buf);
		return k;
	}
	buf[n] = 0;
	*out = buf;
	return (ssize_t)n;
}

ssize_t io_read_file(const char *path, char **out, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -errno : io_read_all(fd, out, max);

	if (fd >= 0)
		close(fd);
	return n;
}
