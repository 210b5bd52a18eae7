/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landlock: a thread forbids itself files, network and signals, whatever its user may do.
 *
 *	landlock_enter(rules)	the LANDLOCK_... parts that are in force now; 0: none, because the
 *				kernel has no Landlock, or a filter forbids it
 *
 * The thread must have no_new_privs. The C library does not know these system calls, and the
 * kernel's header of an older distribution knows only a part of the rules; so they are here.
 *
 * Source: landlock(7), include/uapi/linux/landlock.h of Linux 6.12.
 */
#pragma once

enum landlock_part {
	LANDLOCK_FILES = 1,	/* opens no path, makes and removes nothing; ABI 1 */
	LANDLOCK_NETWORK = 2,	/* neither binds nor connects TCP; ABI 4 */
	LANDLOCK_SCOPE = 4,	/* no signal, no abstract socket to others; ABI 6 */
	LANDLOCK_WRITES = 8,	/* opens for reading only, makes and removes nothing; ABI 1 */
};

unsigned landlock_enter(unsigned wanted);
