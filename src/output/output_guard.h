/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that puts output files in their places: output_files.h has the story.
 *
 *	output_guard_start(&g, v, nr, user)	forks; v is what it knows of from then on
 *	output_guard_ask(&g, OUTPUT_OPEN, i, &reply)	one order
 *	output_guard_end(&g)			it removes what was not published
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/output/output_file.h"

enum output_order { OUTPUT_OPEN, OUTPUT_PUBLISH, OUTPUT_DROP };

struct output_reply {
	int err;
	struct output_refusal no;
	int fd;				/* of OUTPUT_OPEN, owned by the caller; -1: none */
};

struct output_guard {
	int socket;			/* -1: none, or it did not answer in time */
	pid_t pid;			/* 0: none */
	/* How long to wait for an answer, and for its end; set by output_guard_start(). */
	uint64_t answer_ns, end_ns;
	bool may_signal;		/* this process may send signals: no sandbox forbids it */
};

/* Carries out an order. Makes system calls only. */
void output_order(struct output_file *v, size_t nr, const struct output_user *user,
		  enum output_order order, size_t i, struct output_reply *reply);

/*
 * What a process that puts files in their places gives up. Only what changes files of other users
 * is kept, if the user has it. Rights of the file of this program (setcap) are lent for recording,
 * and not for writing where the user may not.
 */
void output_guard_shed_rights(void);

/* 0 or -errno, silent. */
int output_guard_start(struct output_guard *g, struct output_file *v, size_t nr,
		       const struct output_user *user);
/*
 * reply->err is -EPIPE if the guard has gone, and -ETIMEDOUT if it did not answer in time: then it
 * is asked nothing more.
 */
void output_guard_ask(struct output_guard *g, enum output_order order, size_t i,
		      struct output_reply *reply);
/*
 * -ETIMEDOUT: it does not end, because it was stopped or its file system does not answer. It is
 * left behind, and removes what was not published when it goes on.
 */
int output_guard_end(struct output_guard *g);
