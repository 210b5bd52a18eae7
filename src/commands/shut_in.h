/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a command that reads a foreign file gives up its rights.
 *
 * Whoever but root starts it has given up all capabilities before the command begins (main.c):
 * those of the program's file are lent for recording. Root may name files that only a capability
 * opens, such as the trace of the user behind sudo. So the file is opened first, then comes
 * shut_in(), and only then the first byte of the file is looked at:
 *
 *	fd = shut_in_open(path)		-1: it must be opened later, and says then what is wrong
 *	shut_in(fd >= 0)
 *	report_open_fd(fd, ...) or report_open(path, ...)
 *
 * What else is needed from outside must be there before: files to write (output_files_guard()), a
 * pager (pager_begin()), the time zone (shut_in() sees to that).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A descriptor if path is a regular file that can be opened, else -1 ("-", too). Silent. */
int shut_in_open(const char *path);

/*
 * Enters the sandbox of src/rights/sandbox.h. opens_nothing: no file is opened any more. 0 or
 * -errno, explained: the file must not be read.
 */
int shut_in(bool opens_nothing);

/* For a command that asks helper processes, which were started before (src/helpers/helper.h). */
int shut_in_asking(void);

/* For a server: it answers connections to a socket that listens already, and starts children. */
int shut_in_serving(void);

/*
 * For commands that go on opening files: these capabilities (CAP_BIT()s) are kept of those held.
 * sees_processes: what it opens is under /proc/PID.
 */
int shut_in_with(uint64_t kept, bool sees_processes);
