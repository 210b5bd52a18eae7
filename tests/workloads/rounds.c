/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work in rounds, for comparisons of two recordings: rounds N [PERCENT] does N rounds, in which only
 * match() takes PERCENT of the work that it takes otherwise. A round takes some 100 us; about two
 * fifths of that are match().
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 256
#define PLAIN __attribute__((noinline, noclone))

static uint32_t words[WORDS], noise[2 * WORDS], sink;

static inline __attribute__((always_inline)) uint32_t mix(uint32_t x, unsigned times)
{
	while (times--)
		x = x * 1664525 + 1013904223;
	return x;
}

static PLAIN void match(unsigned percent)
{
	sink ^= mix(sink, 200 * percent);
	__asm__ volatile("");
}

static PLAIN void read_words(int fd)
{
	if (read(fd, noise, sizeof(noise)) != sizeof(noise))
		abort();
	memcpy(words, noise, sizeof(words));
}

static PLAIN void scramble(void)
{
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = sink = mix(sink + i, 40);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static PLAIN void sort(void)
{
	qsort(words, WORDS, sizeof(words[0]), compare);
}

static PLAIN void serve(int fd, unsigned percent)
{
	read_words(fd);
	scramble();
	sort();
	match(percent);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	unsigned percent = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 1;
	while (rounds--)
		serve(fd, percent);
	return 0;
}
