/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resolve_lines FILE CACHE [cold|cached] <ADDRESSES: functions and lines at the addresses, which ascend, as a parser process
 * finds them, in batches of 4096. cold: writes the cache file; cached: reads it. Prints found N, frames N, ms N (from open to
 * the last answer), cpu_ms N, anonymous_kib N (the most of its own memory) and cache_kib N.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/debug_info/debug_cache.h"
#include "src/debug_info/debug_lines.h"

#define FOR_EVER (UINT64_MAX / 2)
#define BATCH 4096
#define MAX_ADDRESSES (1u << 20)

static uint64_t clock_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* As src/parse/line_cache.c does. */
static void append(int fd, struct debug_lines *d, struct cache_head *h)
{
	struct byte_buf b = { 0 };

	if (fd < 0 || debug_lines_news(d, &b) || !b.nr)
		return;
	if (pwrite(fd, b.v, b.nr, (off_t)h->end) == (ssize_t)b.nr)
		h->end += b.nr;
	if (pwrite(fd, h, sizeof(*h), 0) != sizeof(*h))
		perror("write");
	bb_release(&b);
}

static long anonymous_kib(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Anonymous: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static size_t read_addresses(uint64_t *v)
{
	char line[64];
	size_t nr = 0;

	while (nr < MAX_ADDRESSES && fgets(line, sizeof(line), stdin))
		v[nr++] = strtoull(line, NULL, 16);
	return nr;
}

int main(int argc, char **argv)
{
	static struct unit_place v[256];
	static uint64_t addrs[MAX_ADDRESSES];
	int is_cold = argc > 3 && !strcmp(argv[3], "cold"), fd = argc > 3 ? open(argv[1], O_RDONLY) : -1;
	int cache = argc > 3 ? open(argv[2], is_cold ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, 0600) : -1;
	struct debug_lines_source src = { .fds = &fd, .nr_fds = 1, .cache_fd = is_cold ? -1 : cache, .keeps_news = is_cold };
	struct cache_head head = { CACHE_MAGIC, sizeof(head) };
	size_t nr = read_addresses(addrs), found = 0, frames = 0;
	uint64_t wall = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	struct debug_lines *d;
	struct stat st = { 0 };
	long most_kib = 0;
	uint8_t lang;

	if (fd < 0 || cache < 0 || debug_lines_open(&src, &d, &(uint32_t){ 0 }))
		return 1;
	for (size_t i = 0; i < nr; i++) {
		int n;

		if (i % BATCH == 0)
			debug_lines_expect(d, addrs + i, nr - i < BATCH ? nr - i : BATCH);
		n = debug_lines_find(d, addrs[i], FOR_EVER, v, sizeof(v) / sizeof(v[0]), &lang);

		found += n > 0 && v[0].line;
		frames += n > 0 ? (size_t)n : 0;
		if (i % BATCH == BATCH - 1 && is_cold) {
			long kib = anonymous_kib();

			most_kib = kib > most_kib ? kib : most_kib;
			append(cache, d, &head);
		}
	}
	if (is_cold)
		append(cache, d, &head);
	wall = clock_of(CLOCK_MONOTONIC) - wall;
	cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (anonymous_kib() > most_kib)
		most_kib = anonymous_kib();
	fstat(cache, &st);
	printf("found %zu\nframes %zu\nms %.1f\ncpu_ms %.1f\nanonymous_kib %ld\ncache_kib %ld\n", found, frames, (double)wall / 1e6,
	       (double)cpu / 1e6, most_kib, (long)(st.st_size / 1024));
	debug_lines_close(d);
	return 0;
}
