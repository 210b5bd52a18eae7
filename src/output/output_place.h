/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an output is to stand: an open directory, and a name in it.
 *
 * The problem. probee often runs as root in directories that others can write to (/tmp, a project
 * of several people). A symbolic link that another user has put into the way of a path leads the
 * file to a place that this user chose, and with the rights of root.
 *
 * The idea. The directories of the path are opened one after the other, none of them through the
 * kernel's own following of links. A link is read and followed by hand, and only if its owner could
 * have written the file himself, or is trusted:
 *
 *	root and the user behind sudo		trusted by root
 *	root and the user himself		trusted by any other user, and also the owners of
 *						links in directories that not everybody can write to
 *
 * Example: `sudo probee sample -o /tmp/work/x.pbz`, where /tmp/work is a link of another user to
 * /etc. The link is not followed: -ELOOP, and why->why is OUTPUT_LINK_ABOVE.
 *
 * Limits. What stands under the name is not looked at (output_file.h does that). The setting
 * fs.protected_symlinks makes no difference.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* The user that files are made for. */
struct output_user {
	uid_t euid;
	bool has_sudo;			/* root runs this program for another user, by sudo */
	uid_t uid;			/* that user; otherwise euid */
	gid_t gid;
};

void output_user_now(struct output_user *u);		/* from SUDO_UID and SUDO_GID, if root */
/* Whether a file of owner is one's own: of this user, or of the user behind sudo. */
bool output_user_owns(const struct output_user *u, uid_t owner);

enum output_why {
	OUTPUT_FAILED,			/* a system call; its errno says why */
	OUTPUT_LINK_ABOVE,		/* a directory of the path is a link of another user */
	OUTPUT_IS_LINK,
	OUTPUT_IS_DIR,
	OUTPUT_IS_SOCKET,
	OUTPUT_IS_DEVICE,
	OUTPUT_IS_TERMINAL,
	OUTPUT_FIFO_UNREAD,
	OUTPUT_OWNER,			/* a file of another user */
	OUTPUT_HARD_LINKS,		/* it has other names, too */
	OUTPUT_FIXED,			/* chattr(1) keeps it from being replaced */
	OUTPUT_FIXED_DIR,		/* chattr(1) keeps its directory from renames */
	OUTPUT_OTHER,			/* contents that are not to be replaced */
	OUTPUT_OLD_OTHER,		/* likewise, of the file NAME.old */
	OUTPUT_BUSY,			/* another recording writes to it */
	OUTPUT_ITSELF,			/* what the output is made from */
	OUTPUT_TWICE,			/* two outputs have this name */
	OUTPUT_MOVED,			/* somebody replaced the temporary file */
	OUTPUT_WHY_NR
};

/* Why an output is refused. */
struct output_refusal {
	enum output_why why;
	uid_t uid;			/* the owner of what stands in the way */
};

struct output_place {
	int dir;			/* O_PATH; -1: none */
	char name[NAME_MAX + 1];
};

/* 0 or -errno, with *no filled in; p->dir is -1 then. Silent. */
int output_place_open(const char *path, const struct output_user *user, struct output_place *p,
		      struct output_refusal *no);
void output_place_close(struct output_place *p);

/*
 * The number in /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N; -1: path is none of these.
 * They mean a descriptor that is open already, which nobody could have put there.
 */
int output_descriptor(const char *path);
