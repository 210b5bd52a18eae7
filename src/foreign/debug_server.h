/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from servers (debuginfod(8)), for those who ask for it.
 *
 * A helper process asks libdebuginfod, which it loads when it starts; probee links nothing of it.
 * The process is forked before all threads, by a keeper of its own that is no root: it is the user
 * who called sudo, or nobody, or whoever started a program whose file has capabilities. It holds no
 * capabilities. What it gets from the network it gives on as a kept file (kept_file.h) without
 * looking into it; parsers compare the build-id.
 *
 * The user's cache is that of other tools ($DEBUGINFOD_CACHE_PATH, else $XDG_CACHE_HOME or ~/.cache
 * of the user behind sudo). Nobody has none: his files are removed as soon as they are open,
 * because other processes of nobody's could write to them.
 *
 * A file may take 10 s, and all files together a minute: then no more is asked for. Only build-ids
 * are sent. A server learns by them which programs run here.
 *
 *	debug_server_new(urls, &s)
 *	debug_server_find(s, ...)	from any thread; the questions wait for each other
 *	debug_server_free(s)
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/clock.h"

#define DEBUG_SERVER_NS (60 * NSEC_PER_SEC)	/* for all files */

struct debug_server;
struct helper_deaths;			/* helper_deaths.h; borrowed */

struct debug_server_stats {
	uint64_t asked, found;
	uint64_t late;			/* given up, or not asked for any more, because of time */
	uint64_t failed;		/* otherwise; not those that no server has */
	int error;			/* -errno of the last one that failed */
};

/* urls: with spaces between them. -ENOTSUP: there is no libdebuginfod. Says what went wrong. */
int debug_server_new(const char *urls, struct helper_deaths *deaths, struct debug_server **sp);
void debug_server_free(struct debug_server *s);		/* NULL is fine */

/*
 * The debug file with this build-id, sealed, which the caller closes; -ENOENT: no server has it;
 * -ETIMEDOUT; -ECANCELED: *unwanted became true; or another -errno.
 */
int debug_server_find(struct debug_server *s, const uint8_t *build_id, size_t len,
		      const atomic_bool *unwanted);
void debug_server_stats(struct debug_server *s, struct debug_server_stats *out);
