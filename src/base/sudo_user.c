/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/sudo_user.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* A number from a variable that sudo sets; false if there is none. */
static bool env_id(const char *name, unsigned *id)
{
	const char *text = getenv(name);
	unsigned long v;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v >= UINT32_MAX)
		return false;
	*id = (unsigned)v;
	return true;
}

bool sudo_user(uid_t *uid, gid_t *gid)
{
	unsigned u, g;

	if (geteuid() || !env_id("SUDO_UID", &u) || !env_id("SUDO_GID", &g))
		return false;
	*uid = u;
	*gid = g;
	return true;
}
