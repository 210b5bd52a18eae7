/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The octets of a trace, readable at any offset: a regular file, memory, or a pipe that was copied
 * into an unlinked temporary file. Plain reads only: a file that shrinks under us is a short read,
 * not a SIGBUS.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_source {
	const char *name;		/* for messages; the caller's */
	int fd;				/* -1: memory */
	const uint8_t *memory;
	uint64_t base;			/* offset of the first octet in fd */
	uint64_t size;			/* at the time of opening */
};

/* "-" is standard input. A FIFO without a writer is given up after some seconds. Prints why. */
int trace_source_open(const char *path, struct trace_source *s);
void trace_source_open_memory(const void *data, size_t len, struct trace_source *s);
void trace_source_close(struct trace_source *s);

/* Short only at the end. -errno, silent. */
ssize_t trace_source_read(const struct trace_source *s, void *buf, size_t len, uint64_t offset);

/* What a file is that starts like this: "a perf.data file"; NULL when that is not known. */
const char *trace_source_guess(const void *head, size_t len);
