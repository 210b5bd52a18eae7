/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limit of open files (RLIMIT_NOFILE). A recording needs more where there are more CPUs. */
#pragma once

#include <stdbool.h>

/* What to raise the limit to where it was reached: more than now, and enough for a recording. */
unsigned long file_limit_advice(void);

/*
 * Raises the soft limit to the hard one, because files stay open until their names are read from
 * them; and both, if that is allowed. 0; -EMFILE, explained: not even needed files may be open.
 */
int file_limit_raise(unsigned long needed);

/*
 * For what the program can do without: fd; or -1, and fd is closed, because the few numbers that
 * are left are for what must be opened later (helpers that are started again, CPUs that come back).
 */
int file_limit_keep(int fd);

/* How many files may be open now. */
unsigned long file_limit_now(void);

/* More than half of the files that may be open are: what is not needed should be closed. */
bool file_limit_is_near(void);
