/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An array that is mapped in pieces: which pieces are there, and what is in them and in the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/capture/tables/mapped_array.h"
#include "src/capture/tables/unwind_slabs.h"

#define PIECES 5
#define BYTES (PIECES * ARRAY_PIECE_BYTES - 4096)	/* the last one is cut */

struct world {
	int fd;
	struct mapped_array a;
};

static int memory_of(size_t bytes)
{
	int fd = memfd_create("array", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static int setup(void **state)
{
	static struct world w;

	w.fd = memory_of(BYTES);
	*state = &w;
	return mapped_array_open(&w.a, w.fd, BYTES - 100);	/* a whole page is taken */
}

static int teardown(void **state)
{
	struct world *w = *state;

	mapped_array_close(&w->a);
	assert_null(w->a.v);
	return close(w->fd);
}

/* The byte at offset, as who has the array otherwise sees it. */
static char byte_of(int fd, size_t offset)
{
	char c = 0;

	assert_int_equal(pread(fd, &c, 1, (off_t)offset), 1);
	return c;
}

static void test_nothing_is_mapped_yet(void **state)
{
	struct world *w = *state;
	const char *v = w->a.v;

	assert_int_equal(w->a.bytes, BYTES);
	assert_int_equal(w->a.nr_mapped, 0);
	assert_false(mapped_array_has(&w->a, 0, 1));
	assert_true(mapped_array_has(&w->a, 77, 0));
	assert_int_equal(pwrite(w->fd, "x", 1, 5000), 1);
	assert_int_equal(v[5000], 0);
	assert_int_equal(v[BYTES - 1], 0);
	assert_int_equal(mapped_array_need(&w->a, 5000, 1), 0);
	assert_int_equal(v[5000], 'x');
	assert_ptr_equal(w->a.v, v);
}

static void test_pieces(void **state)
{
	struct world *w = *state;
	char *v = w->a.v;

	/* Two bytes on both sides of where pieces meet. */
	assert_int_equal(mapped_array_need(&w->a, 2 * ARRAY_PIECE_BYTES - 1, 2), 0);
	assert_int_equal(w->a.nr_mapped, 2);
	assert_true(mapped_array_has(&w->a, ARRAY_PIECE_BYTES, 2 * ARRAY_PIECE_BYTES));
	assert_false(mapped_array_has(&w->a, ARRAY_PIECE_BYTES - 1, 2));
	assert_false(mapped_array_has(&w->a, 3 * ARRAY_PIECE_BYTES - 1, 2));
	memset(v + ARRAY_PIECE_BYTES, 'a', 2 * ARRAY_PIECE_BYTES);
	assert_int_equal(byte_of(w->fd, ARRAY_PIECE_BYTES - 1), 0);
	assert_int_equal(byte_of(w->fd, ARRAY_PIECE_BYTES), 'a');
	assert_int_equal(byte_of(w->fd, 3 * ARRAY_PIECE_BYTES - 1), 'a');
	/* Those that are there stay as they are. */
	assert_int_equal(mapped_array_need(&w->a, 0, BYTES), 0);
	assert_int_equal(w->a.nr_mapped, PIECES);
	assert_int_equal(v[2 * ARRAY_PIECE_BYTES], 'a');
	v[BYTES - 1] = 'z';
	assert_int_equal(byte_of(w->fd, BYTES - 1), 'z');
}

static void test_rest(void **state)
{
	struct world *w = *state;
	char *v = w->a.v;

	assert_int_equal(mapped_array_need(&w->a, 0, BYTES), 0);
	v[9] = 'a';
	v[BYTES - 1] = 'z';
	mapped_array_rest(&w->a);
	assert_int_equal(w->a.nr_mapped, 0);
	assert_int_equal(v[9], 0);
	assert_int_equal(mapped_array_need(&w->a, 0, 10), 0);
	assert_int_equal(w->a.nr_mapped, 1);
	assert_int_equal(v[9], 'a');
	assert_int_equal(v[BYTES - 1], 0);
	assert_int_equal(byte_of(w->fd, BYTES - 1), 'z');
}

static void test_what_cannot_be_mapped(void **state)
{
	struct mapped_array a;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(mapped_array_open(&a, fds[0], 8192), 0);
	assert_true(mapped_array_need(&a, 0, 1) < 0);
	assert_int_equal(a.nr_mapped, 0);
	assert_int_equal(((char *)a.v)[0], 0);
	mapped_array_close(&a);
	close(fds[0]);
	close(fds[1]);
}

/* ---- slabs of rows ---- */

static int new_slab(void *ctx, uint32_t key)
{
	(void)ctx;
	(void)key;
	return memory_of(UNWIND_SLAB_ROWS * sizeof(struct unwind_row));
}

static uint32_t mapped_for_reading(const struct unwind_slabs *s)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		nr += s->read[i].nr_mapped;
	return nr;
}

/* Rows of four slabs can be written and read, and few pieces are mapped at any time. */
static void test_slabs(void **state)
{
	static struct unwind_slabs s;
	const uint32_t nr = 3000, times = 4 * (UNWIND_SLAB_ROWS / 3000);
	uint32_t first, most = 0;

	(void)state;
	unwind_slabs_init(&s, new_slab, NULL, 0);
	for (uint32_t i = 0; i < times; i++) {
		struct unwind_row *rows;

		assert_int_equal(unwind_slabs_take(&s, nr, &first), 0);
		rows = unwind_slabs_write(&s, first, nr);
		for (uint32_t k = 0; k < nr; k++)
			rows[k] = (struct unwind_row){ (uint16_t)i, (uint16_t)k };
		assert_true(s.write.nr * sizeof(*rows) <= 2 * ARRAY_PIECE_BYTES);
	}
	assert_int_equal(s.nr, 4);
	for (uint32_t i = 0; i < times; i++) {
		uint32_t at = i / (times / 4) * UNWIND_SLAB_ROWS + i % (times / 4) * nr;
		const struct unwind_row *rows = unwind_slabs_read(&s, at, nr);

		at &= UNWIND_SLAB_ROWS - 1;
		assert_int_equal(rows[at].pc_lo, i);
		assert_int_equal(rows[at + nr - 1].pc_lo, i);
		assert_int_equal(rows[at + nr - 1].rule, nr - 1);
		most = mapped_for_reading(&s) > most ? mapped_for_reading(&s) : most;
	}
	assert_true(most >= UNWIND_READ_PIECES && most <= UNWIND_READ_PIECES + 1);
	assert_null(unwind_slabs_read(&s, 4 * UNWIND_SLAB_ROWS, 1));
	assert_null(unwind_slabs_read(&s, UNWIND_SLAB_ROWS - 1, 2));
	unwind_slabs_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_is_mapped_yet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rest, setup, teardown),
		cmocka_unit_test(test_what_cannot_be_mapped),
		cmocka_unit_test(test_slabs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
