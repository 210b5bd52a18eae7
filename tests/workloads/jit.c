/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit [MODE [SECONDS]]: machine code made at run time in anonymous memory, with a frame pointer, named in /tmp/perf-PID.map:
 * main > run_jit > jit_spin. Ends after SECONDS to SECONDS + 1, or never. Exits 77 where we have no such code (not x86-64). MODE:
 *	plain	(or none)
 *	silent	writes no map
 *	moved	older lines give the place to other code
 *	shared	the code is in shared memory (memfd), and the map is written at the end
 *	fork	a child runs it; it has the code and the name from its parent
 *	foreign, fifo, link, null	the map is a file of another user, a FIFO, a symbolic link, a link to a device
 *	huge	the map is a sparse file of 300 MiB; the name is at its end
 *	dump	instead of the map, jit-PID.dump in the current directory, with lines: jit_spin, its loop in spin_.x:20, what is
 *		before it in line 10 and behind it in 30. Before it there was old_spin, and after an hour there will be late_spin
 *	replaced	a dump again: for 2.4 s of CPU time a_spin, b_spin and c_spin are at the same address in turn, for 0.1 s
 *		each, and the dump is told of each a little later, in two pieces
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "ready.h"

#ifdef __x86_64__
static const unsigned char code[] = {
	0x55,			/*	push %rbp */
	0x48, 0x89, 0xe5,	/*	mov  %rsp, %rbp */
	0x48, 0xff, 0xcf,	/* 1:	dec  %rdi */
	0x75, 0xfb,		/*	jne  1b */
	0x5d,			/*	pop  %rbp */
	0xc3,			/*	ret */
};
#else
static const unsigned char code[1];
#endif

static const char *mode = "plain";
static char map_path[64];

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* Makes what the name is written to; the map itself where it is nothing special. */
static FILE *open_map(void)
{
	char other[80];

	snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
	snprintf(other, sizeof other, "%s.other", map_path);
	if (is("fifo") && mkfifo(map_path, 0600))
		return NULL;
	if (is("null") && symlink("/dev/null", map_path))
		return NULL;
	if (is("link") && symlink(other, map_path))
		return NULL;
	return is("link") ? fopen(other, "we") : is("fifo") || is("null") ? NULL : fopen(map_path, "we");
}

static void write_perf_map(const void *start)
{
	unsigned long at = (unsigned long)start;
	FILE *out = is("silent") ? NULL : open_map();

	if (!out)
		return;
	if (is("moved"))
		fprintf(out, "%lx 1000 old_page\n%lx 1 old_byte\n", at, at + 4);
	if (is("huge") && fseeko(out, 300l << 20, SEEK_SET))
		exit(1);
	fprintf(out, "\n%lx %zx jit_spin\n", at, sizeof code);
	fclose(out);
	if (is("foreign") && chown(map_path, 65534, 65534))
		exit(1);
}

/* ---- the dump ---- */

/* tools/perf/Documentation/jitdump-specification.txt; all fields are aligned as they are in the file. */
struct dump_head {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_record {
	uint32_t type, size;
	uint64_t time;
};

struct dump_line {
	uint64_t addr;
	uint32_t line, column;
	char file[8];			/* "spin_.x": no padding follows */
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put_load(FILE *out, uint64_t time, uint64_t at, uint64_t index, const char *name)
{
	struct dump_record r = { 0, (uint32_t)(sizeof r + 40 + strlen(name) + 1 + sizeof code), time };
	uint32_t ids[] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t rest[] = { at, at, sizeof code, index };

	fwrite(&r, sizeof r, 1, out);
	fwrite(ids, sizeof ids, 1, out);
	fwrite(rest, sizeof rest, 1, out);
	fwrite(name, strlen(name) + 1, 1, out);
	fwrite(code, sizeof code, 1, out);
}

static void put_lines(FILE *out, uint64_t time, uint64_t at)
{
	struct dump_line lines[] = { { at, 10, 1, "spin_.x" }, { at + 4, 20, 1, "spin_.x" }, { at + 9, 30, 1, "spin_.x" } };
	struct dump_record r = { 2, sizeof r + 16 + sizeof lines, time };
	uint64_t rest[] = { at, 3 };

	fwrite(&r, sizeof r, 1, out);
	fwrite(rest, sizeof rest, 1, out);
	fwrite(lines, sizeof lines, 1, out);
}

static FILE *open_dump(uint64_t time)
{
	struct dump_head h = { 0x4a695444, 1, sizeof h, 62, 0, (uint32_t)getpid(), time, 0 };
	char path[64];
	FILE *out;

	snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
	out = fopen(path, "w+");
	/* By this mapping profilers learn where the dump is. */
	if (!out || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED)
		exit(1);
	fwrite(&h, sizeof h, 1, out);
	return out;
}

static void write_dump(const void *start)
{
	uint64_t at = (uint64_t)start, hour = 3600000000000, time = now();
	FILE *out = open_dump(time);

	put_load(out, time - hour, at, 1, "old_spin");
	put_lines(out, time, at);
	put_load(out, time, at, 2, "jit_spin");
	put_load(out, time + hour, at, 3, "late_spin");
	fclose(out);
}

/* The buffer is smaller than a record, so what is flushed later than the code begins to run is its end. */
static void run_replaced(void (*spin)(long), uint64_t at)
{
	static const char *const names[] = { "a_spin", "b_spin", "c_spin" };
	static char buffer[32];
	FILE *out = open_dump(now());

	fflush(out);
	setvbuf(out, buffer, _IOFBF, sizeof buffer);
	for (unsigned i = 0; i < 24; i++) {
		clock_t end = clock() + CLOCKS_PER_SEC / 10;

		put_load(out, now(), at, i, names[i % 3]);
		for (bool first = true; clock() < end; first = false) {
			spin(10 * ROUNDS_PER_MS);
			if (first)
				fflush(out);
		}
	}
	fclose(out);
}

static void *make_code(void)
{
	int fd = is("shared") ? memfd_create("code", MFD_CLOEXEC) : -1;
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *page;

	if (fd >= 0 && ftruncate(fd, 4096))
		return NULL;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	memcpy(page, code, sizeof code);
	return mprotect(page, 4096, PROT_READ | PROT_EXEC) ? NULL : page;
}

FRAME static void run_jit(void (*spin)(long), time_t end)
{
	while (time(NULL) < end) {
		spin(10 * ROUNDS_PER_MS);
		NO_TAIL_CALL();
	}
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 2 ? atol(argv[2]) + 1 : LIFETIME_S);
	void (*spin)(long) = NULL;
	pid_t child = 0;
	void *page;

	if (sizeof code == 1)
		return 77;
	mode = argc > 1 ? argv[1] : mode;
	page = make_code();
	if (!page)
		return 1;
	*(void **)&spin = page;
	if (is("dump"))
		write_dump(page);
	else if (is("replaced"))
		run_replaced(spin, (uint64_t)page);
	else if (!is("shared"))
		write_perf_map(page);
	say_ready();
	if (is("replaced"))
		return 0;
	if (is("fork") && !(child = fork()))
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!child)
		run_jit(spin, end);
	else
		waitpid(child, NULL, 0);
	if (is("shared"))
		write_perf_map(page);
	return 0;
}
