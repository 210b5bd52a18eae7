/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/line_text.h"

#include <stdarg.h>
#include <stdio.h>

void line_put(struct line_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < t->size - t->len ? (size_t)n : t->size - t->len - 1;
}
