/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File systems by their device, from /proc/PID/mountinfo: what is mounted in the mount namespace of
 * a process. A user may mount 100,000 of them, and reading so long a list takes 0.2 s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MOUNT_TYPE_MAX 64

/*
 * The type of the file system with that device (in the form of struct proc_map): "ext4"; "": the
 * list does not say. false: it is not mounted there, or the list cannot be read.
 */
bool mounts_find_type(pid_t pid, uint64_t dev, char type[MOUNT_TYPE_MAX]);
