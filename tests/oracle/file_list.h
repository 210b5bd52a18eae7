/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files below some directories, each inode once, largest first so that processes which share them end together. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct file_entry {
	char *path;
	dev_t dev;
	ino_t ino;
	off_t size;
};

struct file_list {
	struct file_entry *v;
	size_t nr, cap;
};

/*
 * roots: files or directories, NULL behind the last. Symbolic links are not followed. 0 or -errno. With
 * FILE_SHARE=N in the environment one file in N, others each day.
 */
int file_list_find(struct file_list *list, char **roots);
void file_list_release(struct file_list *list);
