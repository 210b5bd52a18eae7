/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbour KIND: one user who does his worst to a recording of the whole machine, for as long as it runs. KIND:
 *	renames		four threads that change their names without end
 *	maps		maps code and unmaps it without end
 *	files		maps 60,000 files executable and runs code of each in turn
 *	threads		four threads that make threads, which end at once
 *	execs		four processes that start programs one after another
 *	switches	four threads that leave their CPU all the time
 *	deep		a stack of 1,000 frames that changes all the time
 *	code		16 processes that make new code without end, each piece in 64 KiB of its own
 *	crowd		2,000 processes that sleep
 *	naps		4,000 threads that run for a moment in each second
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "ready.h"

enum { FILES = 60000, THREADS = 4, DEPTH = 1000, MAKERS = 16, CROWD = 2000, WINDOW = 64 << 10, WINDOWS = 1024 };

typedef void (*code_fn)(void);

static volatile long sink;

/* mov $200000,%ecx; 1: dec %ecx; jne 1b; ret. Elsewhere than on x86-64 what is mapped is not called. */
static const unsigned char loop[] = { 0xb9, 0x40, 0x0d, 0x03, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

FRAME static void call(const void *code)
{
#if defined(__x86_64__)
	((code_fn)(uintptr_t)code)();
#else
	(void)code;
	burn(ROUNDS_PER_MS / 10);
#endif
}

/* A file in memory with its number and code behind that. */
static void *map_file(long number)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	char page[64] = { 0 };
	void *p = MAP_FAILED;

	memcpy(page, &number, sizeof(number));
	memcpy(page + 16, loop, sizeof(loop));
	if (fd >= 0 && write(fd, page, sizeof(page)) == sizeof(page))
		p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return p;
}

static void *renames(void *arg)
{
	char name[16];

	for (unsigned long i = 0;; i++) {
		snprintf(name, sizeof(name), "name %lu", i % 100000);
		prctl(PR_SET_NAME, name);
	}
	return arg;
}

static void *maps(void *arg)
{
	for (long i = 0;; i++) {
		void *p = map_file(i);

		if (p != MAP_FAILED)
			munmap(p, 4096);
	}
	return arg;
}

static void *files(void *arg)
{
	void **v = calloc(FILES, sizeof(*v));
	long nr = 0;

	while (v && nr < FILES && (v[nr] = map_file(nr)) != MAP_FAILED)
		nr++;
	for (long i = 0; nr; i = (i + 1) % nr)
		call((char *)v[i] + 16);
	return arg;
}

static void *ends(void *arg)
{
	burn(1000);
	return arg;
}

static void *threads(void *arg)
{
	pthread_t t;

	for (;;)
		if (!pthread_create(&t, NULL, ends, NULL))
			pthread_join(t, NULL);
	return arg;
}

static void *naps(void *arg)
{
	const struct timespec most_of_a_second = { .tv_nsec = 900000000 };

	for (;;)
		nanosleep(&most_of_a_second, NULL);
	return arg;
}

static void *switches(void *arg)
{
	const struct timespec shortest = { .tv_nsec = 1 };

	for (;;)
		nanosleep(&shortest, NULL);
	return arg;
}

FRAME static long deep_frame(int depth)
{
	volatile char changing[64];

	for (unsigned i = 0; i < sizeof(changing); i++)
		changing[i] = (char)(sink++);
	if (depth)
		return deep_frame(depth - 1) + changing[0];
	burn(ROUNDS_PER_MS / 20);
	return 0;
}

static void *deep(void *arg)
{
	for (;;)
		sink += deep_frame(DEPTH);
	return arg;
}

static void *execs(void *arg)
{
	char *argv[] = { "true", NULL };

	for (;;) {
		pid_t child = vfork();

		if (!child) {
			execvp(argv[0], argv);
			_exit(127);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	return arg;
}

static void *code(void *arg)
{
	unsigned char *memory = mmap(NULL, (size_t)WINDOWS * WINDOW, PROT_READ | PROT_WRITE | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned r = (unsigned)getpid();

	for (unsigned i = 0; memory != MAP_FAILED; i++) {
		unsigned char *at = memory + (size_t)(i % WINDOWS) * WINDOW;

		for (int k = 0; k < 4096; k++)
			at[k] = (unsigned char)((r = r * 1103515245 + 12345) >> 16);
		memcpy(at + 4096, loop, sizeof(loop));
		call(at + 4096);
	}
	return arg;
}

static void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static const struct {
	const char *name;
	void *(*run)(void *arg);
	int nr_threads, nr_processes;
} kinds[] = {
	{ "renames", renames, THREADS, 0 }, { "maps", maps, 1, 0 }, { "files", files, 1, 0 },
	{ "threads", threads, THREADS, 0 }, { "execs", execs, 0, THREADS }, { "switches", switches, THREADS, 0 },
	{ "deep", deep, 1, 0 }, { "code", code, 0, MAKERS }, { "crowd", sleeps, 0, CROWD },
	{ "naps", naps, 2 * CROWD, 0 },
};

static void begin(void *(*run)(void *arg), int nr_threads, int nr_processes)
{
	pthread_t t;

	for (int i = 0; i < nr_threads; i++)
		pthread_create(&t, NULL, run, NULL);
	for (int i = 0; i < nr_processes; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(LIFETIME_S);
		run(NULL);
	}
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		begin(kinds[i].run, kinds[i].nr_threads, kinds[i].nr_processes);
		say_ready();
		for (;;)
			pause();
	}
	return 2;
}
