/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/chunk_decoder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/trace_layout.h"

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* STRING first 1: "a", "b"; EVENT 1; PROCESS 1; THREAD 1; FRAME 1; NODE 1. */
#define TABLES 5, 6, 1, 2, 1, 'a', 1, 'b', 21, 6, 1, 1, 0, 0, 1, 2, 9, 11, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, \
	11, 6, 1, 1, 1, 2, 0, 0, 15, 6, 1, 1, 0, 0, 0, 5, 17, 4, 1, 1, 0, 1
enum { TABLES_RECORDS = 7 };

/*
 * Reads all records of a chunk; the decoder's last answer. The bytes are copied, so that ASan
 * guards them.
 */
static int read_chunk(struct chunk_decoder *d, const uint8_t *records, size_t len, size_t *nr)
{
	uint8_t *exact = malloc(len);
	struct record rec;
	int rc;

	memcpy(exact, records, len);
	chunk_decoder_begin(d, exact, len, 0);
	for (*nr = 0; (rc = chunk_decoder_next(d, &rec)) > 0; ++*nr)
		;
	assert_int_equal(chunk_decoder_next(d, &rec), 0);	/* nothing more comes of it */
	free(exact);
	return rc;
}

static const struct {
	const uint8_t *records;
	size_t len, good;	/* records read */
	bool bad;
} record_cases[] = {
	{ BYTES(TABLES), TABLES_RECORDS, 0 },
	{ BYTES(TABLES, 62, 2, 9, 9, 5, 4, 3, 1, 1, 'c'), TABLES_RECORDS + 1, 0 },	/* unknown ancillary */
	{ BYTES(TABLES, 5, 6, 3, 1, 1, 'c', 7, 7), TABLES_RECORDS + 1, 0 },	/* payload has grown */
	{ BYTES(TABLES, 5, 4, 2, 1, 1, 'c'), TABLES_RECORDS, 1 },		/* id twice */
	{ BYTES(TABLES, 5, 4, 0, 1, 1, 'c'), TABLES_RECORDS, 1 },		/* id 0 */
	{ BYTES(TABLES, 5, 6, 0x80, 0x80, 0x41, 1, 1, 'c'), TABLES_RECORDS, 1 },	/* hole of more than 2^20 */
	{ BYTES(TABLES, 5, 6, 0x80, 0x80, 0x40, 1, 1, 'c'), TABLES_RECORDS + 1, 0 },
	{ BYTES(TABLES, 5, 4, 3, 5, 1, 'c'), TABLES_RECORDS, 1 },		/* more items than bytes */
	{ BYTES(TABLES, 5, 13, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 'c'), TABLES_RECORDS, 1 },
	{ BYTES(TABLES, 5, 9, 3, 1, 1, 'c'), TABLES_RECORDS, 1 },		/* longer than the chunk */
	{ BYTES(TABLES, 17, 4, 2, 1, 2, 1), TABLES_RECORDS, 1 },		/* its own parent's parent */
	{ BYTES(TABLES, 17, 4, 2, 1, 1, 2), TABLES_RECORDS, 1 },		/* frame not defined */
	{ BYTES(TABLES, 15, 6, 2, 1, 0, 0, 1, 5), TABLES_RECORDS, 1 },		/* binary not defined */
	{ BYTES(TABLES, 20, 7, 1, 1, 0, 0, 1, 1, 0, 0), TABLES_RECORDS, 1 },	/* function not defined */
	{ BYTES(TABLES, 20, 5, 1, 0, 0, 0, 0), TABLES_RECORDS, 1 },		/* name of frame 0 */
	{ BYTES(TABLES, 12, 4, 0, 2, 1, 2), TABLES_RECORDS + 1, 0 },		/* COMM "b" */
	{ BYTES(TABLES, 12, 4, 0, 2, 1, 3), TABLES_RECORDS, 1 },		/* COMM not defined */
	{ BYTES(TABLES, 12, 4, 0, 0, 1, 2), TABLES_RECORDS, 1 },		/* FORK of nobody */
	{ BYTES(TABLES, 12, 4, 0, 9, 1, 99), TABLES_RECORDS + 1, 0 },		/* unknown event */
	{ BYTES(5), 0, 1 },
	{ BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), 0, 1 },
};

static void test_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(record_cases) / sizeof(record_cases[0]); i++) {
		struct chunk_decoder d = { 0 };
		size_t nr;
		int rc = read_chunk(&d, record_cases[i].records, record_cases[i].len, &nr);

		assert_int_equal(rc, record_cases[i].bad ? -EBADMSG : 0);
		assert_int_equal(nr, record_cases[i].good);
		chunk_decoder_release(&d);
	}
}

/* Two rows of time 1, 3; thread 1; stack 1. */
#define SAMPLES(len, ...) TABLES, 25, len, __VA_ARGS__
static const struct {
	const uint8_t *records;
	size_t len, rows;
	bool bad;
} column_cases[] = {
	{ BYTES(SAMPLES(7, 2, 1, 1, 4, 2, 1, 2)), 2, 0 },
	{ BYTES(SAMPLES(11, 2, 2, 1, 4, 2, 1, 2, 5, 1, 1, 1)), 2, 0 },
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 5, 3, 2, 2, 1)), 2, 0 },
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 13, 2, 2, 3, 2)), 2, 0 },
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 62, 9, 2, 1, 1)), 2, 0 },	/* unknown, ancillary */
	{ BYTES(SAMPLES(1, 0)), 0, 1 },						/* no column count */
	{ BYTES(SAMPLES(2, 0, 0)), 0, 0 },					/* no rows */
	{ BYTES(SAMPLES(4, 2, 0, 0, 0)), 0, 1 },				/* no times */
	{ BYTES(SAMPLES(6, 2, 1, 1, 4, 1, 1)), 0, 1 },				/* one time for two */
	{ BYTES(SAMPLES(8, 2, 1, 1, 4, 3, 1, 2, 1)), 0, 1 },			/* three times for two */
	{ BYTES(SAMPLES(7, 2, 1, 1, 0, 2, 1, 2)), 0, 1 },			/* times not ascending-coded */
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 5, 9, 2, 1, 1)), 0, 1 },	/* unknown encoding */
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 5, 4, 2, 1, 0)), 0, 1 },	/* ascending is for times */
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 5, 3, 2, 1, 1)), 0, 1 },	/* runs too short */
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 5, 3, 2, 3, 1)), 0, 1 },	/* runs too long */
	{ BYTES(SAMPLES(14, 2, 2, 1, 4, 2, 1, 2, 5, 3, 4, 0, 1, 2, 1)), 0, 1 },	/* empty run */
	{ BYTES(SAMPLES(11, 2, 2, 1, 4, 2, 1, 2, 5, 1, 1, 2)), 0, 1 },		/* thread not defined */
	{ BYTES(SAMPLES(11, 2, 2, 1, 4, 2, 1, 2, 9, 1, 1, 2)), 0, 1 },		/* stack not defined */
	{ BYTES(SAMPLES(12, 2, 2, 1, 4, 2, 1, 2, 15, 1, 2, 0x80, 2)), 0, 1 },	/* state of nine bits */
	{ BYTES(SAMPLES(15, 2, 3, 1, 4, 2, 1, 2, 5, 1, 1, 1, 5, 1, 1, 1)), 0, 1 },	/* column twice */
	{ BYTES(SAMPLES(16, 2, 1, 1, 4, 11, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)), 0, 1 },
	{ BYTES(SAMPLES(7, 0x90, 0x91, 0x92, 0x13, 1, 1, 4)), 0, 1 },		/* rows without bytes */
};

static void test_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(column_cases) / sizeof(column_cases[0]); i++) {
		struct chunk_decoder d = { 0 };
		size_t nr;
		int rc = read_chunk(&d, column_cases[i].records, column_cases[i].len, &nr);

		assert_int_equal(rc, column_cases[i].bad ? -EBADMSG : 0);
		assert_int_equal(nr, TABLES_RECORDS + column_cases[i].rows);
		assert_int_equal(d.record_count[REC_SAMPLE], column_cases[i].rows);
		chunk_decoder_release(&d);
	}
}

static void test_values_of_columns(void **state)
{
	static const uint8_t chunk[] = {
		TABLES, 25, 39, 2, 8,
		1, 4, 2, 1, 2,			/* time 101, 103 */
		3, 1, 1, 1,			/* event 1 */
		7, 0, 2, 0, 3,			/* cpu none, 2 */
		11, 3, 2, 2, 1,			/* ustack 1, 1 */
		13, 2, 2, 6, 3,			/* weight 3, 1 */
		16, 1, 1, 9,			/* end 9 */
		18, 1, 2, 0x80, 1,		/* flags 128 */
		20, 1, 1, 4,			/* walk 4 */
	};
	struct chunk_decoder d = { 0 };
	struct record rec;

	(void)state;
	chunk_decoder_begin(&d, chunk, sizeof(chunk), 100);
	for (int i = 0; i <= TABLES_RECORDS; i++)
		assert_int_equal(chunk_decoder_next(&d, &rec), 1);
	assert_int_equal(rec.tag, REC_SAMPLE);
	assert_int_equal(rec.sample.time_ns, 101);
	assert_int_equal(rec.sample.cpu, UINT32_MAX);
	assert_int_equal(rec.sample.weight, 3);
	assert_int_equal(rec.sample.thread, 0);
	assert_int_equal(chunk_decoder_next(&d, &rec), 1);
	assert_int_equal(rec.sample.time_ns, 103);
	assert_int_equal(rec.sample.event, 1);
	assert_int_equal(rec.sample.cpu, 2);
	assert_int_equal(rec.sample.kstack, 0);
	assert_int_equal(rec.sample.ustack, 1);
	assert_int_equal(rec.sample.weight, 1);
	assert_int_equal(rec.sample.end, 9);
	assert_int_equal(rec.sample.flags, 128);
	assert_int_equal(rec.sample.scan, 4);
	assert_int_equal(chunk_decoder_next(&d, &rec), 0);
	chunk_decoder_release(&d);
}

/* Deeper than the limit: refused, and a later reference to the refused node as well. */
static void test_deep_stacks(void **state)
{
	struct byte_buf nodes = { 0 }, chunk = { 0 };
	struct chunk_decoder d = { 0 };
	size_t nr;

	(void)state;
	bb_uv(&nodes, 2);
	bb_uv(&nodes, MAX_DEPTH);
	for (unsigned i = 0; i < MAX_DEPTH; i++)
		bb_bytes(&nodes, "\x01\x01", 2);
	bb_bytes(&chunk, BYTES(TABLES));
	bb_uv(&chunk, REC_NODE);
	bb_uv(&chunk, nodes.nr);
	bb_bytes(&chunk, nodes.v, nodes.nr);
	assert_int_equal(read_chunk(&d, chunk.v, chunk.nr, &nr), -EBADMSG);
	assert_int_equal(nr, TABLES_RECORDS + MAX_DEPTH - 1);
	chunk.nr = nodes.nr = 0;
	bb_uv(&nodes, MAX_DEPTH + 2);
	bb_bytes(&nodes, "\x01\x01\x01", 3);
	bb_uv(&chunk, REC_NODE);
	bb_uv(&chunk, nodes.nr);
	bb_bytes(&chunk, nodes.v, nodes.nr);
	assert_int_equal(read_chunk(&d, chunk.v, chunk.nr, &nr), -EBADMSG);
	assert_int_equal(nr, 0);
	bb_release(&nodes);
	bb_release(&chunk);
	chunk_decoder_release(&d);
}

/* With gaps: what is not known is 0, and the name of an unknown frame is left out. */
static void test_gaps(void **state)
{
	static const uint8_t chunk[] = {
		TABLES, 11, 6, 2, 7, 3, 9, 0, 0,		/* THREAD 2 of process 7, comm 9 */
		20, 8, 1, 1, 0, 0, 1, 8, 0, 0,			/* SYMBOL of frame 1: function 8 */
		20, 5, 1, 5, 0, 0, 0,				/* SYMBOL of frame 5 */
		17, 5, 0x80, 8, 1, 0x81, 8,			/* a malformed NODE: cut short */
	};
	struct chunk_decoder d = { .tables.has_gaps = true };
	struct record rec;

	(void)state;
	chunk_decoder_begin(&d, chunk, sizeof(chunk), 0);
	for (int i = 0; i <= TABLES_RECORDS; i++)
		assert_int_equal(chunk_decoder_next(&d, &rec), 1);
	assert_int_equal(rec.thread.process, 0);
	assert_int_equal(rec.thread.comm, 0);
	assert_int_equal(chunk_decoder_next(&d, &rec), 1);
	assert_int_equal(rec.symbol.nr_lines, 1);
	assert_int_equal(rec.symbol.lines[0].func, 0);
	assert_int_equal(chunk_decoder_next(&d, &rec), -EBADMSG);
	chunk_decoder_begin_segment(&d);
	assert_false(d.tables.has_gaps);
	chunk_decoder_release(&d);
}

/* Ids start again, and what the segment before defined is unknown. */
static void test_segments(void **state)
{
	struct chunk_decoder d = { 0 };
	size_t nr;

	(void)state;
	for (int i = 0; i < 2; i++) {
		chunk_decoder_begin_segment(&d);
		assert_int_equal(read_chunk(&d, BYTES(TABLES), &nr), 0);
		assert_int_equal(nr, TABLES_RECORDS);
	}
	chunk_decoder_begin_segment(&d);
	assert_int_equal(read_chunk(&d, BYTES(17, 4, 2, 1, 1, 1), &nr), -EBADMSG);
	assert_int_equal(d.record_count[REC_STRING], 4);
	chunk_decoder_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_values_of_columns),
		cmocka_unit_test(test_deep_stacks),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
