/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * renamer LONG SHORT PAGES: gives itself a long name LONG times, in long_names(), and one of a single letter SHORT times, in short_names(); then
 * touches PAGES fresh pages, in touch(), each of which is one page fault.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) static void long_names(int nr)
{
	for (int i = 0; i < nr; i++)
		prctl(PR_SET_NAME, i & 1 ? "renamer-odd" : "renamer-even");
	__asm__ volatile("");
}

__attribute__((noinline)) static void short_names(int nr)
{
	for (int i = 0; i < nr; i++)
		prctl(PR_SET_NAME, "r");
	__asm__ volatile("");
}

__attribute__((noinline)) static void touch(volatile char *pages, int nr, long size)
{
	for (int i = 0; i < nr; i++)
		pages[i * size] = 1;
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[3]) : 0;
	long size = sysconf(_SC_PAGESIZE);
	char *pages;

	if (argc < 4)
		return 2;
	long_names(atoi(argv[1]));
	short_names(atoi(argv[2]));
	pages = mmap(NULL, (size_t)(nr * size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	madvise(pages, (size_t)(nr * size), MADV_NOHUGEPAGE);
	touch(pages, nr, size);
	return 0;
}
