/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_strange DIRECTORY FIRST NUMBER: the valid but strange traces of these numbers, as N.pbz.
 * make_strange FILE: whether a terminal may show the text in it; says where not, and exits with 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "src/base/fail.h"
#include "tests/fuzz/strange_trace.h"
#include "tests/unit/terminal_safe.h"

static int write_one(const char *dir, uint64_t seed)
{
	uint8_t bytes[8192];
	int fd = strange_trace(bytes, strange_seed(seed, bytes, sizeof(bytes))), to;
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%llu.pbz", dir, (unsigned long long)seed);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0 || fstat(fd, &st) || lseek(fd, 0, SEEK_SET) || sendfile(to, fd, NULL, (size_t)st.st_size) != st.st_size)
		return 1;
	close(fd);
	return close(to) != 0;
}

static int check(const char *path)
{
	static char text[64 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	size_t at;

	if (n < 0)
		return 1;
	if (terminal_safe(text, (size_t)n, &at))
		return 0;
	printf("at %zu:", at);
	for (size_t i = at < 20 ? 0 : at - 20; i < at + 8 && i < (size_t)n; i++)
		printf(text[i] >= ' ' && text[i] < 0x7f ? "%c" : " %02x ", (unsigned char)text[i]);
	putchar('\n');
	return 1;
}

int main(int argc, char **argv)
{
	int err = 0;

	if (argc == 2)
		return check(argv[1]);
	if (argc != 4)
		return 2;
	for (uint64_t i = 0, nr = strtoull(argv[3], NULL, 10); i < nr && !err; i++)
		err = write_one(argv[1], strtoull(argv[2], NULL, 10) + i);
	return err;
}
