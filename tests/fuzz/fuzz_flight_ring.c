/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The framing of a trace in memory, which a recorder writes that was taken over, and the messages
 * of the kernel's files. What is kept lies within the file, its segments ascend, and memory that is
 * held stays.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/flight/flight_ring.h"
#include "src/flight/load_watch.h"

enum { STEPS = 4 };

static void check(const struct flight_ring *r, uint64_t size)
{
	assert(r->at <= size && r->freed <= r->at);
	for (size_t i = 0; i < r->nr; i++) {
		assert(r->v[i].at < r->at && r->v[i].at >= r->freed);
		assert(!i || r->v[i].at > r->v[i - 1].at);
	}
}

static void try_texts(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t v;

	memcpy(text, data, size);
	text[size] = 0;
	load_pressure_total(text, size & 1, &v);
	load_running(text, &v);
	load_usage(text, &v);
	free(text);
}

/* The first two bytes choose what is held and how much may be kept; the file grows in steps. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flight_ring r;
	size_t at = 2;
	int fd;

	if (size < 2)
		return 0;
	try_texts(data, size);
	fd = memfd_create("ring", MFD_CLOEXEC);
	assert(fd >= 0);
	flight_ring_init(&r, fd, 3, 64 + data[0] * 64u);
	if (data[1] & 1)
		r.hold = data[1] * 8u;
	for (int step = 1; step <= STEPS; step++) {
		size_t to = 2 + (size - 2) * (size_t)step / STEPS;

		assert(write(fd, data + at, to - at) == (ssize_t)(to - at));
		at = to;
		if (flight_ring_look(&r, (uint64_t)step * 2))
			break;
		check(&r, at - 2);
	}
	flight_ring_release(&r);
	close(fd);
	return 0;
}
