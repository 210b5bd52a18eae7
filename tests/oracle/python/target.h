/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running Python for tests of src/runtimes: its runtime by its mapped files, its memory by the system call. */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/elf/elf_image.h"
#include "src/runtimes/runtime.h"

struct target {
	pid_t pid;
	struct runtime_image image;
	uint64_t bias;
	struct target_memory memory;
	unsigned long reads;
};

static inline int target_memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct target *t = ctx;
	struct iovec to = { buf, len }, from = { (void *)addr, len };

	t->reads++;
	return process_vm_readv(t->pid, &to, 1, &from, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

/* Whether the file mapped there is a runtime. */
static inline int target_look(struct target *t, const char *path, uint64_t start, uint64_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct elf_image *img = NULL;

	if (!err)
		err = elf_image_open(fd, &img);
	if (!err)
		err = runtime_find(img, fd, NULL, &t->image);
	for (size_t i = 0; !err && i < img->nr_segments; i++)
		if (img->segments[i].exec && (img->segments[i].offset & ~4095ull) == offset)
			t->bias = start - (img->segments[i].vaddr & ~4095ull);
	elf_image_close(img);
	close(fd);
	return err;
}

static inline int target_open(struct target *t, pid_t pid)
{
	char name[64], line[1024], perms[8], path[512];
	unsigned long start, offset;
	int err = -ENOENT;
	FILE *f;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->memory = (struct target_memory){ target_memory_read, t };
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "r");
	while (f && err && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%*x %7s %lx %*s %*s %511s", &start, perms, &offset, path) == 4 &&
		    perms[2] == 'x' && path[0] == '/')
			err = target_look(t, path, start, offset);
	}
	if (f)
		fclose(f);
	return err;
}
