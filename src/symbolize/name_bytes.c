/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/name_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"
#include "src/elf/elf_image.h"

#define MAX_UNPACKED (64ull << 20)
#define MAX_LOOK (64u << 20)
#define PIECE 65536

static void take_unpacked(struct elf_image *img, const struct elf_section *s, struct name_bytes *n)
{
	void *own;

	if (elf_image_read(img, s->offset, s->size, MAX_UNPACKED, &own))
		return;
	free(n->own);
	*n = (struct name_bytes){ -1, own, 0, s->size, own };
}

void name_bytes_keep(struct elf_image *img, const char *section, int fd, const void *data,
		     struct name_bytes *n)
{
	struct elf_section table, strings;

	if (elf_image_section(img, section, &table) ||
	    elf_image_section_at(img, table.link, &strings))
		return;
	if (strings.is_unpacked) {
		take_unpacked(img, &strings, n);
		return;
	}
	*n = (struct name_bytes){ fd, data, strings.offset, strings.size, NULL };
	if (n->offset > img->file_size)
		n->size = 0;
	else if (n->size > img->file_size - n->offset)
		n->size = img->file_size - n->offset;
}

int name_bytes_copy(struct elf_image *img, const char *section, const void *data,
		    struct name_bytes *n)
{
	void *own;

	name_bytes_keep(img, section, -1, data, n);
	if (n->own)
		return 0;
	own = malloc(n->size + 1);
	if (!own) {
		n->size = 0;
		return -ENOMEM;
	}
	if (n->size)
		memcpy(own, n->data + n->offset, n->size);
	*n = (struct name_bytes){ -1, own, 0, n->size, own };
	return 0;
}

bool name_bytes_hold(const struct name_bytes *n, const char *text)
{
	uint64_t size = n->size < MAX_LOOK ? n->size : MAX_LOOK;
	size_t len = strlen(text), kept = 0;
	char buf[PIECE];

	if (!size)
		return false;		/* offset may lie anywhere */
	if (n->data)
		return memmem(n->data + n->offset, size, text, len);
	for (uint64_t at = 0; at < size;) {
		size_t want = size - at < PIECE - kept ? (size_t)(size - at) : PIECE - kept;
		size_t have;
		ssize_t got = io_pread(n->fd, buf + kept, want, n->offset + at);

		if (got <= 0)
			return false;
		if (memmem(buf, kept + (size_t)got, text, len))
			return true;
		at += (uint64_t)got;
		have = kept + (size_t)got;
		kept = have < len ? have : len - 1;	/* text may lie across two pieces */
		memmove(buf, buf + have - kept, kept);
	}
	return false;
}
