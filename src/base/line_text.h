/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of text that is put together in a buffer of the caller. What has no room is left out, and
 * the text always ends with a NUL.
 *
 *	struct line_text t = { .s = out, .size = sizeof(out) };
 *
 *	out[0] = 0;
 *	line_put(&t, "%u samples", nr);
 */
#pragma once

#include <stddef.h>

struct line_text {
	char *s;
	size_t size, len;		/* size: of s, at least 1 */
};

__attribute__((format(printf, 2, 3))) void line_put(struct line_text *t, const char *fmt, ...);
