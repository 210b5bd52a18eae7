/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file or pipe a trace is written to. A regular file never keeps half a frame: when a write
 * fails it is cut back to what was there before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_output {
	int fd;
	bool is_file;			/* a regular one: it can be cut back */
	bool is_borrowed;		/* standard output: not ours to close */
	uint64_t base;			/* where our first octet is in the file */
	uint64_t written;		/* whole frames */
};

/*
 * "-" is standard output. Any other file is created with mode 0600 or replaced; as root under sudo
 * it is given to the user who called sudo. Symbolic links of other users are not followed. Prints
 * why.
 */
int trace_output_open(const char *path, struct trace_output *o);

/*
 * True while a recorder has the file behind fd open for its trace, in whatever process. It holds a
 * lock of its open file description for that, which the kernel takes back when the recorder is
 * killed. A trace that goes to standard output has none. fd must be open for reading.
 */
bool trace_output_is_open(int fd);

/* All of it or nothing (for a regular file). Silent. */
int trace_output_write(struct trace_output *o, const void *frame, size_t len);
int trace_output_sync(struct trace_output *o);
int trace_output_close(struct trace_output *o);		/* silent */
