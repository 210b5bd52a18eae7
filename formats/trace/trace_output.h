/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file or pipe that a trace is written to. A regular file never keeps half a frame: when a
 * write fails, the file is cut back to its last whole frame.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_output {
	int fd;
	bool is_file;			/* a regular file, which can be cut back */
	bool is_borrowed;		/* standard output, which is not closed here */
	uint64_t base;			/* offset of the trace's first octet in the file */
	uint64_t written;		/* octets in whole frames */
};

/*
 * Opens path; "-" is standard output. Any other file is created with mode 0600 or replaced; if root
 * runs under sudo, it is given to the user who called sudo. Symbolic links of other users are not
 * followed. Prints why it fails.
 */
int trace_output_open(const char *path, struct trace_output *o);

/*
 * True while a recorder, in any process, has the file behind fd open for its trace. For that it
 * holds a lock of its open file description, which the kernel releases when the recorder is killed.
 * A trace that goes to standard output has none. fd must be open for reading.
 */
bool trace_output_is_open(int fd);

/* Writes all of the frame, or (to a regular file) nothing. Silent. */
int trace_output_write(struct trace_output *o, const void *frame, size_t len);
int trace_output_sync(struct trace_output *o);
int trace_output_close(struct trace_output *o);		/* silent */
