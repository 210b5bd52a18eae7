/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ancestor_walk OBJECT TGID WALKS: prints, for each scan, "scan_us N rows N dropped N frames N".
 * TGID 0 is the whole machine. The time is that of the scan and of draining its ring, without names
 * and without text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/ancestor_walk.h"

struct totals {
	unsigned long rows, frames;
};

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int on_event(void *ctx, void *data, size_t size)
{
	const struct ancestor_event *ev = data;
	struct totals *totals = ctx;

	(void)size;
	totals->rows++;
	totals->frames += (unsigned long)ev->nr_user;
	return 0;
}

static int scan(struct bpf_link *link, struct ring_buffer *ring, struct totals *totals)
{
	double begin_us = now_us();
	char buf[64];
	int fd = bpf_iter_create(bpf_link__fd(link));

	if (fd < 0)
		return -1;
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
	memset(totals, 0, sizeof(*totals));
	ring_buffer__consume(ring);
	printf("walk_us %.1f rows %lu frames %lu\n", now_us() - begin_us, totals->rows, totals->frames);
	fflush(stdout);
	return 0;
}

static int set_tgid(struct bpf_object *obj, int tgid)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata");

	return map ? bpf_map__set_initial_value(map, &tgid, sizeof(tgid)) : -1;
}

int main(int argc, char **argv)
{
	struct totals totals = { 0 };
	struct bpf_object *obj;
	struct ring_buffer *ring;
	struct bpf_link *link;
	int scans, err;

	if (argc != 4) {
		fprintf(stderr, "usage: ancestor_walk OBJECT TGID WALKS\n");
		return 2;
	}
	obj = bpf_object__open_file(argv[1], NULL);
	err = !obj || set_tgid(obj, atoi(argv[2])) || bpf_object__load(obj);
	if (err)
		return 1;
	link = bpf_program__attach_iter(bpf_object__find_program_by_name(obj, "dump"), NULL);
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(obj, "events"), on_event, &totals, NULL);
	if (!link || !ring)
		return 1;
	for (scans = atoi(argv[3]); scans > 0 && !err; scans--) {
		err = scan(link, ring, &totals);
		usleep(50000);
	}
	ring_buffer__free(ring);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return err != 0;
}
