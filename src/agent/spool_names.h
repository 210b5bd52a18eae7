/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a spool (spool.h): their names, and what a killed agent leaves of an open one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/agent/spool.h"

#define SPOOL_STATE_NAME "spool.state"
#define SPOOL_STATUS_NAME "status"	/* of the agent, for people */

enum spool_name_kind { SPOOL_NAME_OTHER, SPOOL_NAME_OPEN, SPOOL_NAME_WHOLE };

/* real_ns: CLOCK_REALTIME of the window's beginning. */
void spool_name(char name[SPOOL_NAME_MAX], uint64_t seq, uint64_t real_ns, bool is_whole);
enum spool_name_kind spool_name_parse(const char *name, uint64_t *seq);
/* x.open becomes x.pbz. */
void spool_name_complete(const char *open, char whole[SPOOL_NAME_MAX]);

/*
 * Cuts an open window to its whole chunks, on the disk. The bytes that are left; 0: no chunk is
 * whole; -errno, silent.
 */
int64_t spool_cut_to_whole(int fd);
