/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a trace, readable at any offset: from a regular file, from memory, or from a pipe
 * that was copied into an unlinked temporary file. Bytes are read, not mapped, so that a file that
 * shrinks is a short read and not a SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_source {
	const char *name;		/* for messages; owned by the caller */
	int fd;				/* -1: memory */
	const uint8_t *memory;
	uint64_t base;			/* offset of the first byte in fd */
	uint64_t size;			/* when it was opened, or looked at again */
};

/*
 * "-" is standard input. A FIFO without a writer is given up after some seconds. Prints why it
 * fails.
 */
int trace_source_open(const char *path, struct trace_source *s);
/* A regular file that is open already. The descriptor is closed with the source. */
void trace_source_open_fd(int fd, const char *name, struct trace_source *s);
void trace_source_open_memory(const void *data, size_t len, struct trace_source *s);
void trace_source_close(struct trace_source *s);
/* Looks how large a regular file has become. Whether it has grown. */
bool trace_source_look(struct trace_source *s);

/* Reads less than len bytes only at the end. -errno, silent. */
ssize_t trace_source_read(const struct trace_source *s, void *buf, size_t len, uint64_t offset);

/*
 * A file without a name in a directory for temporary files, or in memory if none takes one. The
 * descriptor, or -errno; silent.
 */
int trace_source_spool(void);

/* The kind of file that begins like this: "a perf.data file"; NULL: unknown. */
const char *trace_source_guess(const void *head, size_t len);
