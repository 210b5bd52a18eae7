/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that remembers how far one trace is sent (push_progress), so that a sender that was killed
 * at any moment goes on behind the last body that it had written down.
 *
 *	push_progress_file_open(path, &f)	before rights are given up
 *	push_progress_file_use(&f, &progress)	fills in what is there, and .keep
 *	push_trace(t, fd, name, &progress, ...)
 *	push_progress_file_close(&f)
 *
 * The file is one line of a fixed length, which is written over as a whole and synced:
 *
 *	probee-push 1 SETTLED MARK REBASED_TO_NS
 */
#pragma once

#include <stdbool.h>

#include "src/push/push.h"

struct push_progress_file {
	int fd;				/* -1: not open */
	const char *path;		/* borrowed */
	bool (*stop)(void *ctx);	/* of the caller; NULL: never */
	void *stop_ctx;
	struct push_progress kept;	/* what is in the file */
};

/* 0 or -errno, explained: it is another file, or cannot be written. A new one has mode 0600. */
int push_progress_file_open(const char *path, struct push_progress_file *f);
void push_progress_file_use(struct push_progress_file *f, struct push_progress *p);
void push_progress_file_close(struct push_progress_file *f);
