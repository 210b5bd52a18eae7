/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/kernel_regions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/bytes.h"
#include "src/base/io.h"

#define MAX_MODULES_BYTES (4 << 20)
#define MAX_NOTES_BYTES (64 << 10)
#define NOTE_GNU_BUILD_ID 3

int kernel_regions_add(struct kernel_regions *r, const char *name, uint64_t start, uint64_t end)
{
	char *copy = strdup(name);
	struct kernel_region *new = copy ? array_push(&r->v, &r->nr, &r->cap) : NULL;

	if (!new) {
		free(copy);
		return -ENOMEM;
	}
	new->name = copy;
	new->start = start;
	new->end = end > start ? end : start;
	return 0;
}

/* Parses "ext4 978944 1 mbcache,jbd2, Live 0xffffffffc0a5e000 (E)". */
static int add_module_line(struct kernel_regions *r, const char *line)
{
	uint64_t size, addr;
	char name[65];

	if (sscanf(line, "%64s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &addr) != 3)
		return 0;
	if (!addr || !size || size > UINT64_MAX - addr)
		return 0;
	return kernel_regions_add(r, name, addr, addr + size);
}

int kernel_regions_add_modules(struct kernel_regions *r, int fd)
{
	char *text, *line, *next;
	int err = 0;

	if (fd < 0 || io_read_all(fd, &text, MAX_MODULES_BYTES) < 0)
		return 0;	/* a kernel without modules */
	for (line = text; *line && !err; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		err = add_module_line(r, line);
	}
	free(text);
	return err;
}

static void read_build_id(struct kernel_region *r, struct byte_reader *notes)
{
	while (br_left(notes) >= 12 && !notes->bad) {
		uint32_t name_len = br_u32(notes), desc_len = br_u32(notes), type = br_u32(notes);
		const uint8_t *name = br_bytes(notes, (name_len + 3ull) & ~3ull);
		const uint8_t *desc = br_bytes(notes, (desc_len + 3ull) & ~3ull);

		if (!desc || type != NOTE_GNU_BUILD_ID || name_len != 4 || memcmp(name, "GNU", 4))
			continue;
		if (desc_len && desc_len <= sizeof(r->build_id)) {
			memcpy(r->build_id, desc, desc_len);
			r->build_id_len = (uint8_t)desc_len;
			return;
		}
	}
}

static void load_build_id(struct kernel_region *r, const char *sysfs)
{
	struct byte_reader notes;
	char path[512], *data;
	ssize_t len;

	if (strchr(r->name, '/'))
		return;
	if (!strcmp(r->name, "vmlinux"))
		snprintf(path, sizeof(path), "%s/kernel/notes", sysfs);
	else
		snprintf(path, sizeof(path), "%s/module/%s/notes/.note.gnu.build-id", sysfs,
			 r->name);
	len = io_read_file(path, &data, MAX_NOTES_BYTES);
	if (len < 0)
		return;		/* only root may read it, and it is not essential */
	notes = br_make(data, (size_t)len);
	read_build_id(r, &notes);
	free(data);
}

static int by_start(const void *a, const void *b)
{
	const struct kernel_region *x = a, *y = b;

	return COMPARE(x->start, y->start);
}

/*
 * Sorts the regions and cuts each where the next one begins: since Linux 6.4 the size of a module
 * includes parts that lie elsewhere.
 */
void kernel_regions_finish(struct kernel_regions *r, const char *sysfs)
{
	size_t kept = 0;

	if (r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), by_start);
	for (size_t i = 0; i < r->nr; i++) {
		if (i + 1 < r->nr && r->v[i].end > r->v[i + 1].start)
			r->v[i].end = r->v[i + 1].start;
		if (r->v[i].end == r->v[i].start) {
			free((char *)r->v[i].name);
			continue;
		}
		r->v[kept] = r->v[i];
		load_build_id(&r->v[kept++], sysfs);
	}
	r->nr = kept;
}

void kernel_regions_release(struct kernel_regions *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free((char *)r->v[i].name);
	free(r->v);
	memset(r, 0, sizeof(*r));
}

const struct kernel_region *kernel_regions_find(const struct kernel_regions *r, uint64_t addr)
{
	size_t after = bisect(r->nr, i, r->v[i].start <= addr);

	return after && addr < r->v[after - 1].end ? &r->v[after - 1] : NULL;
}
