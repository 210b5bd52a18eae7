/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/sample_columns.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "formats/trace/trace_layout.h"
#include "src/base/array.h"

enum encoding { ENC_PLAIN, ENC_CONST, ENC_DELTA, ENC_RUNS, ENC_ASCENDING, ENCODINGS };

enum { COL_TIME = 1, COL_CPU = 7, COL_SCAN = 20, COL_RAN = 22 };

union sample_references {
#define X(member, NAME) uint32_t member;
	SAMPLE_REFERENCES(X)
#undef X
};

/*
 * The columns, with their ids on disk. Differences are only tried where neighbours are really near:
 * for ids of stacks and threads, differences are shorter before zstd and longer after it.
 */
static const struct column {
	uint8_t id;			/* odd: critical, even: ancillary */
	uint8_t at, size;		/* member of struct rec_sample */
	uint8_t encodings;		/* bits of enum encoding to choose from */
} columns[] = {
#define ANY (1 << ENC_PLAIN | 1 << ENC_CONST | 1 << ENC_RUNS)
#define NEAR (ANY | 1 << ENC_DELTA)
#define RISING (1 << ENC_ASCENDING)
#define COLUMN(bits, id, member, encodings) \
	{ id, offsetof(struct rec_sample, member), (bits) / 8, encodings },
#define COLUMNS_6(bits, id, member, encodings) \
	COLUMN(bits, id, member[0], encodings) \
	COLUMN(bits, (id) + 2, member[1], encodings) \
	COLUMN(bits, (id) + 4, member[2], encodings) \
	COLUMN(bits, (id) + 6, member[3], encodings) \
	COLUMN(bits, (id) + 8, member[4], encodings) \
	COLUMN(bits, (id) + 10, member[5], encodings)
/* An id: a member that SAMPLE_REFERENCES does not have does not compile. */
#define REFERENCE(id, m) \
	{ id, offsetof(struct rec_sample, m), sizeof(((union sample_references *)0)->m), ANY },
#include "src/model/sample_columns.def"
};
enum { NR_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

void sample_columns_release(struct sample_columns *c)
{
	free(c->values);
	free(c->rows);
	memset(c, 0, sizeof(*c));
}

static unsigned uv_size(uint64_t v)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);

	return (bits * 9 + 64) / 64;
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t member_get(const void *p, unsigned size)
{
	if (size == 8)
		return *(const uint64_t *)p;
	return size == 4 ? *(const uint32_t *)p : *(const uint8_t *)p;
}

/* A time before or after the base, mostly before; 0 is an unknown time. */
static uint64_t ran_put(uint64_t ran_ns, uint64_t base)
{
	return ran_ns ? zigzag(base - ran_ns) + 1 : 0;
}

static uint64_t ran_get(uint64_t value, uint64_t base)
{
	uint64_t z = value - 1;

	return value ? base - (z >> 1 ^ -(z & 1)) : 0;
}

/*
 * Copies one member of all rows out. Times become distances from the base, and cpu is plus one so
 * that none is 0.
 */
static void column_gather(const struct column *col, const struct rec_sample *rows, size_t n,
			  uint64_t base, uint64_t *values)
{
	const char *p = (const char *)rows + col->at;

	for (size_t i = 0; i < n; i++, p += sizeof(*rows))
		values[i] = member_get(p, col->size);
	for (size_t i = 0; col->id == COL_TIME && i < n; i++)
		values[i] -= base;
	for (size_t i = 0; col->id == COL_CPU && i < n; i++)
		values[i] = (uint32_t)(values[i] + 1);
	for (size_t i = 0; col->id == COL_RAN && i < n; i++)
		values[i] = ran_put(values[i], base);
}

/* The encoding among those the column allows that makes it shortest. */
static enum encoding column_choose(const struct column *col, const uint64_t *v, size_t n)
{
	size_t size[ENCODINGS] = { 0 }, run = 0, nr_runs = 0;
	enum encoding best = ENC_CONST;

	if (col->encodings == 1 << ENC_ASCENDING)
		return ENC_ASCENDING;
	for (size_t i = 0; i < n; i++) {
		size[ENC_PLAIN] += uv_size(v[i]);
		size[ENC_DELTA] += uv_size(zigzag(v[i] - (i ? v[i - 1] : 0)));
		run++;
		if (i + 1 < n && v[i + 1] == v[i])
			continue;
		size[ENC_RUNS] += uv_size(run) + uv_size(v[i]);
		nr_runs++;
		run = 0;
	}
	if (nr_runs == 1)
		return ENC_CONST;
	best = ENC_PLAIN;
	for (unsigned e = ENC_DELTA; e <= ENC_RUNS; e++)
		if (col->encodings & 1 << e && size[e] < size[best])
			best = e;
	return best;
}

static void put_plain(struct byte_buf *b, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bb_uv(b, v[i]);
}

static void put_const(struct byte_buf *b, const uint64_t *v, size_t n)
{
	(void)n;
	bb_uv(b, v[0]);
}

static void put_delta(struct byte_buf *b, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bb_uv(b, zigzag(v[i] - (i ? v[i - 1] : 0)));
}

static void put_runs(struct byte_buf *b, const uint64_t *v, size_t n)
{
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && v[i + run] == v[i]; run++)
			;
		bb_uv(b, run);
		bb_uv(b, v[i]);
	}
}

static void put_ascending(struct byte_buf *b, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bb_uv(b, v[i] - (i ? v[i - 1] : 0));
}

static void (*const encoders[ENCODINGS])(struct byte_buf *b, const uint64_t *v, size_t n) = {
	[ENC_PLAIN] = put_plain, [ENC_CONST] = put_const,	  [ENC_DELTA] = put_delta,
	[ENC_RUNS] = put_runs,	 [ENC_ASCENDING] = put_ascending,
};

/*
 * Appends id, encoding, length, bytes. The length is known only afterwards, so the bytes are
 * moved then.
 */
static void column_put(const struct column *col, struct byte_buf *b, const uint64_t *values,
		       size_t n)
{
	enum encoding e = column_choose(col, values, n);
	struct byte_buf body = { 0 };

	bb_uv(b, col->id);
	bb_u8(b, (uint8_t)e);
	encoders[e](&body, values, n);
	bb_uv(b, body.nr);
	bb_bytes(b, body.v, body.nr);
	b->bad |= body.bad;
	bb_release(&body);
}

static bool column_is_absent(const uint64_t *values, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= values[i];
	return !all;
}

int sample_columns_encode(struct sample_columns *c, struct byte_buf *b,
			  const struct rec_sample *rows, size_t n, uint64_t time_base_ns)
{
	struct byte_buf body = { 0 };
	unsigned nr_columns = 0;

	if (array_reserve(&c->values, &c->cap_values, n))
		return -ENOMEM;
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		column_gather(&columns[i], rows, n, time_base_ns, c->values);
		if (columns[i].id != COL_TIME && column_is_absent(c->values, n))
			continue;
		column_put(&columns[i], &body, c->values, n);
		nr_columns++;
	}
	bb_uv(b, n);
	bb_uv(b, nr_columns);
	bb_bytes(b, body.v, body.nr);
	b->bad |= body.bad;
	bb_release(&body);
	return b->bad ? -ENOMEM : 0;
}

/* ---- reading ---- */

/*
 * Rows are read in blocks, all columns of a block before the next block: the rows of a block stay
 * in the cache while each column writes its member into them. Column by column, all rows would go
 * through the cache once for each.
 */
#define BLOCK 256

/* A column that is being read, and where its encoding has got to. */
struct cursor {
	const struct column *col;
	enum encoding encoding;
	struct byte_reader body;
	uint64_t value, run;		/* the last value; how many more rows have it */
	bool has_begun;			/* of ENC_CONST: its one value was read */
};

static void get_plain(struct cursor *c, uint64_t *v, size_t n)
{
	struct byte_reader r = c->body;

	for (size_t i = 0; i < n; i++)
		v[i] = br_left(&r) && *r.p < 0x80 ? *r.p++ : br_uv(&r);
	c->body = r;
}

static void get_const(struct cursor *c, uint64_t *v, size_t n)
{
	if (!c->has_begun)
		c->value = br_uv(&c->body);
	c->has_begun = true;
	for (size_t i = 0; i < n; i++)
		v[i] = c->value;
}

static void get_delta(struct cursor *c, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = c->value += (uint64_t)br_sv(&c->body);
}

static void get_runs(struct cursor *c, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t end;

		if (!c->run) {
			c->run = br_uv(&c->body);
			c->value = br_uv(&c->body);
			c->body.bad |= !c->run;
		}
		if (c->body.bad)
			return;
		end = c->run < n - i ? i + (size_t)c->run : n;
		c->run -= end - i;
		while (i < end)
			v[i++] = c->value;
	}
}

static void get_ascending(struct cursor *c, uint64_t *v, size_t n)
{
	struct byte_reader r = c->body;

	for (size_t i = 0; i < n; i++)
		v[i] = c->value += br_uv(&r);
	c->body = r;
}

static void (*const decoders[ENCODINGS])(struct cursor *c, uint64_t *v, size_t n) = {
	[ENC_PLAIN] = get_plain, [ENC_CONST] = get_const,	  [ENC_DELTA] = get_delta,
	[ENC_RUNS] = get_runs,	 [ENC_ASCENDING] = get_ascending,
};

/* True when a cursor has read all of its column, and no more than that. */
static bool cursor_is_done(const struct cursor *c)
{
	return !c->body.bad && !br_left(&c->body) && !c->run;
}

/* Writes one member of n rows; false if a value does not fit it. */
static bool column_scatter(const struct column *col, struct rec_sample *rows, size_t n,
			   uint64_t base, const uint64_t *values)
{
	uint64_t offset = col->id == COL_TIME ? base : col->id == COL_CPU ? UINT64_MAX : 0, all = 0;
	char *p = (char *)rows + col->at;

	if (col->id == COL_RAN)
		for (size_t i = 0; i < n; i++, p += sizeof(*rows))
			*(uint64_t *)p = ran_get(values[i], base);
	else if (col->size == 8)
		for (size_t i = 0; i < n; i++, p += sizeof(*rows))
			*(uint64_t *)p = values[i] + offset;
	else if (col->size == 4)
		for (size_t i = 0; i < n; i++, p += sizeof(*rows))
			*(uint32_t *)p = (uint32_t)(values[i] + offset);
	else
		for (size_t i = 0; i < n; i++, p += sizeof(*rows))
			*(uint8_t *)p = (uint8_t)values[i];
	for (size_t i = 0; i < n; i++)
		all |= values[i];
	return col->size == 8 || !(all >> 8 * col->size);
}

static const struct column *column_find(uint64_t id)
{
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (columns[i].id == id)
			return &columns[i];
	return NULL;
}

/* The columns of a payload that are known. */
struct cursors {
	struct cursor v[NR_COLUMNS];
	size_t nr;
	uint64_t seen;			/* a bit for each */
};

/* Takes the next column of a payload, without looking at its values. */
static int take_column(struct cursors *c, struct byte_reader *r)
{
	uint64_t id = br_uv(r);
	uint8_t e = br_u8(r);
	struct byte_reader body = br_sub(r, br_uv(r));
	const struct column *col = column_find(id);

	if (r->bad)
		return -EBADMSG;
	if (!col)
		return id & 1 ? -EPROTONOSUPPORT : 0;
	if (c->seen & 1ull << id || e >= ENCODINGS || (id == COL_TIME) != (e == ENC_ASCENDING))
		return -EBADMSG;
	c->seen |= 1ull << id;
	c->v[c->nr++] = (struct cursor){ .col = col, .encoding = e, .body = body };
	return 0;
}

static int take_columns(struct cursors *c, struct byte_reader *r, uint64_t nr)
{
	int err = 0;

	c->nr = c->seen = 0;
	for (uint64_t i = 0; i < nr && !err; i++)
		err = take_column(c, r);
	return !err && !(c->seen & 1ull << COL_TIME) ? -EBADMSG : err;
}

/* The column of numbers of scans; NULL: there is none, so no row is of a scan. */
static const struct cursor *scan_cursor(const struct cursors *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].col->id == COL_SCAN)
			return &c->v[i];
	return NULL;
}

/* The size of the block that begins at a row. */
static size_t rest(size_t nr, size_t at)
{
	return nr - at < BLOCK ? nr - at : BLOCK;
}

/* How many of the next n rows, at most BLOCK, are of scans. */
static size_t next_scan_rows(struct cursor *scan, size_t n)
{
	uint64_t values[BLOCK] = { 0 };
	size_t nr = 0;

	decoders[scan->encoding](scan, values, n);
	for (size_t i = 0; i < n; i++)
		nr += values[i] != 0;
	return nr;
}

int sample_columns_peek(struct byte_reader payload, uint64_t *nr_rows, uint64_t *nr_scan_rows)
{
	const struct cursor *found = NULL;
	struct cursors cursors;
	uint64_t nr_columns;
	int err = 0;

	*nr_rows = br_uv(&payload);
	nr_columns = br_uv(&payload);
	*nr_scan_rows = 0;
	if (*nr_rows > MAX_ROWS || *nr_rows > br_left(&payload))
		return -EBADMSG;
	if (*nr_rows)
		err = take_columns(&cursors, &payload, nr_columns);
	if (*nr_rows && !err)
		found = scan_cursor(&cursors);
	if (found) {
		struct cursor scan = *found;

		for (size_t at = 0; at < *nr_rows; at += BLOCK)
			*nr_scan_rows += next_scan_rows(&scan, rest(*nr_rows, at));
		err = scan.body.bad ? -EBADMSG : 0;
	}
	return err;
}

/* Reads a block of rows; false if it breaks a rule. */
static bool read_block(struct cursors *c, struct rec_sample *rows, size_t n, uint64_t base)
{
	uint64_t values[BLOCK];

	memset(rows, 0, n * sizeof(*rows));
	for (size_t i = 0; i < n; i++)
		rows[i].cpu = UINT32_MAX;
	for (size_t i = 0; i < c->nr; i++) {
		struct cursor *cur = &c->v[i];

		decoders[cur->encoding](cur, values, n);
		if (cur->body.bad || !column_scatter(cur->col, rows, n, base, values))
			return false;
	}
	for (size_t i = 1; i < n; i++)
		if (rows[i].time_ns < rows[i - 1].time_ns)
			return false;
	return true;
}

static bool read_rows(struct cursors *c, struct rec_sample *rows, size_t nr, uint64_t base)
{
	for (size_t at = 0; at < nr; at += BLOCK) {
		if (!read_block(c, rows + at, nr - at < BLOCK ? nr - at : BLOCK, base))
			return false;
		if (at && rows[at].time_ns < rows[at - 1].time_ns)
			return false;
	}
	for (size_t i = 0; i < c->nr; i++)
		if (!cursor_is_done(&c->v[i]))
			return false;
	return true;
}

/*
 * Numbers end where bit 7 is not set. While there are more than 8 of them, no byte of the next 8
 * belongs to another block.
 */
static void skip_plain(struct cursor *c, size_t n)
{
	struct byte_reader r = c->body;

	while (n > 8 && br_left(&r) >= 8) {
		uint64_t eight;

		memcpy(&eight, r.p, 8);
		n -= (size_t)__builtin_popcountll(~eight & 0x8080808080808080ull);
		r.p += 8;
	}
	for (; n; n--)
		br_uv(&r);
	c->body = r;
}

/* Goes past n rows, at most BLOCK; false if their columns end before. */
static bool skip_block(struct cursors *c, size_t n)
{
	uint64_t values[BLOCK];

	for (size_t i = 0; i < c->nr; i++) {
		struct cursor *cur = &c->v[i];

		if (cur->encoding == ENC_PLAIN)
			skip_plain(cur, n);
		else
			decoders[cur->encoding](cur, values, n);
		if (cur->body.bad)
			return false;
	}
	return true;
}

/* Moves the rows of scans among n to the front: their number. */
static size_t keep_scan_rows(struct rec_sample *rows, size_t n)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].scan)
			rows[nr++] = rows[i];
	return nr;
}

/* Sets *kept. False if what is read breaks a rule. */
static bool read_scan_rows(struct cursors *c, struct rec_sample *rows, size_t nr, uint64_t base,
			   size_t *kept)
{
	const struct cursor *found = scan_cursor(c);
	struct cursor scan;

	*kept = 0;
	if (!found)
		return true;
	scan = *found;
	for (size_t at = 0; at < nr; at += BLOCK) {
		size_t n = rest(nr, at);
		struct rec_sample *block = rows + *kept;

		if (!next_scan_rows(&scan, n)) {
			if (!skip_block(c, n))
				return false;
			continue;
		}
		if (!read_block(c, block, n, base))
			return false;
		n = keep_scan_rows(block, n);
		if (*kept && n && block[0].time_ns < block[-1].time_ns)
			return false;
		*kept += n;
	}
	return true;
}

static int decode(struct sample_columns *c, struct byte_reader *r, uint64_t base, bool scans_only)
{
	uint64_t n = br_uv(r), nr_columns = br_uv(r);
	struct cursors cursors;
	size_t kept = n;
	int err;

	c->nr_rows = 0;
	if (!n)
		return r->bad ? -EBADMSG : 0;
	/* Every row takes at least one byte, that of its time. */
	if (r->bad || n > MAX_ROWS || n > br_left(r))
		return -EBADMSG;
	if (array_reserve(&c->rows, &c->cap_rows, n))
		return -ENOMEM;
	err = take_columns(&cursors, r, nr_columns);
	if (!err && !(scans_only ? read_scan_rows(&cursors, c->rows, n, base, &kept)
				 : read_rows(&cursors, c->rows, n, base)))
		err = -EBADMSG;
	c->nr_rows = err ? 0 : kept;
	return err;
}

int sample_columns_decode(struct sample_columns *c, struct byte_reader *r, uint64_t time_base_ns)
{
	return decode(c, r, time_base_ns, false);
}

int sample_columns_decode_scans(struct sample_columns *c, struct byte_reader *r,
				uint64_t time_base_ns)
{
	return decode(c, r, time_base_ns, true);
}
