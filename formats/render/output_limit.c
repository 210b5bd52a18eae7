/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/output_limit.h"

#include <errno.h>
#include <sys/types.h>

#define BUFFER_BYTES (64 << 10)

/* Writes nothing more once it has failed, so that a renderer that goes on costs little. */
static ssize_t pass_on(void *limit, const char *bytes, size_t len)
{
	struct output_limit *l = limit;

	errno = 0;
	if (!l->err && len > l->left)
		l->err = -EMSGSIZE;
	else if (!l->err && fwrite(bytes, 1, len, l->out) != len)
		l->err = errno ? -errno : -EIO;
	l->left -= l->err ? 0 : len;
	errno = -l->err;
	return l->err ? -1 : (ssize_t)len;
}

int output_limit_open(struct output_limit *l, FILE *out, uint64_t left)
{
	const cookie_io_functions_t io = { .write = pass_on };

	*l = (struct output_limit){ .stream = out, .out = out, .left = left };
	if (!left)
		return 0;
	l->stream = fopencookie(l, "w", io);
	if (!l->stream)
		return -ENOMEM;
	setvbuf(l->stream, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

int output_limit_close(struct output_limit *l)
{
	if (l->stream && l->stream != l->out)
		fclose(l->stream);
	l->stream = NULL;
	return l->err;
}
