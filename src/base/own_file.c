/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/own_file.h"

#include <errno.h>
#include <unistd.h>

#include "src/base/sudo_user.h"

bool own_file_is_ours(const struct stat *st)
{
	uid_t uid;
	gid_t gid;

	return st->st_uid == geteuid() || (sudo_user(&uid, &gid) && st->st_uid == uid);
}

static bool is_shared(const struct stat *st)
{
	return st->st_mode & (S_IWGRP | S_IWOTH);
}

enum own_verdict own_file_verdict(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return OWN_OTHER_KIND;
	if (!own_file_is_ours(st))
		return OWN_OTHER_USER;
	if (is_shared(st))
		return OWN_SHARED;
	return st->st_nlink > 1 ? OWN_LINKED : OWN_ALONE;
}

enum own_verdict own_folder_verdict(const struct stat *st)
{
	if (!S_ISDIR(st->st_mode))
		return OWN_OTHER_KIND;
	if (st->st_uid != geteuid())
		return OWN_OTHER_USER;
	return is_shared(st) ? OWN_SHARED : OWN_ALONE;
}

const char *own_verdict_text(enum own_verdict v)
{
	static const char *const texts[] = {
		[OWN_ALONE] = "",
		[OWN_OTHER_KIND] = "is something else",
		[OWN_OTHER_USER] = "belongs to another user",
		[OWN_SHARED] = "can be changed by others",
		[OWN_LINKED] = "has other names, too (hard links)",
	};

	return texts[v];
}

int own_file_check(int fd, enum own_verdict *v)
{
	struct stat st;

	*v = OWN_ALONE;
	if (fstat(fd, &st))
		return -errno;
	*v = own_file_verdict(&st);
	return *v == OWN_ALONE ? 0 : -EACCES;
}
