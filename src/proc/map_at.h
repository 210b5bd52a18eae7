/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mapping of a process that holds an address, without reading all of its mappings: a process
 * may have 65,530. Linux 6.11 and later answer this question (PROCMAP_QUERY, an ioctl of
 * /proc/PID/maps); before, the whole file is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A path for map_at_read(); of at most MAP_AT_PATH bytes. */
#define MAP_AT_PATH 64
void map_at_path(char path[MAP_AT_PATH], pid_t tid, uint64_t addr);

/*
 * Reads the line of /proc/PID/maps that the path asks for: "" if no executable mapping holds the
 * address. The length of *text, which the caller frees; or -errno. May block as long as the memory
 * map of the process is locked. max: of the whole file, where that must be read.
 */
ssize_t map_at_read(const char *path, char **text, size_t max);
bool map_at_is_path(const char *path);
