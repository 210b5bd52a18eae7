/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file or pipe that a trace is written to. A regular file never keeps half a frame: when a
 * write fails, the file is cut back to its last whole frame.
 *
 *	trace_output_open(path, o)	or ..._open_in(files, i, o), ..._open_fd(fd, name, o), or
 *					..._spool(o)
 *	trace_output_write(o, frame, len) ...
 *	trace_output_publish(o)		once there is something worth keeping
 *	trace_output_close(o)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_files;

struct trace_output {
	int fd;
	bool is_file;			/* a regular file, which can be cut back */
	uint64_t base;			/* offset of the trace's first byte in the file */
	uint64_t written;		/* bytes in whole frames */
	struct output_files *files;	/* fd is that of a file in there; NULL: fd is just open */
	size_t place;			/* number of the file */
	bool owns_files, is_published;
};

/*
 * A trace replaces an earlier trace, which becomes NAME.old, and no other file. It does not replace
 * one that another recorder is writing. Only its owner may read it (mode 0600); the owner is the
 * user who called sudo, if one did.
 */
extern const struct output_kind trace_output_kind;

/* path may be "-", standard output. Prints why it fails. */
int trace_output_open(const char *path, struct trace_output *o);
/* The file of number i (trace_output_kind). files is borrowed. Prints why it fails. */
int trace_output_open_in(struct output_files *files, size_t i, struct trace_output *o);
/* A regular file that is open, for writing from its beginning on; fd is borrowed. Explained. */
int trace_output_open_fd(int fd, const char *name, struct trace_output *o);
/* A file without a name, which is gone once all its descriptors are closed. Explained. */
int trace_output_spool(struct trace_output *o);

/* A descriptor from which the trace can be read, also later; owned by the caller. Or -errno. */
int trace_output_reader(const struct trace_output *o);
/* Whether everything that is written vanishes: /dev/null. */
bool trace_output_keeps_nothing(const struct trace_output *o);

/*
 * True while a recorder, in any process, has the file behind fd open for its trace. For that it
 * holds a lock of its open file description, which the kernel releases when the recorder is killed.
 * A trace that goes to standard output has none. fd must be open for reading.
 */
bool trace_output_is_open(int fd);

/* Writes all of the frame, or (to a regular file) nothing. Silent. */
int trace_output_write(struct trace_output *o, const void *frame, size_t len);
int trace_output_sync(struct trace_output *o);
/* The trace takes its place; later calls do nothing. 0 or -errno, explained. */
int trace_output_publish(struct trace_output *o);
/* A file that was not published is removed. Silent. */
int trace_output_close(struct trace_output *o);
