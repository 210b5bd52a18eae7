/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pages (--html) are made of: hashes, base64, messages that are packed piece by piece, text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "src/base/base64.h"
#include "formats/render/page/page_pack.h"
#include "src/base/bytes.h"
#include "src/base/sha256.h"
#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_html;

static void check_sha256(const char *text, size_t len, const char *wanted)
{
	uint8_t digest[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	sha256(text, len, digest);
	for (int i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(hex, wanted);
}

/* The examples of FIPS 180-4, and lengths around the end of a block, by sha256sum. */
static void test_sha256(void **state)
{
	char a[120];

	(void)state;
	memset(a, 'a', sizeof(a));
	check_sha256("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sha256("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_sha256(a, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	check_sha256(a, 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	check_sha256(a, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	check_sha256(a, 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

static void check_base64(const char *text, const char *wanted)
{
	char *made = NULL;
	size_t len;
	FILE *out = open_memstream(&made, &len);

	base64_put(out, text, strlen(text));
	fclose(out);
	assert_string_equal(made, wanted);
	free(made);
}

/* The examples of RFC 4648. */
static void test_base64(void **state)
{
	(void)state;
	check_base64("", "");
	check_base64("f", "Zg==");
	check_base64("fo", "Zm8=");
	check_base64("foo", "Zm9v");
	check_base64("foob", "Zm9vYg==");
	check_base64("fooba", "Zm9vYmE=");
	check_base64("foobar", "Zm9vYmFy");
}

/* ---- messages ---- */

struct packed {
	uint8_t v[400000];
	size_t nr;
	bool has_odd_piece;
};

static void keep_piece(void *ctx, const void *data, size_t len)
{
	struct packed *p = ctx;

	assert_false(p->has_odd_piece);		/* only the last one may be no multiple of three */
	p->has_odd_piece = len % 3;
	assert_true(len <= sizeof(p->v) - p->nr);
	memcpy(p->v + p->nr, data, len);
	p->nr += len;
}

/* Packs len bytes of plain in pieces; noise hardly becomes shorter. */
static void pack(const uint8_t *plain, size_t len, size_t piece, struct packed *to)
{
	struct page_pack *p = page_pack_new(keep_piece, to);

	assert_non_null(p);
	to->nr = 0;
	to->has_odd_piece = false;
	for (size_t at = 0; at < len; at += piece)
		page_pack_bytes(p, plain + at, len - at < piece ? len - at : piece);
	assert_int_equal(page_pack_end(p), 0);
	page_pack_free(p);
}

/* A message is the same in whatever pieces it comes, and what was packed comes out again. */
static void test_message_is_packed_in_pieces(void **state)
{
	static const size_t lengths[] = { 0, 1, 399, 400, 401, 5000, 49151, 49152, 300000 };
	static const size_t pieces[] = { 1, 7, 399, 400, 4096, 300000 };
	static struct packed whole, packed;
	static uint8_t plain[300000], again[300000];

	(void)state;
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i & 4096 ? i * i >> 7 : i >> 12);
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		uLongf len = sizeof(again);

		pack(plain, lengths[l], sizeof(plain), &whole);
		assert_int_equal(whole.v[0], lengths[l] >= 400);
		if (whole.v[0])
			assert_int_equal(uncompress(again, &len, whole.v + 1, whole.nr - 1), Z_OK);
		else
			memcpy(again, whole.v + 1, len = whole.nr - 1);
		assert_int_equal(len, lengths[l]);
		assert_memory_equal(again, plain, len);
		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			pack(plain, lengths[l], pieces[i], &packed);
			assert_int_equal(packed.nr, whole.nr);
			assert_memory_equal(packed.v, whole.v, whole.nr);
		}
	}
}

static void test_parts_are_released_and_bad_ones_told(void **state)
{
	static struct packed packed;
	struct page_pack *p = page_pack_new(keep_piece, &packed);
	struct byte_buf good = { 0 }, bad = { .bad = true };

	(void)state;
	bb_u32(&good, 7);
	page_pack_part(p, &good);
	assert_null(good.v);
	assert_int_equal(good.nr, 0);
	page_pack_part(p, &bad);
	assert_int_equal(page_pack_end(p), -ENOMEM);
	assert_int_equal(packed.nr, 0);
	page_pack_free(p);
	page_pack_free(NULL);
}

/* What stands in the page beside our own style sheet and scripts. */
static char *foreign_part(const char *page)
{
	const char *begin = strstr(page, "</head>"), *end = strstr(page, "<script type=");

	assert_non_null(begin);
	assert_non_null(end);
	return strndup(begin, (size_t)(end - begin));
}

static void test_page(void **state)
{
	const struct render_opts opts = { .title = NULL };
	char *page = fixture_render(&renderer_html, &opts, NULL);
	char *again = fixture_render(&renderer_html, &opts, NULL);

	(void)state;
	assert_string_equal(page, again);
	assert_true(renderer_html.made(page));
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_null(strstr(page, "unsafe-inline"));
	assert_null(strstr(page, "https://"));
	assert_true(is_liked_by("tidy", "tidy -q -e --drop-empty-elements no --show-warnings no 2>/dev/null", page));
	free(page);
	free(again);
}

static void test_page_of_hostile_names(void **state)
{
	const struct render_opts opts = { .title = "</title><script>alert(1)</script>" };
	char *page = fixture_render(&renderer_html, &opts, hostile_names), *foreign = foreign_part(page);

	(void)state;
	check_is_harmless(foreign);
	assert_null(strstr(foreign, "<script"));
	assert_null(strstr(foreign, "\x1b"));
	free(foreign);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_message_is_packed_in_pieces),
		cmocka_unit_test(test_parts_are_released_and_bad_ones_told),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_page_of_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
