/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/sample_columns.h"

#include <errno.h>
#include <string.h>

#include "formats/trace/trace_layout.h"
#include "src/base/array.h"

enum encoding { ENC_PLAIN, ENC_CONST, ENC_DELTA, ENC_RUNS, ENC_ASCENDING, ENCODINGS };

enum { COL_TIME = 1, COL_CPU = 7, COL_RAN = 22 };

/*
 * The columns, with their ids on disk. Differences are only tried where neighbours are really near:
 * for ids of stacks and threads, differences are shorter before zstd and longer after it.
 */
static const struct column {
	uint8_t id;			/* odd: critical, even: ancillary */
	uint8_t at, size;		/* member of struct rec_sample */
	uint8_t encodings;		/* bits of enum encoding to choose from */
} columns[] = {
#define SIZE_OF(member) sizeof(((struct rec_sample *)0)->member)
#define COLUMN(id, m, encodings) { id, offsetof(struct rec_sample, m), SIZE_OF(m), encodings }
#define ANY (1 << ENC_PLAIN | 1 << ENC_CONST | 1 << ENC_RUNS)
	COLUMN(COL_TIME, time_ns, 1 << ENC_ASCENDING),
	COLUMN(3, event, ANY),
	COLUMN(5, thread, ANY),
	COLUMN(COL_CPU, cpu, ANY),
	COLUMN(9, kstack, ANY),
	COLUMN(11, ustack, ANY),
	COLUMN(13, weight, ANY | 1 << ENC_DELTA),
	COLUMN(15, state, ANY),
	COLUMN(16, end, ANY),
	COLUMN(18, flags, ANY),
	COLUMN(20, scan, ANY),
	COLUMN(COL_RAN, ran_ns, ANY),
	COLUMN(24, syscall, ANY),
	COLUMN(26, wait, ANY),
	COLUMN(28, owner, ANY),
	COLUMN(30, wait_kind, ANY),
	COLUMN(32, holders, ANY),
	COLUMN(34, object, ANY),
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

static void member_set(void *p, unsigned size, uint64_t v)
{
	if (size == 8)
		*(uint64_t *)p = v;
	else if (size == 4)
		*(uint32_t *)p = (uint32_t)v;
	else
		*(uint8_t *)p = (uint8_t)v;
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

/* The reverse; false if a value does not fit its member. */
static bool column_scatter(const struct column *col, struct rec_sample *rows, size_t n,
			   uint64_t base, const uint64_t *values)
{
	uint64_t offset = col->id == COL_TIME ? base : col->id == COL_CPU ? UINT64_MAX : 0, all = 0;
	char *p = (char *)rows + col->at;

	for (size_t i = 0; i < n; i++, p += sizeof(*rows)) {
		member_set(p, col->size,
			   col->id == COL_RAN ? ran_get(values[i], base) : values[i] + offset);
		all |= values[i];
	}
	return col->size == 8 || !(all >> 8 * col->size);
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

static void get_plain(struct byte_reader *r, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = br_left(r) && *r->p < 0x80 ? *r->p++ : br_uv(r);
}

static void get_const(struct byte_reader *r, uint64_t *v, size_t n)
{
	uint64_t value = br_uv(r);

	for (size_t i = 0; i < n; i++)
		v[i] = value;
}

static void get_delta(struct byte_reader *r, uint64_t *v, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = value += (uint64_t)br_sv(r);
}

/* The runs must have exactly n rows together. */
static void get_runs(struct byte_reader *r, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n && !r->bad;) {
		uint64_t run = br_uv(r), value = br_uv(r);

		if (!run || run > n - i)
			r->bad = true;
		for (; !r->bad && run; run--)
			v[i++] = value;
	}
}

static void get_ascending(struct byte_reader *r, uint64_t *v, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = value += br_uv(r);
}

static const struct {
	void (*put)(struct byte_buf *b, const uint64_t *v, size_t n);
	void (*get)(struct byte_reader *r, uint64_t *v, size_t n);
} encodings[ENCODINGS] = {
	[ENC_PLAIN] = { put_plain, get_plain },
	[ENC_CONST] = { put_const, get_const },
	[ENC_DELTA] = { put_delta, get_delta },
	[ENC_RUNS] = { put_runs, get_runs },
	[ENC_ASCENDING] = { put_ascending, get_ascending },
};

/*
 * Appends id, encoding, length, octets. The length is known only afterwards, so the octets are
 * moved then.
 */
static void column_put(const struct column *col, struct byte_buf *b, const uint64_t *values,
		       size_t n)
{
	enum encoding e = column_choose(col, values, n);
	struct byte_buf body = { 0 };

	bb_uv(b, col->id);
	bb_u8(b, (uint8_t)e);
	encodings[e].put(&body, values, n);
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

static const struct column *column_find(uint64_t id)
{
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (columns[i].id == id)
			return &columns[i];
	return NULL;
}

/* Reads one column into its member; *seen has a bit for each column read so far. */
static int column_get(struct sample_columns *c, struct byte_reader *r, uint64_t base,
		      uint64_t *seen)
{
	uint64_t id = br_uv(r);
	uint8_t e = br_u8(r);
	struct byte_reader body = br_sub(r, br_uv(r));
	const struct column *col = column_find(id);

	if (r->bad)
		return -EBADMSG;
	if (!col)
		return id & 1 ? -EPROTONOSUPPORT : 0;
	if (*seen & 1ull << id || e >= ENCODINGS || (id == COL_TIME) != (e == ENC_ASCENDING))
		return -EBADMSG;
	*seen |= 1ull << id;
	encodings[e].get(&body, c->values, c->nr_rows);
	if (body.bad || br_left(&body) ||
	    !column_scatter(col, c->rows, c->nr_rows, base, c->values))
		return -EBADMSG;
	return 0;
}

/* Makes room for n rows, all zero. Every row takes at least one octet, that of its time. */
static int rows_prepare(struct sample_columns *c, struct byte_reader *r, uint64_t n)
{
	if (r->bad || n > MAX_ROWS || n > br_left(r))
		return -EBADMSG;
	if (array_reserve(&c->values, &c->cap_values, n) ||
	    array_reserve(&c->rows, &c->cap_rows, n))
		return -ENOMEM;
	c->nr_rows = n;
	memset(c->rows, 0, n * sizeof(*c->rows));
	for (size_t i = 0; i < n; i++)
		c->rows[i].cpu = UINT32_MAX;
	return 0;
}

static bool rows_are_sorted(const struct sample_columns *c)
{
	for (size_t i = 1; i < c->nr_rows; i++)
		if (c->rows[i].time_ns < c->rows[i - 1].time_ns)
			return false;
	return true;
}

int sample_columns_decode(struct sample_columns *c, struct byte_reader *r, uint64_t time_base_ns)
{
	uint64_t n = br_uv(r), nr_columns = br_uv(r);
	uint64_t seen = 0;
	int err;

	c->nr_rows = 0;
	if (!n)
		return r->bad ? -EBADMSG : 0;
	err = rows_prepare(c, r, n);
	for (uint64_t i = 0; i < nr_columns && !err; i++)
		err = column_get(c, r, time_base_ns, &seen);
	if (!err && (!(seen & 1ull << COL_TIME) || !rows_are_sorted(c)))
		err = -EBADMSG;
	if (err)
		c->nr_rows = 0;
	return err;
}
