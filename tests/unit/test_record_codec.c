/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/record_codec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/crc32c.h"
#include "formats/trace/record_fields.h"
#include "formats/trace/trace_layout.h"
#include "src/base/array.h"
#include "tests/unit/record_log.h"

#define BASE 5000000000ull
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Edge values of every type: all zero, all ones, and one in between. */
static const struct rec_segment segments[] = {
	{0, 0, 0}, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {1, 2, 3}};
static const struct rec_line lines[] = {{0, 0, 0, 0}, {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0}, {1, 2, 3, 0}};

static const struct rec_run runs[] = {{1, 1}, {2, 1}, {4, 300}, {UINT32_MAX - 9, 10}};

static const struct record edges[] = {
	{.tag = REC_META, .meta = {"k", "", 0}},
	{.tag = REC_META,
	 .meta = {"a.key.of.sixty.three.octets.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a\0b\xff",
		  4}},
	{.tag = REC_CLOCK, .clock = {0, 0, 0, 0}},
	{.tag = REC_CLOCK, .clock = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
	{.tag = REC_STRING, .string = {1, "", 0}},
	{.tag = REC_STRING, .string = {2, "\0\xff\n\x1b[31m", 8}},
	{.tag = REC_BINARY, .binary = {.id = 1}},
	{.tag = REC_BINARY,
	 .binary = {UINT32_MAX,
		    255,
		    UINT32_MAX,
		    {[0 ... 63] = 0xff},
		    64,
		    UINT64_MAX,
		    INT64_MIN,
		    UINT64_MAX,
		    UINT64_MAX,
		    UINT32_MAX,
		    segments,
		    LEN(segments)}},
	{.tag = REC_PROCESS, .process = {.id = 1}},
	{.tag = REC_PROCESS,
	 .process = {UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
		     UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
	{.tag = REC_THREAD, .thread = {1, 0, 0, 0, 0, 0}},
	{.tag = REC_THREAD,
	 .thread = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT32_MAX}},
	{.tag = REC_THREADNAME, .threadname = {1, 0}},
	{.tag = REC_THREADNAME, .threadname = {UINT32_MAX, UINT32_MAX}},
	{.tag = REC_TASKEV, .taskev = {0, 0, 0, 0}},
	{.tag = REC_TASKEV, .taskev = {UINT64_MAX, 255, UINT32_MAX, UINT32_MAX}},
	{.tag = REC_MAPPING, .mapping = {.time_ns = 0}},
	{.tag = REC_MAPPING,
	 .mapping = {UINT64_MAX, UINT32_MAX, 255, 255, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		     UINT32_MAX}},
	{.tag = REC_FRAME, .frame = {1, 0, 0, 0, 0}},
	{.tag = REC_FRAME, .frame = {7, 255, 255, UINT32_MAX, UINT64_MAX}},
	{.tag = REC_NODE, .node = {1, 0, 0}},
	{.tag = REC_NODE, .node = {UINT32_MAX, 1, UINT32_MAX}},
	{.tag = REC_NODE, .node = {2, 1, 1}},
	{.tag = REC_FUNC, .func = {.id = 1}},
	{.tag = REC_FUNC, .func = {9, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 255, 255}},
	{.tag = REC_SYMBOL, .symbol = {.frame = 1}},
	{.tag = REC_SYMBOL, .symbol = {UINT32_MAX, 255, UINT64_MAX, lines, LEN(lines)}},
	{.tag = REC_PLACE, .place = {.frame = 1}},
	{.tag = REC_PLACE, .place = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
	{.tag = REC_EVENT, .event = {.id = 1}},
	{.tag = REC_EVENT,
	 .event = {UINT32_MAX, UINT32_MAX, 255, UINT64_MAX, UINT64_MAX, UINT32_MAX}},
	{.tag = REC_SCAN, .scan = {.scan = 0}},
	{.tag = REC_SCAN,
	 .scan = {UINT32_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		  UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		  UINT64_MAX, {1, UINT64_MAX, [STACK_ENDS - 1] = 7}}},
	{.tag = REC_LOST, .lost = {0, 0, 0, UINT32_MAX, 0}},
	{.tag = REC_LOST, .lost = {UINT64_MAX, UINT64_MAX, 255, UINT32_MAX - 1, UINT64_MAX}},
	{.tag = REC_NOTE, .note = {0, 0, "", 0}},
	{.tag = REC_NOTE, .note = {255, UINT64_MAX, "text\n", 5}},
	{.tag = REC_RAWSTACK, .rawstack = {0, 0, 0, 0, "", 0, 0, "", 0}},
	{.tag = REC_RAWSTACK,
	 .rawstack = {UINT64_MAX, UINT32_MAX, UINT32_MAX, 255, "registers", 9, UINT64_MAX, "stack\0", 6}},
	{.tag = REC_REPEAT, .repeat = {0, 0, NULL, 0}},
	{.tag = REC_REPEAT, .repeat = {UINT64_MAX, UINT32_MAX, runs, LEN(runs)}},
	{.tag = REC_END, .end = {.target_status = INT32_MIN}},
	{.tag = REC_END,
	 .end = {UINT64_MAX, 255, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		 UINT64_MAX, INT32_MAX}},
};

/* Decodes as the reader does: tag and id are set beforehand, the rest is garbage. */
static int decode(struct record_codec *c, const void *data, size_t len, const struct record *like,
		  struct record *out)
{
	struct byte_reader r = br_make(data, len);
	int err;

	memset(out, 0xa5, sizeof(*out));
	out->tag = like->tag;
	if (like->tag == REC_NODE)
		out->node.id = like->node.id;
	else if (like->tag == REC_STRING)
		out->string.id = like->string.id;
	else if (like->tag == REC_FRAME)
		out->frame.id = like->frame.id;
	else if (like->tag == REC_FUNC)
		out->func.id = like->func.id;
	err = record_decode(c, &r, out);
	if (!err)
		assert_int_equal(br_left(&r), 0);
	return err;
}

static void test_edges_come_back(void **state)
{
	struct record_codec codec = { .time_base_ns = BASE };

	(void)state;
	for (size_t i = 0; i < LEN(edges); i++) {
		struct byte_buf b = { 0 };
		struct record_log in = { 0 }, out = { 0 };
		struct record rec;

		assert_int_equal(record_encode(&codec, &b, &edges[i]), 0);
		assert_int_equal(decode(&codec, b.v, b.nr, &edges[i], &rec), 0);
		record_log_add(&in, &edges[i]);
		record_log_add(&out, &rec);
		assert_true(record_log_same(&in, &out));
		record_log_release(&in);
		record_log_release(&out);
		bb_release(&b);
	}
	record_codec_release(&codec);
}

/* What came with version 1.2 may be missing as a whole, or from one of its fields on. */
static void test_old_scan(void **state)
{
	struct rec_scan scan = { .scan = 3, .torn = 5, .hung = 7, .kernel_failed = 9, .ends = { [END_BUSY] = 2 } };
	struct record_codec codec = { .time_base_ns = BASE };
	struct record like = { .tag = REC_SCAN, .scan = scan }, rec;
	struct byte_buf b = { 0 };

	(void)state;
	record_encode(&codec, &b, &like);
	assert_int_equal(decode(&codec, b.v, b.nr, &like, &rec), 0);
	assert_int_equal(rec.scan.ends[END_BUSY], 2);
	assert_int_equal(rec.scan.kernel_failed, 9);
	assert_int_equal(decode(&codec, b.v, b.nr - 5, &like, &rec), 0);
	assert_int_equal(rec.scan.torn, 5);
	assert_int_equal(rec.scan.hung + rec.scan.kernel_failed + rec.scan.ends[END_BUSY], 0);
	assert_int_equal(decode(&codec, b.v, b.nr - 1, &like, &rec), -EBADMSG);
	b.v[b.nr - 2] = 250;	/* an end that a later version knows */
	assert_int_equal(decode(&codec, b.v, b.nr, &like, &rec), 0);
	assert_int_equal(rec.scan.ends[STACK_ENDS], 2);
	bb_release(&b);
	record_codec_release(&codec);
}

/* Every field counts: a payload that ends anywhere before its end is refused. */
static void test_short_payloads_are_refused(void **state)
{
	struct record_codec codec = { .time_base_ns = BASE };

	(void)state;
	for (size_t i = 0; i < LEN(edges); i++) {
		struct byte_buf b = { 0 };
		struct record rec;

		record_encode(&codec, &b, &edges[i]);
		for (size_t cut = 0; cut < b.nr; cut++) {
			uint8_t *exact =
				malloc(cut ? cut : 1); /* so that ASan sees each byte too many */

			memcpy(exact, b.v, cut);
			/* A walk of version 1.1 ended earlier. */
			if (decode(&codec, exact, cut, &edges[i], &rec) != -EBADMSG)
				assert_int_equal(edges[i].tag, REC_SCAN);
			free(exact);
		}
		bb_release(&b);
	}
	record_codec_release(&codec);
}

/* A field that is missing in put or get shows up here: the values of all types are in the bytes.
 */
static void test_every_type_has_a_codec(void **state)
{
	(void)state;
#define RECORD(tag, NAME, field, STORED) assert_true(record_is_known(tag));
#include "src/model/records.def"
	assert_false(record_is_known(0));
	assert_false(record_is_known(2));
	assert_false(record_is_known(33));
	assert_false(record_is_known(UINT64_MAX));
	for (unsigned tag = 0, found; tag < RECORD_TAGS; tag++) {
		found = !record_is_known(tag) || tag == REC_SAMPLE;
		for (size_t i = 0; i < LEN(edges); i++)
			found |= edges[i].tag == tag;
		assert_true(found);
	}
}

/* A chunk is read from left to right, so what a record refers to must be in an earlier section. */
static void test_references_go_to_types_before(void **state)
{
	static const uint8_t order[] = {
#define RECORD(tag, NAME, field, STORED) tag,
#include "src/model/records.def"
	};
	bool seen[RECORD_TAGS] = { false };
	unsigned nr = 0;

	(void)state;
	for (size_t i = 0; i < LEN(order); i++) {
		assert_false(seen[order[i]]);
		seen[order[i]] = true;
		for (const struct field *f = record_layout(order[i])->fields; f->at; f++) {
			struct record rec = { .tag = f->to };

			if (!f->to)
				continue;
			nr++;
			assert_true(seen[f->to]);
			assert_non_null(record_id(&rec));
		}
	}
	assert_int_equal(nr, 26);
}

static void test_long_text_is_cut_visibly(void **state)
{
	struct record_codec codec = { 0 };
	struct record rec = { .tag = REC_STRING, .string = { 1, NULL, MAX_STRING + 1 } }, out;
	struct byte_buf b = { 0 };
	char *text = malloc(MAX_STRING + 1);

	(void)state;
	memset(text, 'x', MAX_STRING + 1);
	rec.string.bytes = text;
	assert_int_equal(record_encode(&codec, &b, &rec), 0);
	assert_int_equal(decode(&codec, b.v, b.nr, &rec, &out), 0);
	assert_int_equal(out.string.len, MAX_STRING);
	assert_memory_equal(out.string.bytes, text, MAX_STRING - 3);
	assert_memory_equal(out.string.bytes + MAX_STRING - 3, "\xe2\x80\xa6", 3);
	bb_release(&b);
	free(text);
}

static void test_long_lists_are_cut(void **state)
{
	struct record_codec codec = { 0 };
	struct rec_line *many_lines = calloc(MAX_LINES + 5, sizeof(*many_lines));
	struct rec_segment *many_segments = calloc(MAX_SEGMENTS + 5, sizeof(*many_segments));
	struct record sym = {.tag = REC_SYMBOL, .symbol = {1, 0, 0, many_lines, MAX_LINES + 5}},
		      out;
	struct record bin = { .tag = REC_BINARY, .binary = { .id = 1, .segments = many_segments,
							     .nr_segments = MAX_SEGMENTS + 5 } };
	struct byte_buf b = { 0 };

	(void)state;
	for (uint32_t i = 0; i < MAX_LINES + 5; i++)
		many_lines[i].func = i + 1;
	assert_int_equal(record_encode(&codec, &b, &sym), 0);
	assert_int_equal(decode(&codec, b.v, b.nr, &sym, &out), 0);
	assert_int_equal(out.symbol.nr_lines, MAX_LINES);
	assert_int_equal(out.symbol.lines[MAX_LINES - 2].func, MAX_LINES - 1);
	assert_int_equal(out.symbol.lines[MAX_LINES - 1].func,
			 MAX_LINES + 5); /* the function itself */
	b.nr = 0;
	assert_int_equal(record_encode(&codec, &b, &bin), 0);
	assert_int_equal(decode(&codec, b.v, b.nr, &bin, &out), 0);
	assert_int_equal(out.binary.nr_segments, MAX_SEGMENTS);
	bb_release(&b);
	free(many_lines);
	free(many_segments);
	record_codec_release(&codec);
}

static void test_what_cannot_be_written(void **state)
{
	const struct record no_key = { .tag = REC_META, .meta = { "", "v", 1 } };
	const struct record long_key = {
		.tag = REC_META,
		.meta = {"a.key.of.sixty.four.octets.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "v",
			 1},
	};
	const struct record long_id = {.tag = REC_BINARY, .binary = {.id = 1, .build_id_len = 65}};
	static const struct rec_run none[] = {{1, 0}}, zero[] = {{0, 2}}, again[] = {{1, 2}, {2, 1}};
	static const struct rec_run *const bad_runs[] = {none, zero, again};
	struct record repeat = {.tag = REC_REPEAT, .repeat = {.scan = 1}};
	const struct record_codec codec = { 0 };
	struct byte_buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < LEN(bad_runs); i++) {
		repeat.repeat.runs = bad_runs[i];
		repeat.repeat.nr_runs = bad_runs[i] == again ? 2 : 1;
		assert_int_equal(record_encode(&codec, &b, &repeat), -EINVAL);
	}
	assert_int_equal(strlen(long_key.meta.key), MAX_META_KEY + 1);
	assert_int_equal(record_encode(&codec, &b, &no_key), -EINVAL);
	assert_int_equal(record_encode(&codec, &b, &long_key), -EINVAL);
	assert_int_equal(record_encode(&codec, &b, &long_id), -EINVAL);
	bb_release(&b);
}

/* Hostile payloads: each breaks one rule of TRACE.md. */
static void test_bad_values_are_refused(void **state)
{
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
	static const struct record meta = {.tag = REC_META}, str = {.tag = REC_STRING},
				   sym = {.tag = REC_SYMBOL}, thread = {.tag = REC_THREAD},
				   node = {.tag = REC_NODE, .node = {.id = 5}},
				   bin = {.tag = REC_BINARY}, repeat = {.tag = REC_REPEAT};
	const struct {
		const struct record *like;
		const uint8_t *data;
		size_t len;
	} bad[] = {
		{ &meta, BYTES(0, 0) },					/* empty key */
		{ &meta, BYTES(2, 'a', 0, 0) },				/* NUL in the key */
		{ &str, BYTES(5, 'a') },				/* longer than the payload */
		{ &str, BYTES(0x81, 0x80, 0x04, 'a') },			/* longer than any text */
		{ &str, BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02) },	/* 65 bits */
		{ &str, BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00) },	/* 11 bytes */
		{ &thread, BYTES(0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 0, 0) },	/* id of 33 bits */
		{ &node, BYTES(5, 1) },					/* parent 0 by distance */
		{ &node, BYTES(6, 1) },					/* parent before the first */
		{ &sym, BYTES(1, 0, 0, 2, 1, 1, 1) },			/* more lines than bytes */
		{ &sym, BYTES(1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01) },
		{ &repeat, BYTES(0, 1, 1, 0, 0) },			/* empty run */
		{ &repeat, BYTES(0, 1, 2, 0, 1, 0) },			/* more runs than bytes */
		{ &repeat, BYTES(0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 1) },
		{ &repeat, BYTES(0, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1) },	/* thread 2^32 */
		{ &repeat, BYTES(0, 1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f) },	/* up to there */
		{ &repeat, BYTES(0, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 1) },	/* gap of 33 bits */
		{ &bin, BYTES(1, 0, 0, 65, 0) },			/* build id too long */
		{ &bin, BYTES(1, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0) },	/* more segments than bytes */
	};
	struct record_codec codec = { 0 };
	struct record out;

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++)
		assert_int_equal(decode(&codec, bad[i].data, bad[i].len, bad[i].like, &out),
				 -EBADMSG);
	record_codec_release(&codec);
}

/* The layout itself: these bytes must never change. */
static void test_golden_bytes(void **state)
{
	static const struct record taskev = {.tag = REC_TASKEV,
					     .taskev = {BASE - 1, TASK_FORK, 300, 2}};
	static const struct record lost = {.tag = REC_LOST,
					   .lost = {BASE + 64, 5, LOSS_THROTTLED, UINT32_MAX, 128}};
	static const struct record node = { .tag = REC_NODE, .node = { 10, 7, 300 } };
	static const struct rec_run some[] = {{1, 300}, {303, 2}};
	static const struct record repeat = {.tag = REC_REPEAT, .repeat = {BASE + 1, 5, some, 2}};
	static const struct {
		const struct record *rec;
		const char *bytes;
		size_t len;
	} golden[] = {
		{ &taskev, "\x01\x00\xac\x02\x02", 5 },
		{ &lost, "\x80\x01\x05\x03\x00\x80\x01", 7 },
		{ &node, "\x03\xac\x02", 3 },
		{ &repeat, "\x02\x05\x02\x00\xac\x02\x02\x02", 8 },
	};
	const struct record_codec codec = { .time_base_ns = BASE };

	(void)state;
	for (size_t i = 0; i < LEN(golden); i++) {
		struct byte_buf b = { 0 };

		assert_int_equal(record_encode(&codec, &b, golden[i].rec), 0);
		assert_int_equal(b.nr, golden[i].len);
		assert_memory_equal(b.v, golden[i].bytes, b.nr);
		bb_release(&b);
	}
}

static void test_layout_of_the_outer_frames(void **state)
{
	struct ident id = {1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}, id2;
	struct signpost sp = { 7, 1, 2, 3, 4, 5, 6, 7 }, sp2;
	uint8_t ident[IDENT_SIZE], signpost[SIGNPOST_SIZE], again[SIGNPOST_SIZE];

	(void)state;
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	ident_encode(ident, &id);
	signpost_encode(signpost, &sp);
	assert_memory_equal(ident, "\x50\x2a\x4d\x18\x23\0\0\0PROBEE-PBZ\0\1\2\3\0\1\2\3\4", 27);
	assert_memory_equal(signpost,
			    "\x51\x2a\x4d\x18\x2c\0\0\0\7\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5",
			    29);
	assert_true(ident_decode(ident, sizeof(ident), &id2));
	ident_encode(again, &id2);
	assert_memory_equal(again, ident, sizeof(ident));
	assert_true(signpost_decode(signpost, sizeof(signpost), &sp2));
	signpost_encode(again, &sp2);
	assert_memory_equal(again, signpost, sizeof(signpost));
	assert_int_equal(ident_segment(&id), 0x04030201);
	for (size_t bit = 0; bit < 8 * sizeof(ident); bit++) {
		ident[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(ident_decode(ident, sizeof(ident), &id2));
		ident[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < 8 * sizeof(signpost); bit++) {
		signpost[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(signpost_decode(signpost, sizeof(signpost), &sp2));
		signpost[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_come_back),
		cmocka_unit_test(test_old_scan),
		cmocka_unit_test(test_short_payloads_are_refused),
		cmocka_unit_test(test_every_type_has_a_codec),
		cmocka_unit_test(test_references_go_to_types_before),
		cmocka_unit_test(test_long_text_is_cut_visibly),
		cmocka_unit_test(test_long_lists_are_cut),
		cmocka_unit_test(test_what_cannot_be_written),
		cmocka_unit_test(test_bad_values_are_refused),
		cmocka_unit_test(test_golden_bytes),
		cmocka_unit_test(test_layout_of_the_outer_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
