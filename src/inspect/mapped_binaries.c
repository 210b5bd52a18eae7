/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/inspect/mapped_binaries.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/foreign/foreign_file.h"
#include "src/proc/procfs.h"

#define PAGE_MASK 0xfffull

struct reading {
	struct mapped_binaries *m;
	pid_t pid;
};

static bool is_same(const struct mapped_binary *b, const struct proc_map *map)
{
	return map->ino && b->ino == map->ino && b->dev == map->dev && !strcmp(b->path, map->path);
}

static int find_vdso(void *ctx, const struct proc_map *map)
{
	uint64_t *bytes = ctx;

	if (!strcmp(map->path, "[vdso]"))
		*bytes = map->end - map->start;
	return 0;
}

/*
 * Opens the vdso of this process, because the kernel maps the same one into every 64-bit process.
 */
static int open_vdso(struct mapped_binary *b)
{
	const void *data = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t bytes = 0;
	int err = procfs_maps(getpid(), find_vdso, &bytes);

	if (err || !data || !bytes)
		return err ? err : -ENOENT;
	return unwind_facts_open_memory(data, bytes, &b->facts);
}

static int open_file(struct mapped_binary *b, const struct proc_map *map, pid_t pid)
{
	struct stat st;
	int fd = foreign_open_mapped(pid, map, &st), err;

	if (fd < 0)
		return fd;
	err = unwind_facts_refusal_of(fd, &b->refusal);
	if (err || b->refusal) {
		close(fd);
		return err ? err : -ENOTSUP;
	}
	return unwind_facts_open(fd, &b->facts);
}

static int add_binary(struct reading *r, const struct proc_map *map)
{
	struct mapped_binary *b = array_push(&r->m->v, &r->m->nr, &r->m->cap);

	if (!b)
		return -ENOMEM;
	b->path = strdup(*map->path ? map->path : "[anonymous]");
	b->dev = map->dev;
	b->ino = map->ino;
	b->start = map->start;
	if (!b->path)
		return -ENOMEM;
	if (!strcmp(map->path, "[vdso]"))
		b->err = open_vdso(b);
	else if (map->ino)
		b->err = open_file(b, map, r->pid);
	return b->err == -ENOMEM ? b->err : 0;
}

static int add_range(void *ctx, const struct proc_map *map)
{
	struct reading *r = ctx;
	struct mapped_range *range;
	size_t i = 0;
	int err = 0;

	if (!strcmp(map->path, "[vsyscall]"))
		return 0;		/* not user memory, and its code is a trap */
	while (i < r->m->nr && !is_same(&r->m->v[i], map))
		i++;
	if (i == r->m->nr)
		err = add_binary(r, map);
	if (err)
		return err;
	r->m->v[i].bytes += map->end - map->start;
	range = array_push(&r->m->ranges, &r->m->nr_ranges, &r->m->cap_ranges);
	if (!range)
		return -ENOMEM;
	*range = (struct mapped_range){ map->start, map->end, map->pgoff_bytes, i };
	return 0;
}

int mapped_binaries_read(pid_t pid, struct mapped_binaries *m)
{
	struct reading r = { m, pid };
	int err;

	memset(m, 0, sizeof(*m));
	if (!procfs_exists(pid))
		return -ESRCH;
	err = procfs_maps(pid, add_range, &r);
	if (err)
		mapped_binaries_release(m);
	return err == -ENOENT ? -ESRCH : err;
}

void mapped_binaries_release(struct mapped_binaries *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		unwind_facts_close(m->v[i].facts);
		free(m->v[i].path);
	}
	free(m->v);
	free(m->ranges);
	memset(m, 0, sizeof(*m));
}

/*
 * A linker may put a read-only and an executable segment into the same page of the file; the
 * executable one counts.
 */
static uint64_t vaddr_of(const struct elf_image *img, const struct mapped_range *range,
			 uint64_t addr)
{
	uint64_t offset = addr - range->start + range->pgoff_bytes;

	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];
		uint64_t begin = s->offset & ~PAGE_MASK;

		if (s->exec && offset >= begin && offset - begin < s->filesz + (s->offset - begin))
			return offset - s->offset + s->vaddr;
	}
	return offset;
}

const struct mapped_binary *mapped_binaries_find(const struct mapped_binaries *m, uint64_t addr,
						 uint64_t *vaddr)
{
	for (size_t i = 0; i < m->nr_ranges; i++) {
		const struct mapped_range *r = &m->ranges[i];
		const struct mapped_binary *b = &m->v[r->binary];

		if (addr < r->start || addr >= r->end)
			continue;
		*vaddr = b->facts ? vaddr_of(b->facts->img, r, addr) : addr;
		return b;
	}
	return NULL;
}

uint64_t mapped_binaries_addr(const struct mapped_binaries *m, const struct mapped_binary *b,
			      uint64_t vaddr)
{
	for (size_t i = 0; i < m->nr_ranges; i++) {
		const struct mapped_range *r = &m->ranges[i];
		uint64_t first;

		if (&m->v[r->binary] != b)
			continue;
		first = vaddr_of(b->facts->img, r, r->start);
		if (vaddr >= first && vaddr - first < r->end - r->start)
			return r->start + (vaddr - first);
	}
	return 0;
}
