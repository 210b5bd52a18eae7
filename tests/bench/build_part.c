/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_part [-c|-w] [-n PAGES] FILE: builds PAGES (16) pages of the unwind table of FILE, spread evenly over its code, as a
 * recording does for the first stack that meets the file, and then the pages behind these, as for the next one; and says how
 * long each took. -c: with the file out of the page cache first; -w (the default): with it there. A file that is not read
 * in parts is built as a whole.
 *
 *	pages, first_ns, second_ns, whole (1: it was built as a whole): one line each
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/elf_unwind/elf_unwind_part.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "unwind/unwind_limits.h"

/* Opens the file anew, as a parser process does for each request. Returns what it took in ns. */
static uint64_t build(const char *path, const uint32_t *pages, size_t nr, bool *whole)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct unwind_table *table = NULL;
	struct elf_image *img = NULL;
	uint64_t begin = now_ns();

	if (fd < 0 || elf_image_open(fd, &img)) {
		fprintf(stderr, "build_part: %s: no ELF file\n", path);
		exit(1);
	}
	err = unwind_part_from_image(img, fd, pages, nr, &table);
	*whole = err == -ENOTSUP;
	if (*whole)
		err = unwind_table_from_image(img, &table);
	if (err)
		fprintf(stderr, "build_part: %s: error %d\n", path, err);
	unwind_table_free(table);
	elf_image_close(img);
	close(fd);
	return now_ns() - begin;
}

/* The first page of executable code, and how many there are from it on. */
static uint32_t code_pages(const char *path, uint32_t *first)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t nr = 0;
	struct elf_image *img;

	if (fd < 0 || elf_image_open(fd, &img))
		return 0;
	for (size_t i = 0; i < img->nr_segments && !nr; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (!s->exec || s->filesz < 1u << UNWIND_PAGE_SHIFT)
			continue;
		*first = (uint32_t)((s->vaddr - img->vaddr_lo) >> UNWIND_PAGE_SHIFT);
		nr = (uint32_t)(s->filesz >> UNWIND_PAGE_SHIFT);
	}
	elf_image_close(img);
	close(fd);
	return nr;
}

static void drop_from_cache(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

int main(int argc, char **argv)
{
	uint32_t first = 0, nr, pages[256], next[256];
	size_t want = 16;
	bool cold = false, whole;
	uint64_t ns;
	int c;

	while ((c = getopt(argc, argv, "cwn:")) != -1) {
		cold |= c == 'c';
		if (c == 'n')
			want = strtoul(optarg, NULL, 10);
	}
	nr = optind < argc ? code_pages(argv[optind], &first) : 0;
	if (!nr)
		return 2;
	if (want > 256)
		want = 256;
	if (want > nr / 2)
		want = nr / 2 ? nr / 2 : 1;
	for (size_t i = 0; i < want; i++) {
		pages[i] = first + (uint32_t)(i * nr / want);
		next[i] = pages[i] + 1;
	}
	if (cold)
		drop_from_cache(argv[optind]);
	ns = build(argv[optind], pages, want, &whole);
	printf("pages %zu\nfirst_ns %" PRIu64 "\nsecond_ns %" PRIu64 "\nwhole %d\n", want, ns,
	       build(argv[optind], next, want, &whole), whole);
	return 0;
}
