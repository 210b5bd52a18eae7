/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the container of this id (len hexadecimal digits) has this name, by the state files of
 * docker, containerd, CRI-O and podman, where they can be read. Names may be globs.
 */
bool container_has_name(const char *id, size_t len, const char *pattern);

/*
 * Whether a state file says so: the JSON member key has a text that fits pattern; a "/" before the
 * name does not count. For docker, "Name".
 */
bool container_file_names(const char *json, size_t len, const char *key, const char *pattern);
