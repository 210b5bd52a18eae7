/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/flight_ring.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/trace/trace_layout.h"
#include "src/base/array.h"
#include "src/base/io.h"

/* More bytes than this behind the last frame are not one that is being written. */
#define FRAME_MOST (SIGNPOST_SIZE + MAX_DATA_SIZE)

void flight_ring_init(struct flight_ring *r, int fd, uint64_t keep_ns, uint64_t max_bytes)
{
	*r = (struct flight_ring){ .fd = fd, .keep_ns = keep_ns, .max_bytes = max_bytes,
				 .hold = UINT64_MAX };
}

void flight_ring_release(struct flight_ring *r)
{
	free(r->v);
	*r = (struct flight_ring){ .fd = -1 };
}

uint64_t flight_ring_bytes(const struct flight_ring *r)
{
	return r->nr ? r->at - r->v[0].at : 0;
}

/* A recorder takes a while between the beginning of the file and its first sample. */
uint64_t flight_ring_span_ns(const struct flight_ring *r, uint64_t now)
{
	uint64_t begin = r->nr ? r->v[0].seen_ns : now;

	if (r->nr && r->v[0].first_ns > begin && r->v[0].first_ns < now)
		begin = r->v[0].first_ns;
	return now - begin;
}

static int begin_segment(struct flight_ring *r, uint64_t now)
{
	struct kept_segment *s = array_push(&r->v, &r->nr, &r->cap);

	if (!s)
		return -ENOMEM;
	*s = (struct kept_segment){ .at = r->at, .seen_ns = now };
	r->at += IDENT_SIZE;
	return 1;
}

/* 1: one frame was gone past; 0: it is not there as a whole yet; -errno. */
static int take_frame(struct flight_ring *r, uint64_t size, uint64_t now)
{
	uint8_t head[SIGNPOST_SIZE];
	struct ident ident;
	struct signpost post;
	ssize_t n = io_pread(r->fd, head, sizeof(head), r->at);

	if (n < 0)
		return (int)n;
	if (ident_decode(head, (size_t)n, &ident))
		return begin_segment(r, now);
	if (!r->nr || !signpost_decode(head, (size_t)n, &post) || post.data_size > MAX_DATA_SIZE)
		return size - r->at > FRAME_MOST ? -EBADMSG : 0;
	if (size - r->at < SIGNPOST_SIZE + (uint64_t)post.data_size)
		return 0;
	r->v[r->nr - 1].samples += post.nr_samples;
	if (!r->v[r->nr - 1].first_ns)
		r->v[r->nr - 1].first_ns = post.first_ns;
	r->at += SIGNPOST_SIZE + (uint64_t)post.data_size;
	return 1;
}

static bool is_old(const struct flight_ring *r, size_t i, uint64_t now)
{
	assert(i + 1 < r->nr);
	return now >= r->v[i + 1].seen_ns + r->keep_ns;
}

/* How many segments are not kept any longer. */
static size_t nr_over(struct flight_ring *r, uint64_t now)
{
	size_t n = 0;

	while (n + 1 < r->nr && r->v[n].at < r->hold && is_old(r, n, now))
		n++;
	while (n + 1 < r->nr && r->v[n].at < r->hold && r->at - r->v[n].at > r->max_bytes) {
		r->early++;
		r->early_samples += r->v[n].samples;
		r->early_ns = now;
		n++;
	}
	return n;
}

/* Whole pages. Without holes in files (ENOTSUP) the memory stays, as it would in a plain file. */
static void give_back(struct flight_ring *r)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = r->v[0].at - r->v[0].at % page;

	if (end > r->freed && !fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					 (off_t)r->freed, (off_t)(end - r->freed)))
		r->freed = end;
}

int flight_ring_look(struct flight_ring *r, uint64_t now)
{
	struct stat st;
	size_t over;
	int rc = 1;

	if (fstat(r->fd, &st))
		return -errno;
	while (rc > 0 && r->at < (uint64_t)st.st_size)
		rc = take_frame(r, (uint64_t)st.st_size, now);
	if (rc < 0 || !r->nr || r->is_pinned)
		return rc < 0 ? rc : 0;
	over = nr_over(r, now);
	assert(over < r->nr);		/* the segment that is being written stays */
	r->nr -= over;
	memmove(r->v, r->v + over, r->nr * sizeof(*r->v));
	give_back(r);
	return 0;
}
