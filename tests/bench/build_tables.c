/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_tables [-j THREADS] [-v] FILE-OR-DIRECTORY...: builds the unwind table of every ELF file
 * there, each inode once, as a recording does, and says how long that took; /proc stands for all
 * files that are mapped executable now. Files are read once before, so that the disk is not
 * measured. -v: the slowest ones by name.
 *
 *	files, rows, pages, eh_frame_bytes, wall_ns, cpu_ns: one line each
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/proc/procfs.h"
#include "tests/oracle/file_list.h"

struct build {
	struct worker_job job;
	const char *path;
	uint64_t ns, rows, pages, rules, eh_frame_bytes;
};

struct mapped {
	char **paths;
	size_t nr, cap;
};

static void build_run(struct worker_job *job)
{
	struct build *b = (struct build *)job;
	struct unwind_table *table = NULL;
	int fd = open(b->path, O_RDONLY | O_CLOEXEC);
	struct elf_image *img = NULL;
	struct elf_section s;
	uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (fd >= 0 && !elf_image_open(fd, &img)) {
		if (!elf_image_section(img, ".eh_frame", &s))
			b->eh_frame_bytes = s.size;
		unwind_table_from_image(img, &table);
	}
	if (table) {
		b->rows = table->nr_rows;
		b->pages = table->nr_pages;
		b->rules = table->nr_rules;
	}
	unwind_table_free(table);
	elf_image_close(img);
	b->ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	if (fd >= 0)
		close(fd);
}

static void build_done(struct worker_job *job, bool cancelled)
{
	(void)job;
	(void)cancelled;
}

static int add_mapped(void *ctx, const struct proc_map *map)
{
	struct mapped *m = ctx;
	char **slot;

	if (map->path[0] != '/')
		return 0;
	for (size_t i = 0; i < m->nr; i++)
		if (!strcmp(m->paths[i], map->path))
			return 0;
	slot = array_push(&m->paths, &m->nr, &m->cap);
	if (slot)
		*slot = strdup(map->path);
	return slot && *slot ? 0 : -1;
}

static int add_process(void *ctx, pid_t pid)
{
	procfs_maps(pid, add_mapped, ctx);
	return 0;
}

/* The roots themselves, followed by NULL. */
static char **take_roots(char **roots, int nr)
{
	struct mapped m = { 0 };

	for (int i = 0; i < nr; i++) {
		if (!strcmp(roots[i], "/proc"))
			procfs_each_process(add_process, &m);
		else
			*(char **)array_push(&m.paths, &m.nr, &m.cap) = roots[i];
	}
	if (!array_push(&m.paths, &m.nr, &m.cap))
		exit(1);
	return m.paths;
}

static int slower(const void *a, const void *b)
{
	const struct build *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void build_all(struct build *v, size_t nr, unsigned threads)
{
	uint64_t sum[4] = { 0 }, cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), wall = now_ns();
	struct worker_pool *pool = worker_pool_new(threads);

	for (size_t i = 0; i < nr; i++)
		if (v[i].rows)
			worker_submit(pool, &v[i].job);
	worker_wait(pool);
	wall = now_ns() - wall;
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	worker_pool_free(pool);
	for (size_t i = 0; i < nr; i++) {
		sum[0] += v[i].rows > 0;
		sum[1] += v[i].rows;
		sum[2] += v[i].pages;
		sum[3] += v[i].eh_frame_bytes;
	}
	printf("files %" PRIu64 "\nrows %" PRIu64 "\npages %" PRIu64 "\neh_frame_bytes %" PRIu64 "\nwall_ns %" PRIu64
	       "\ncpu_ns %" PRIu64 "\n", sum[0], sum[1], sum[2], sum[3], wall, cpu);
}

int main(int argc, char **argv)
{
	struct file_list files = { 0 };
	unsigned threads = 1;
	int verbose = 0, c;
	struct build *v;

	while ((c = getopt(argc, argv, "j:v")) != -1) {
		if (c == 'j')
			threads = (unsigned)atoi(optarg);
		verbose |= c == 'v';
	}
	if (!threads || file_list_find(&files, take_roots(argv + optind, argc - optind)))
		return 1;
	v = calloc(files.nr + 1, sizeof(*v));
	for (size_t i = 0; v && i < files.nr; i++) {
		v[i] = (struct build){ .job = { build_run, build_done, 0, NULL }, .path = files.v[i].path };
		build_run(&v[i].job);	/* a file without rows is not built again */
	}
	build_all(v, files.nr, threads);
	qsort(v, files.nr, sizeof(*v), slower);
	for (size_t i = 0; verbose && i < files.nr && i < 12; i++)
		printf("%7.1f ms %8" PRIu64 " rows %5" PRIu64 " rules %6" PRIu64 " KiB  %s\n", (double)v[i].ns / 1e6,
		       v[i].rows, v[i].rules, v[i].eh_frame_bytes >> 10, v[i].path);
	file_list_release(&files);
	free(v);
	return 0;
}
