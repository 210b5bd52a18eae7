/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc/self/maps says of a mapping of this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the mapping that begins at addr is of the file with these numbers; dev has the form of
 * struct proc_map. false as well if the list cannot be read.
 */
bool own_maps_has(const void *addr, uint64_t dev, uint64_t ino);
