/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/cgroup_container.h"

#include <stdbool.h>
#include <string.h>

#define ID_DIGITS 64

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

const char *cgroup_container(const char *path, size_t len, size_t *id_len)
{
	const char *id = NULL;

	for (size_t i = 0, end; i < len; i = end) {
		for (end = i; end < len && is_digit(path[end]); end++)
			;
		if (end - i == ID_DIGITS)
			id = path + i;
		if (end == i)
			end++;
	}
	*id_len = id ? ID_DIGITS : 0;
	return id;
}

static bool is_unit(const char *part, size_t len)
{
	static const char *const kinds[] = { ".service", ".scope", ".slice", ".mount", ".socket",
					     ".swap" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i]);

		if (len > n && !memcmp(part + len - n, kinds[i], n))
			return true;
	}
	return false;
}

const char *cgroup_unit(const char *path, size_t len, size_t *unit_len)
{
	for (size_t end = len; end;) {
		const char *slash = memrchr(path, '/', end);
		size_t begin = slash ? (size_t)(slash - path) + 1 : 0;

		*unit_len = end - begin;
		if (is_unit(path + begin, *unit_len))
			return path + begin;
		end = slash ? (size_t)(slash - path) : 0;
	}
	return NULL;
}
