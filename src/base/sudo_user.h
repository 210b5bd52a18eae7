/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user who has made himself root by sudo(8). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* From SUDO_UID and SUDO_GID; false: this process is not root, or there is no such user. */
bool sudo_user(uid_t *uid, gid_t *gid);
