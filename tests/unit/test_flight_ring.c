/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a trace that grows in memory, by its framing alone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/trace_layout.h"
#include "src/flight/flight_ring.h"

#define S 1000000000ull
#define DATA 100000u

struct world {
	struct flight_ring r;
	int fd;
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	w->fd = memfd_create("ring", 0);
	flight_ring_init(&w->r, w->fd, 60 * S, 1 << 30);
	*state = w;
	return w->fd < 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	flight_ring_release(&w->r);
	close(w->fd);
	test_free(w);
	return 0;
}

static void put(struct world *w, const void *bytes, size_t len)
{
	assert_int_equal(write(w->fd, bytes, len), len);
}

static void put_ident(struct world *w)
{
	const struct ident id = { .major = TRACE_MAJOR, .minor = TRACE_MINOR };
	uint8_t out[IDENT_SIZE];

	ident_encode(out, &id);
	put(w, out, sizeof(out));
}

static void put_chunk(struct world *w, uint32_t samples)
{
	const struct signpost sp = { .data_size = DATA, .raw_size = DATA, .nr_samples = samples,
				     .contents = CHUNK_HAS_SAMPLES };
	static const uint8_t data[DATA];
	uint8_t out[SIGNPOST_SIZE];

	signpost_encode(out, &sp);
	put(w, out, sizeof(out));
	put(w, data, sizeof(data));
}

static void look(struct world *w, uint64_t s)
{
	assert_int_equal(flight_ring_look(&w->r, s * S), 0);
}

static size_t blocks(const struct world *w)
{
	struct stat st;

	assert_int_equal(fstat(w->fd, &st), 0);
	return (size_t)st.st_blocks * 512;
}

/* Segments of 10 s, each with one chunk. */
static void put_segments(struct world *w, unsigned from, unsigned nr)
{
	for (unsigned i = from; i < from + nr; i++) {
		put_ident(w);
		put_chunk(w, 7);
		look(w, 1000 + 10 * i);
	}
}

static void test_old_segments_are_given_back(void **state)
{
	const uint64_t segment = IDENT_SIZE + SIGNPOST_SIZE + DATA;
	struct world *w = *state;

	put_segments(w, 0, 7);
	assert_int_equal(w->r.nr, 7);
	assert_int_equal(flight_ring_bytes(&w->r), 7 * segment);
	put_segments(w, 7, 20);
	/* The last one began now, and the oldest ended 60 s ago: 60 s and what its segment has. */
	assert_int_equal(w->r.nr, 7);
	assert_int_equal(w->r.v[0].at, 20 * segment);
	assert_int_equal(w->r.at, 27 * segment);
	assert_true(blocks(w) < 8 * segment);
	assert_int_equal(w->r.early, 0);
}

static void test_half_frames_are_waited_for(void **state)
{
	const struct signpost sp = { .data_size = DATA, .nr_samples = 3 };
	static const uint8_t data[DATA];
	struct world *w = *state;
	uint8_t post[SIGNPOST_SIZE];

	look(w, 1000);
	assert_int_equal(w->r.nr, 0);
	put_ident(w);
	signpost_encode(post, &sp);
	put(w, post, 20);
	look(w, 1001);
	assert_int_equal(w->r.nr, 1);
	assert_int_equal(w->r.at, IDENT_SIZE);
	put(w, post + 20, sizeof(post) - 20);
	put(w, data, DATA - 1);
	look(w, 1002);
	assert_int_equal(w->r.at, IDENT_SIZE);
	put(w, data, 1);
	look(w, 1003);
	assert_int_equal(w->r.at, IDENT_SIZE + SIGNPOST_SIZE + DATA);
	assert_int_equal(w->r.v[0].samples, 3);
}

static void test_memory_is_limited_and_losses_are_counted(void **state)
{
	struct world *w = *state;

	w->r.max_bytes = 3 * DATA;
	put_segments(w, 0, 5);
	assert_int_equal(w->r.nr, 2);
	assert_int_equal(w->r.early, 3);
	assert_int_equal(w->r.early_samples, 21);
	assert_true(blocks(w) < 4 * DATA);
}

/* The segment that is written stays, however large it is. */
static void test_the_last_segment_stays(void **state)
{
	struct world *w = *state;

	w->r.max_bytes = DATA / 2;
	put_ident(w);
	for (int i = 0; i < 5; i++)
		put_chunk(w, 1);
	look(w, 1000);
	look(w, 5000);
	assert_int_equal(w->r.nr, 1);
	assert_int_equal(w->r.early, 0);
}

static void test_what_is_copied_stays(void **state)
{
	struct world *w = *state;

	w->r.is_pinned = true;
	put_segments(w, 0, 20);
	assert_int_equal(w->r.nr, 20);
	w->r.is_pinned = false;
	look(w, 1200);
	assert_int_equal(w->r.nr, 6);
}

/* Neither age nor memory takes the segment of a trigger, and what comes behind it. */
static void test_what_is_held_stays(void **state)
{
	const uint64_t segment = IDENT_SIZE + SIGNPOST_SIZE + DATA;
	struct world *w = *state;

	w->r.max_bytes = 3 * DATA;
	put_segments(w, 0, 5);
	w->r.hold = w->r.v[w->r.nr - 1].at;
	put_segments(w, 5, 20);
	assert_int_equal(w->r.v[0].at, 4 * segment);
	assert_int_equal(w->r.nr, 21);
	w->r.hold = UINT64_MAX;
	look(w, 1250);
	assert_int_equal(w->r.nr, 2);
}

static void test_what_is_no_frame_ends_it(void **state)
{
	static const uint8_t zeros[5 << 20];
	struct world *w = *state;

	put_ident(w);
	put(w, zeros, 1000);
	look(w, 1000);
	put(w, zeros, sizeof(zeros));
	assert_int_equal(flight_ring_look(&w->r, 1001 * S), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_old_segments_are_given_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_half_frames_are_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_is_limited_and_losses_are_counted,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_last_segment_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_copied_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_held_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_frame_ends_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
