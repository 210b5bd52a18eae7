/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of windows, traces of some seconds each, that wait to be sent.
 *
 * The problem. What was recorded must survive receivers that are down, a kill at any instant, a
 * crash of the machine and a full disk; it must not fill the disk; and afterwards it must be
 * possible to say what became of each window.
 *
 * The idea. Windows have numbers that count on for ever, and each is a file with one name until it
 * is complete and another one from then on:
 *
 *	000000000042.20261125T191500Z.open	is being written: whole chunks are appended
 *	000000000042.20261125T191500Z.pbz	complete, and on the disk: fsync, rename, fsync
 *						of the folder
 *	spool.state				counts, and the next number (ring_journal.h)
 *	target-NAME.state			how far a target has got (window_sender.h)
 *
 * So names sort by time. A window that was open when the agent was killed is found by its name, cut
 * to its whole chunks, and becomes a window like the others. The counts are written after a window
 * has its name, and before one is removed; where a kill comes between, the next start finds out by
 * the numbers.
 *
 *	spool_open(&options, &s)	makes the folder, takes up what an earlier agent has left
 *	spool_begin(s, real_ns)		a window
 *	spool_append(s, bytes, len, has_samples) ...
 *	spool_finish(s)			it can be sent now
 *	spool_trim(s, &use)		removes what is too old or too much
 *	spool_close(s)			the open window stays, as after a kill
 *
 * When the disk is full the oldest windows go; if that does not help, the window that is being
 * written is counted as lost, and the next one is tried.
 *
 * Limits. One agent at a time: the folder is locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_NAME_MAX 64

struct spool;

struct spool_options {
	const char *folder;
	uint64_t limit_bytes;
	uint64_t keep_ns;
};

/* All that was ever counted in this folder. Each number that was given is in the first three. */
struct spool_counts {
	uint64_t recorded;		/* windows that became complete */
	uint64_t empty;			/* nothing was in them */
	uint64_t lost;			/* they could not be written */
	uint64_t recovered;		/* of recorded: an earlier agent was killed over them */
	uint64_t dropped;		/* of recorded: removed before all targets had them */
	uint64_t deleted;		/* of recorded: removed after that */
	uint64_t bytes;			/* of recorded */
	uint64_t next_seq;		/* number of the next window; 1, 2, ... */
	uint64_t recorded_seq;		/* the highest one that is counted in recorded */
	uint64_t going_seq;		/* is being removed, and was counted */
};

struct spool_range {
	uint64_t first, last;		/* numbers of windows; first 0: none */
};

/* How far the targets have got. */
struct spool_use {
	uint64_t sent_below;		/* all have got what is below this number */
	const struct spool_range *busy;	/* windows that are being sent: they stay */
	size_t nr_busy;
};

/* 0 or -errno, explained. -EBUSY: another agent has the folder. */
int spool_open(const struct spool_options *options, struct spool **sp);
void spool_close(struct spool *s);		/* NULL is fine */
void spool_set_options(struct spool *s, const struct spool_options *options);

/*
 * These return 0 or -errno, silently: the window is lost then, and counted, and what is appended to
 * it is ignored.
 */
int spool_begin(struct spool *s, uint64_t real_ns);
int spool_append(struct spool *s, const void *bytes, size_t len, bool has_samples);
int spool_finish(struct spool *s);		/* no window is open: does nothing */
bool spool_is_open(const struct spool *s);

/* use is borrowed until the next call, and kept up to date: it is asked where the disk is full. */
void spool_trim(struct spool *s, const struct spool_use *use, uint64_t real_ns);

const struct spool_counts *spool_counts(const struct spool *s);
uint64_t spool_bytes(const struct spool *s);	/* of all windows, the open one too */
/* Complete windows from a number on; *oldest_ns: CLOCK_REALTIME of the first; 0: none. */
size_t spool_windows(const struct spool *s, uint64_t from_seq, uint64_t *oldest_ns);
int spool_dir(const struct spool *s);		/* descriptor of the folder */
/* The -errno of the last attempt to write the counts; 0: they are on the disk. */
int spool_error(const struct spool *s);

/* ---- for those who send, in another process ---- */

/* The complete window with the lowest number from seq on. 1; 0: there is none; -errno, silent. */
int spool_find(int dir, uint64_t from_seq, uint64_t *seq, char name[SPOOL_NAME_MAX]);
