/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of this process that is behind an error (getrlimit(2), ulimit, a control group's pids).
 *
 * The kernel says "Cannot allocate memory" or "Resource temporarily unavailable", and not which
 * limit it was. A limit is named here only where it is reached, or nearly, at this moment.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct limit_cause {
	char why[192];			/* "5 files may be open at a time; ..." */
	char hint[64];			/* "ulimit -v unlimited" */
};

/* err: -ENOMEM, -EAGAIN of a process or thread, -EMFILE, -EFBIG. false: no limit is behind it. */
bool process_limits_explain(int err, struct limit_cause *out);

/*
 * How many descriptors a recording needs at least. On each CPU two for each event source (the event
 * and its link) and one for what processes do; the others are for BPF maps, programs, helpers, and
 * the files of the processes.
 */
unsigned long process_limits_files(unsigned cpus, unsigned events);
