/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/debug_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/io.h"

#define MAX_LINK 4096
#define MAX_CRC_BYTES (2ull << 30)

bool debug_name_is_plain(const char *link)
{
	return !strchr(link, '/') && strcmp(link, ".") && strcmp(link, "..");
}

/* .gnu_debuglink: a name with a NUL, zeros up to a multiple of 4 bytes, and the CRC. */
static void read_link(struct elf_image *img, struct debug_name *name)
{
	struct elf_section s;
	void *link;
	size_t len;

	if (elf_image_section(img, ".gnu_debuglink", &s) || s.size < 8 ||
	    elf_image_read(img, s.offset, s.size, MAX_LINK, &link))
		return;
	len = strnlen(link, s.size - 4);
	if (len < s.size - 4 && len < sizeof(name->link) && debug_name_is_plain(link)) {
		memcpy(name->link, link, len);
		memcpy(&name->crc, (char *)link + s.size - 4, 4);
	}
	free(link);
}

int debug_name_read(struct elf_image *img, struct debug_name *name)
{
	memset(name, 0, sizeof(*name));
	memcpy(name->build_id, img->build_id, img->build_id_len);
	name->build_id_len = img->build_id_len;
	read_link(img, name);
	return name->build_id_len || *name->link ? 0 : -ENOENT;
}

/*
 * Whether the file has this CRC-32 (that of zlib). The size is bounded, because any user may have
 * written the file.
 */
static bool has_crc(int fd, uint32_t want)
{
	uint8_t buf[65536];
	uint64_t at = 0;
	uLong crc = crc32(0, NULL, 0);
	ssize_t n;

	while ((n = io_pread(fd, buf, sizeof(buf), at)) > 0 && at < MAX_CRC_BYTES) {
		crc = crc32(crc, buf, (uInt)n);
		at += (uint64_t)n;
	}
	return !n && crc == want;	/* a larger file left the loop with n > 0 */
}

/*
 * Two build-ids decide. gdb has the CRC decide for files that were found by their debug link; but
 * the build-id says more and costs nothing, and a debug file may have been compressed since.
 */
bool debug_name_fits(const struct debug_name *name, int fd)
{
	struct elf_image *debug;
	bool decides, fits;

	if (elf_image_open(fd, &debug))
		return false;
	decides = name->build_id_len && debug->build_id_len;
	fits = debug->build_id_len == name->build_id_len &&
	       !memcmp(debug->build_id, name->build_id, name->build_id_len);
	elf_image_close(debug);
	return decides ? fits : *name->link && has_crc(fd, name->crc);
}

static bool has_symtab(int fd)
{
	struct elf_image *img;
	struct elf_section sec;
	bool has;

	if (elf_image_open(fd, &img))
		return false;
	has = !elf_image_section(img, ".symtab", &sec);
	elf_image_close(img);
	return has;
}

int debug_name_choose(struct elf_image *img, const int *fds, size_t nr)
{
	struct debug_name name;
	int found = -1;

	if (!nr || debug_name_read(img, &name))
		return -1;
	for (size_t i = 0; i < nr; i++) {
		if (!debug_name_fits(&name, fds[i]))
			continue;
		if (has_symtab(fds[i]))
			return fds[i];
		found = found < 0 ? fds[i] : found;
	}
	return found;
}
