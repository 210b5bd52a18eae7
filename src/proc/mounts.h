/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File systems, from /proc/PID/mountinfo: what is mounted in the mount namespace of a process. A
 * user may mount 100,000 of them, and reading so long a list takes 0.2 s. No file system is asked,
 * so none that hangs can delay this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MOUNT_TYPE_MAX 64
#define MOUNT_TEXT_MAX 512

/*
 * The type of the file system with that device (in the form of struct proc_map): "ext4"; "": the
 * list does not say. false: it is not mounted there, or the list cannot be read.
 */
bool mounts_find_type(pid_t pid, uint64_t dev, char type[MOUNT_TYPE_MAX]);

/*
 * The mount with this number, or the one that an absolute path lies in, which has no symbolic link:
 * type, source and place, as in "ext4 /dev/vdb /mnt/data". Bytes of a place that are no printable
 * characters stand as the kernel writes them ("\040"). false: as above, or the text is too long.
 */
bool mounts_text_of_id(pid_t pid, uint32_t id, char text[MOUNT_TEXT_MAX]);
bool mounts_text_of_path(pid_t pid, const char *path, char text[MOUNT_TEXT_MAX]);
