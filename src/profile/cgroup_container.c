/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/cgroup_container.h"

#include <stdbool.h>

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
