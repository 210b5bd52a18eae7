/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_reader.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "formats/trace/trace_layout.h"
#include "src/base/clock.h"
#include "src/base/io.h"
#include "tests/unit/record_log.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_fixture.h"

enum { SEGMENT = 0x04030201, MAX_PARTS = 64 };

static char dir[] = "/tmp/test_trace_reader.XXXXXX";
static char path[64];

/* The fixture in several chunks, as bytes, and where each chunk ends. */
static struct byte_buf trace;
static struct record_log whole;
static size_t nr_parts;
static uint64_t part_end[MAX_PARTS];		/* bytes of the file */
static size_t part_records[MAX_PARTS];		/* records up to there */

struct parts {
	struct trace_writer *w;
	size_t nr;
};

static int add_part(void *ctx, const struct record *rec)
{
	struct parts *p = ctx;
	struct trace_writer_stats stats;
	int err = trace_writer_record(p->w, rec);

	if (err || (++p->nr % 12 && rec->tag != REC_END))
		return err;
	err = trace_writer_flush(p->w);
	trace_writer_stats(p->w, &stats);
	part_end[nr_parts] = stats.file_bytes;
	part_records[nr_parts++] = p->nr;
	return err;
}

static int write_parts(void)
{
	struct parts p = { 0 };
	int err = trace_writer_open(path, NULL, &p.w);

	nr_parts = 0;
	if (!err)
		err = trace_fixture_emit(add_part, &p);
	return trace_writer_close(p.w) ? -1 : err;
}

static void load_file(struct byte_buf *b)
{
	char *text;
	ssize_t n = io_read_file(path, &text, 64 << 20);

	assert_true(n > 0);
	bb_bytes(b, text, (size_t)n);
	free(text);
}

/* Reads bytes; *st (may be NULL) says how it went. -errno of open or of the last record. */
static int read_bytes(const void *data, size_t len, struct record_log *log,
		       struct trace_status *st)
{
	struct trace_reader *r;
	int err;

	err = trace_reader_open_memory(data, len, NULL, &r);
	if (err)
		return err;
	err = record_log_read(log, r);
	if (st)
		*st = *trace_reader_status(r);
	trace_reader_close(r);
	return err;
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.pbz", dir);
	if (write_parts() || nr_parts < 5)
		return -1;
	load_file(&trace);
	return read_bytes(trace.v, trace.nr, &whole, NULL);
}

static int teardown(void **state)
{
	(void)state;
	bb_release(&trace);
	record_log_release(&whole);
	unlink(path);
	return rmdir(dir);
}

static void test_chunks_come_back(void **state)
{
	struct record_log in = { 0 }, out = { 0 };
	struct trace_status st;

	(void)state;
	trace_fixture_emit(record_log_add, &in);
	assert_int_equal(read_bytes(trace.v, trace.nr, &out, &st), 0);
	assert_true(record_log_same(&in, &out));
	assert_int_equal(st.chunks, nr_parts);
	assert_int_equal(st.file_bytes, trace.nr);
	assert_int_equal(st.bad_chunks + st.skipped_bytes + st.skipped_records, 0);
	assert_true(st.has_end && !st.truncated);
	record_log_release(&in);
	record_log_release(&out);
}

/* Whole chunks before the cut, nothing of the one that is cut, and the flag. */
static void test_every_truncation(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < trace.nr; cut++) {
		struct record_log out = { 0 };
		struct trace_status st = { 0 };
		size_t parts = 0, records;
		uint8_t *exact = malloc(cut ? cut : 1);
		int err;

		memcpy(exact, trace.v, cut);
		while (parts < nr_parts && part_end[parts] <= cut)
			parts++;
		records = parts ? part_records[parts - 1] : 0;
		stderr_begin();
		err = read_bytes(exact, cut, &out, &st);
		stderr_end();
		free(exact);
		assert_int_equal(err, cut < IDENT_SIZE ? -ENOEXEC : 0);
		assert_int_equal(out.nr, records);
		assert_true(record_log_is_prefix(&out, &whole));
		if (!err)
			assert_int_equal(st.truncated,
					 cut != IDENT_SIZE &&
						 (!parts || cut != part_end[parts - 1]));
		assert_int_equal(st.bad_chunks, 0);
		assert_false(st.has_end);
		record_log_release(&out);
	}
}

/*
 * A flipped bit is noticed or does not matter; what is read is never something else than was
 * written. All bits of the first chunk and one of each byte of the others.
 */
static void test_flipped_bits(void **state)
{
	size_t undetected = 0, tried = 0;

	(void)state;
	for (size_t bit = 0; bit < 8 * trace.nr; bit += bit < 8 * part_end[0] ? 1 : 9, tried++) {
		struct record_log out = { 0 };
		struct trace_status st = { 0 };
		int err;

		trace.v[bit / 8] ^= (uint8_t)(1 << bit % 8);
		stderr_begin();
		err = read_bytes(trace.v, trace.nr, &out, &st);
		stderr_end();
		trace.v[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(err, 0);
		if (!(st.bad_chunks || st.skipped_bytes || st.truncated)) {
			undetected++;
			assert_true(bytes_equal(&out.all, &whole.all));
		}
		assert_true(out.nr <= whole.nr);
		record_log_release(&out);
	}
	assert_true(undetected < tried / 100);	/* zstd has bits that mean nothing */
}

static void test_concatenation(void **state)
{
	struct byte_buf two = { 0 };
	struct record_log out = { 0 };
	struct trace_status st;

	(void)state;
	bb_bytes(&two, trace.v, trace.nr);
	bb_bytes(&two, trace.v, trace.nr);
	assert_int_equal(read_bytes(two.v, two.nr, &out, &st), 0);
	assert_int_equal(st.nr_segments, 2);
	assert_int_equal(st.segment, 1);
	assert_int_equal(out.nr, 2 * whole.nr);
	assert_memory_equal(out.all.v + whole.all.nr, whole.all.v, whole.all.nr);
	assert_true(st.has_end);
	record_log_release(&out);

	/* The first one cut off: the second is whole. */
	two.nr = part_end[1] + 20;
	bb_bytes(&two, trace.v, trace.nr);
	assert_int_equal(read_bytes(two.v, two.nr, &out, &st), 0);
	assert_int_equal(out.nr, part_records[1] + whole.nr);
	assert_int_equal(st.skipped_bytes, 20);
	assert_int_equal(st.nr_segments, 2);
	assert_false(st.truncated);
	record_log_release(&out);
	bb_release(&two);
}

/* A chunk in the middle is lost: those behind it are read, with ids of what was lost in it or 0. */
static void test_damage_in_the_middle(void **state)
{
	struct record_log out = { 0 };
	struct trace_status st;

	(void)state;
	for (size_t part = 0; part + 1 < nr_parts; part++) {
		size_t lost = part_records[part] - (part ? part_records[part - 1] : 0);
		uint64_t at = part_end[part] - 10;

		trace.v[at] ^= 0xff;
		assert_int_equal(read_bytes(trace.v, trace.nr, &out, &st), 0);
		trace.v[at] ^= 0xff;
		assert_int_equal(st.bad_chunks, 1);
		assert_int_equal(st.chunks, nr_parts - 1);
		assert_true(st.has_end && !st.truncated);
		assert_true(out.nr + lost <= whole.nr);		/* less the names of lost frames */
		assert_true(out.nr + lost + 9 >= whole.nr);
		record_log_release(&out);
	}
}

/* Bytes that went missing altogether: the next signpost is found, wherever it is now. */
static void test_missing_bytes(void **state)
{
	(void)state;
	for (size_t cut = IDENT_SIZE; cut + 50 < part_end[nr_parts - 2]; cut += 7) {
		struct byte_buf b = { 0 };
		struct record_log out = { 0 };
		struct trace_status st;

		bb_bytes(&b, trace.v, cut);
		bb_bytes(&b, trace.v + cut + 50, trace.nr - cut - 50);
		assert_int_equal(read_bytes(b.v, b.nr, &out, &st), 0);
		assert_true(st.bad_chunks >= 1 && st.bad_chunks <= 2);
		assert_true(st.has_end && st.skipped_bytes > 0);
		assert_int_equal(st.chunks + st.bad_chunks, nr_parts);
		record_log_release(&out);
		bb_release(&b);
	}
}

/* A chunk by hand: whatever records, whatever the signpost says. */
static void put_frames(struct byte_buf *b, struct signpost sp, const void *raw, size_t len)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(len), n;
	uint8_t *data = malloc(room), head[SIGNPOST_SIZE];

	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(zstd, data, room, raw, len);
	assert_false(ZSTD_isError(n));
	if (!sp.data_size)
		sp.data_size = (uint32_t)n;
	if (!sp.raw_size)
		sp.raw_size = (uint32_t)len;
	signpost_encode(head, &sp);
	bb_bytes(b, head, sizeof(head));
	bb_bytes(b, data, n);
	free(data);
	ZSTD_freeCCtx(zstd);
}

static void put_ident(struct byte_buf *b, uint8_t major, uint16_t flags)
{
	struct ident id = { .major = major, .flags = flags, .uuid = { 1, 2, 3, 4 } };
	uint8_t frame[IDENT_SIZE];

	ident_encode(frame, &id);
	bb_bytes(b, frame, sizeof(frame));
}

static void put_chunk(struct byte_buf *b, uint32_t seq, const void *records, size_t len)
{
	struct chunk_head head = { SEGMENT, seq, (uint32_t)len, 0 };
	struct byte_buf raw = { 0 };
	uint8_t head_bytes[CHUNK_HEAD_SIZE];

	chunk_head_encode(head_bytes, &head);
	bb_bytes(&raw, head_bytes, sizeof(head_bytes));
	bb_bytes(&raw, records, len);
	put_frames(b, (struct signpost){ .segment = SEGMENT, .seq = seq }, raw.v, raw.nr);
	bb_release(&raw);
}

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* STRING first 1: "a", "b"; EVENT 1; PROCESS 1; THREAD 1; FRAME 1; NODE 1. */
#define TABLES 5, 6, 1, 2, 1, 'a', 1, 'b', 21, 6, 1, 1, 0, 0, 1, 2, 9, 11, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, \
	11, 6, 1, 1, 1, 2, 0, 0, 15, 6, 1, 1, 0, 0, 0, 5, 17, 4, 1, 1, 0, 1
enum { TABLES_RECORDS = 7 };

static const struct {
	const uint8_t *records;
	size_t len;
	uint8_t major;
	uint16_t flags;
} newer_cases[] = {
	{ BYTES(TABLES, 33, 1, 0), TRACE_MAJOR, 0 },				/* critical record */
	{ BYTES(TABLES, 0xf1, 7, 1, 0), TRACE_MAJOR, 0 },
	{ BYTES(TABLES, 25, 11, 2, 2, 1, 4, 2, 1, 2, 33, 1, 1, 1), TRACE_MAJOR, 0 },	/* critical column */
	{ BYTES(TABLES), TRACE_MAJOR + 1, 0 },
	{ BYTES(TABLES), TRACE_MAJOR, 0x100 },					/* critical flag */
};

static void test_newer_formats_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(newer_cases) / sizeof(newer_cases[0]); i++) {
		struct record_log out = { 0 };
		struct byte_buf b = { 0 };
		const char *said;
		int err;

		put_ident(&b, newer_cases[i].major, newer_cases[i].flags);
		put_chunk(&b, 0, newer_cases[i].records, newer_cases[i].len);
		stderr_begin();
		err = read_bytes(b.v, b.nr, &out, NULL);
		said = stderr_end();
		assert_int_equal(err, -EPROTONOSUPPORT);
		assert_non_null(strstr(said, "was written by a newer probee"));
		assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said));	/* one line */
		record_log_release(&out);
		bb_release(&b);
	}
}

static void test_ancillary_flags_and_minor_are_ignored(void **state)
{
	struct record_log out = { 0 };
	struct byte_buf b = { 0 };

	(void)state;
	put_ident(&b, TRACE_MAJOR, 0xff);
	put_chunk(&b, 0, BYTES(TABLES));
	assert_int_equal(read_bytes(b.v, b.nr, &out, NULL), 0);
	assert_int_equal(out.nr, TABLES_RECORDS);
	record_log_release(&out);
	bb_release(&b);
}

/* Frames that are not ours are part of zstd's format; they are skipped when the file has them whole. */
static void test_foreign_skippable_frames(void **state)
{
	struct record_log out = { 0 };
	struct byte_buf b = { 0 };
	struct trace_status st;

	(void)state;
	bb_bytes(&b, "\x5e\x2a\x4d\x18\x03\0\0\0abc", 11);
	put_ident(&b, TRACE_MAJOR, 0);
	bb_bytes(&b, "\x52\x2a\x4d\x18\x00\0\0\0", 8);
	put_chunk(&b, 0, BYTES(TABLES));
	bb_bytes(&b, "\x5f\x2a\x4d\x18\xff\xff\xff\xff", 8); /* damaged: reaches behind the end */
	put_chunk(&b, 1, BYTES(5, 4, 3, 1, 1, 'c'));
	assert_int_equal(read_bytes(b.v, b.nr, &out, &st), 0);
	assert_int_equal(out.nr, TABLES_RECORDS + 1);
	assert_int_equal(st.skipped_bytes, 11 + 8 + 8);
	assert_int_equal(st.bad_chunks, 0);
	record_log_release(&out);
	bb_release(&b);
}

/* Without its IDENT a segment is told by its signposts; what refers to lost chunks reads as 0. */
static void test_lost_chunks(void **state)
{
	struct byte_buf b = { 0 };
	struct trace_reader *r;
	struct trace_status st;
	struct record rec;
	unsigned samples = 0;

	(void)state;
	put_chunk(&b, 5, BYTES(25, 11, 2, 2, 1, 4, 2, 1, 2, 5, 1, 1, 9));	/* thread 9 was defined before */
	put_chunk(&b, 6, BYTES(TABLES));
	put_chunk(&b, 6, BYTES(5, 4, 3, 1, 1, 'c'));				/* a copy of what was read */
	put_chunk(&b, 9, BYTES(5, 5, 0x80, 8, 1, 1, 'd', 20, 5, 1, 77, 0, 0, 0));	/* 1024; a lost frame's name */
	assert_int_equal(trace_reader_open_memory(b.v, b.nr, NULL, &r), 0);
	while (trace_reader_next(r, &rec) > 0) {
		if (rec.tag == REC_SAMPLE) {
			assert_int_equal(rec.sample.thread, 0);
			samples++;
		}
		assert_int_not_equal(rec.tag, REC_SYMBOL);
	}
	st = *trace_reader_status(r);
	trace_reader_close(r);
	assert_int_equal(samples, 2);
	assert_int_equal(st.bad_chunks, 5 + 1 + 2);
	assert_int_equal(st.chunks, 3);
	assert_int_equal(st.nr_segments, 1);
	bb_release(&b);
}

/* Declared sizes are limits, not wishes: nothing is allocated or unpacked for these. */
static void test_bombs_are_refused_fast(void **state)
{
	enum { ZEROS = 64 << 20 };
	static const uint32_t sizes[][2] = {
		/* data, raw */
		{UINT32_MAX, 100},	  {100, UINT32_MAX}, {MAX_DATA_SIZE + 1, 100},
		{0, MAX_RAW_SIZE + 1},	  {0, ZEROS},	     {0, 1000},
		{0, CHUNK_HEAD_SIZE - 1},
	};
	/* A frame header that declares 2^62 bytes and a window of 2^41. */
	static const uint8_t huge[] = {0x28, 0xb5, 0x2f, 0xfd, 0xc4, 0xf8, 0, 0, 0, 0, 0,
				       0,    0,	   0x40, 1,    0,    0,	   1, 2, 3, 4};
	uint8_t *zeros = calloc(1, ZEROS);
	struct byte_buf b = { 0 };
	struct record_log out = { 0 };
	struct trace_status st;
	uint8_t frame[SIGNPOST_SIZE];
	uint64_t start;

	(void)state;
	put_ident(&b, TRACE_MAJOR, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put_frames(&b,
			   (struct signpost){.segment = SEGMENT,
					     .seq = (uint32_t)i,
					     .data_size = sizes[i][0],
					     .raw_size = sizes[i][1]},
			   zeros, ZEROS);
	signpost_encode(frame, &(struct signpost){.segment = SEGMENT,
						  .seq = 7,
						  .data_size = sizeof(huge),
						  .raw_size = 1000});
	bb_bytes(&b, frame, sizeof(frame));
	bb_bytes(&b, huge, sizeof(huge));
	put_chunk(&b, 8, BYTES(TABLES));
	free(zeros);
	start = now_ns();
	assert_int_equal(read_bytes(b.v, b.nr, &out, &st), 0);
	assert_true(now_ns() - start < NSEC_PER_SEC);
	assert_int_equal(st.bad_chunks, 8);
	assert_int_equal(out.nr, TABLES_RECORDS);
	record_log_release(&out);
	bb_release(&b);
}

static void test_limits_end_the_file(void **state)
{
	const struct trace_reader_options opts[] = { { .max_table_bytes = 200 }, { .max_work = 1 } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct record_log out = { 0 };
		struct trace_reader *r;
		struct record rec;

		assert_int_equal(trace_reader_open_memory(trace.v, trace.nr, &opts[i], &r), 0);
		for (int round = 0; round < 2; round++) {
			assert_int_equal(record_log_read(&out, r), 0);
			assert_true(out.nr < whole.nr);
			assert_true(trace_reader_status(r)->refused_bytes > 0);
			assert_true(trace_reader_status(r)->refused_bytes < trace.nr);
			assert_int_equal(trace_reader_next(r, &rec), 0);	/* it ends there */
			assert_int_equal(trace_reader_rewind(r), 0);
			assert_int_equal(trace_reader_status(r)->refused_bytes, 0);
		}
		trace_reader_close(r);
		record_log_release(&out);
	}
}

/* A recording of which there is nothing but its beginning is one that was not finished. */
static void test_idents_without_chunks(void **state)
{
	struct byte_buf b = { 0 };
	struct record_log out = { 0 };
	struct trace_status st;

	(void)state;
	bb_bytes(&b, trace.v, IDENT_SIZE);
	assert_int_equal(read_bytes(b.v, b.nr, &out, &st), 0);
	assert_int_equal(st.nr_segments, 0);
	assert_int_equal(st.empty_segments, 1);
	bb_bytes(&b, trace.v, trace.nr);
	bb_bytes(&b, trace.v, IDENT_SIZE);
	record_log_release(&out);
	assert_int_equal(read_bytes(b.v, b.nr, &out, &st), 0);
	assert_int_equal(st.nr_segments, 1);
	assert_int_equal(st.empty_segments, 2);
	record_log_release(&out);
	bb_release(&b);
}

static void test_rewind(void **state)
{
	struct record_log out = { 0 };
	struct trace_reader *r;
	struct record rec;

	(void)state;
	assert_int_equal(trace_reader_open(path, NULL, &r), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(trace_reader_next(r, &rec), 1);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(trace_reader_rewind(r), 0);
		assert_int_equal(record_log_read(&out, r), 0);
		assert_true(bytes_equal(&out.all, &whole.all));
		assert_int_equal(trace_reader_next(r, &rec), 0);	/* stays at the end */
		assert_int_equal(trace_reader_status(r)->chunks, nr_parts);
		assert_int_equal(trace_reader_status(r)->nr_segments, 1);
		record_log_release(&out);
	}
	trace_reader_close(r);
	trace_reader_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks_come_back),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_concatenation),
		cmocka_unit_test(test_damage_in_the_middle),
		cmocka_unit_test(test_missing_bytes),
		cmocka_unit_test(test_newer_formats_are_refused),
		cmocka_unit_test(test_ancillary_flags_and_minor_are_ignored),
		cmocka_unit_test(test_foreign_skippable_frames),
		cmocka_unit_test(test_lost_chunks),
		cmocka_unit_test(test_bombs_are_refused_fast),
		cmocka_unit_test(test_limits_end_the_file),
		cmocka_unit_test(test_idents_without_chunks),
		cmocka_unit_test(test_rewind),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
