/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/event_name.h"

#include <stdio.h>
#include <string.h>

const char *event_name_cut(const char *name, size_t len, size_t max, char *buf)
{
	static const char dots[] = "...";
	const char *colon = memchr(name, ':', len), *slash = memrchr(name, '/', len);
	size_t kind = colon ? (size_t)(colon - name) + 1 : 0;
	size_t tail = slash ? len - (size_t)(slash - name) : len;

	if (len <= max || !slash || slash < name + kind || kind + strlen(dots) + tail > max) {
		size_t kept = strnlen(name, len < max ? len : max);

		memcpy(buf, name, kept);
		buf[kept] = 0;
	} else {
		snprintf(buf, max + 1, "%.*s%s%.*s", (int)kind, name, dots, (int)tail, slash);
	}
	return buf;
}
