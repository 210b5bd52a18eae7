/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a flight recorder: their names, and how they are written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * "x.pbz" becomes "x-20261125-194001.pbz", by the local time. time_s: since 1970. Cut if it does
 * not fit.
 */
void flight_file_name(const char *path, int64_t time_s, char *out, size_t size);

/* Whether a file of this name could be written now. Leaves nothing. 0 or -errno, explained. */
int flight_file_try(const char *path, bool force);
/*
 * Copies bytes from..to of a file in memory into a new trace, which takes its place when it is
 * whole. May take as long as the disk does. 0 or -errno, explained.
 */
int flight_file_write(const char *path, bool force, int fd, uint64_t from, uint64_t to);
