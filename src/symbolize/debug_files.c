/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/debug_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "src/base/io.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define MAX_LINK 4096
#define MAX_CRC_BYTES (1ull << 30)

static int open_regular(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	struct stat st;

	if (fd < 0)
		return -ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -ENOENT;
}

static bool same_build_id(const struct elf_image *img, int fd)
{
	struct elf_image *debug;
	bool same;

	if (elf_image_open(fd, &debug))
		return false;
	same = img->build_id_len && debug->build_id_len == img->build_id_len &&
	       !memcmp(debug->build_id, img->build_id, img->build_id_len);
	elf_image_close(debug);
	return same;
}

static int by_build_id(const struct elf_image *img)
{
	char path[sizeof(DEBUG_ROOT) + 32 + 2 * sizeof(img->build_id)];
	int n = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", img->build_id[0]), fd;

	if (img->build_id_len < 2)
		return -ENOENT;
	for (int i = 1; i < img->build_id_len; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", img->build_id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	fd = open_regular(path, 0);
	if (fd >= 0 && !same_build_id(img, fd)) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
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
 * Tries one name of a debug file. It may lead into directories of the profiled user, so a symbolic
 * link to another user's file is not followed.
 */
static int try_link(const struct elf_image *img, const char *dir, const char *sub, const char *name,
		    uint32_t crc)
{
	char path[2 * PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s%s/%s", dir, sub, name) >= (int)sizeof(path))
		return -ENOENT;
	fd = open_regular(path, strncmp(path, DEBUG_ROOT, strlen(DEBUG_ROOT)) ? O_NOFOLLOW : 0);
	if (fd >= 0 && !(img->build_id_len ? same_build_id(img, fd) : has_crc(fd, crc))) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}

static int by_link(struct elf_image *img, const char *path)
{
	char dir[PATH_MAX], rooted[PATH_MAX + sizeof(DEBUG_ROOT)], *slash;
	struct elf_section s;
	size_t name_len;
	uint32_t crc;
	void *link;
	int fd = -ENOENT;

	if (!path || path[0] != '/' || elf_image_section(img, ".gnu_debuglink", &s) || s.size < 8 ||
	    elf_image_read(img, s.offset, s.size, MAX_LINK, &link))
		return -ENOENT;
	name_len = strnlen(link, s.size - 4);
	memcpy(&crc, (char *)link + s.size - 4, 4);
	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	*slash = 0;
	snprintf(rooted, sizeof(rooted), DEBUG_ROOT "%s", dir);
	if (name_len && name_len < s.size - 4 && !strchr(link, '/')) {
		fd = try_link(img, dir, "/.debug", link, crc);
		if (fd < 0)
			fd = try_link(img, rooted, "", link, crc);
		if (fd < 0)
			fd = try_link(img, dir, "", link, crc);
	}
	free(link);
	return fd;
}

int debug_file_open(struct elf_image *img, const char *path)
{
	int fd = by_build_id(img);

	return fd >= 0 ? fd : by_link(img, path);
}
