/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "formats/render/packed_output.h"

#define LINES 100000
#define TEXT_MAX (LINES * 8)

static const char *const names[] = { "x.csv.zst", "x.csv.gz" };

static void write_lines(FILE *out, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		fprintf(out, "%u\n", i);
}

/* The caller frees it. */
static char *packed(const char *name, unsigned nr, size_t *len)
{
	struct packed_output p;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	assert_non_null(out);
	assert_int_equal(packed_output_open(&p, name, out), 0);
	write_lines(p.stream, nr);
	assert_int_equal(packed_output_close(&p), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static size_t unpack(const char *data, size_t len, char *text)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)len,
		       .next_out = (unsigned char *)text, .avail_out = TEXT_MAX };
	size_t n = ZSTD_decompress(text, TEXT_MAX, data, len);	/* skips the mark */

	if (!ZSTD_isError(n))
		return n;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	return z.total_out;
}

static void comes_back_as_it_was(void **state)
{
	static const unsigned sizes[] = { 0, 1, LINES };
	char *got = malloc(TEXT_MAX);

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		size_t len, again_len, want_len;
		char *data = packed(names[i % 2], sizes[i / 2], &len);
		char *again = packed(names[i % 2], sizes[i / 2], &again_len);
		char *want = packed("x.csv", sizes[i / 2], &want_len);

		assert_int_equal(len, again_len);
		assert_memory_equal(data, again, len);
		assert_true(packed_output_made(data, len));
		assert_int_equal(unpack(data, len, got), want_len);
		assert_memory_equal(got, want, want_len);
		free(data);
		free(again);
		free(want);
	}
	free(got);
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		FILE *full = fopen("/dev/full", "w");
		struct packed_output p;

		assert_non_null(full);
		setvbuf(full, NULL, _IONBF, 0);
		assert_int_equal(packed_output_open(&p, names[i], full), 0);
		write_lines(p.stream, LINES);
		assert_int_equal(packed_output_close(&p), -ENOSPC);
		fclose(full);
	}
}

/* A file that others compressed is none of ours, whatever is in it. */
static void others_are_not_ours(void **state)
{
	char data[256];
	size_t len = ZSTD_compress(data, sizeof(data), "timestamp|tid|tgid|comm\n", 24, 3);

	(void)state;
	assert_false(ZSTD_isError(len));
	assert_false(packed_output_made(data, len));
	for (size_t i = 0; i < 2; i++) {
		char *ours = packed(names[i], 1, &len);

		assert_false(packed_output_made(ours, 13));
		assert_false(packed_output_made(ours + 1, len - 1));
		free(ours);
	}
}

static void names_choose(void **state)
{
	(void)state;
	assert_true(packed_output_is("a.zst"));
	assert_true(packed_output_is("dir/a.json.gz"));
	assert_false(packed_output_is(".zst"));
	assert_false(packed_output_is("a.csv"));
	assert_false(packed_output_is(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_it_was),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(others_are_not_ours),
		cmocka_unit_test(names_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
