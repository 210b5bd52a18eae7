/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_method.h"

#include <errno.h>
#include <string.h>

#include "src/base/array.h"
#include "src/runtimes/hotspot/hotspot_program.h"
#include "src/runtimes/hotspot/hotspot_stream.h"
#include "src/runtimes/runtime.h"

#define HAS_LINES 1			/* of ConstMethod's flags, in all versions */
#define MAX_LINES (64u << 10)		/* bytes */
#define LINES_PIECE 256u
#define LINES_END 0
#define LINES_LONG 255

struct reading {
	const struct hotspot_layout *l;
	const struct target_memory *m;
	uint64_t method, cm, pool, holder;
};

static int read_u16(const struct reading *r, uint64_t addr, uint16_t *v)
{
	return target_read(r->m, addr, v, sizeof(*v));
}

/* Appends the characters of a symbol, at most max of them. */
static int put_symbol(const struct reading *r, uint64_t at, size_t max, struct byte_buf *b)
{
	uint16_t length = 0;
	uint8_t *to;
	int err = at ? read_u16(r, at + r->l->symbol_length, &length) : -ESTALE;

	if (err)
		return err;
	if (length > max)
		length = (uint16_t)max;
	to = bb_room(b, length);
	if (!to)
		return -ENOMEM;
	err = target_read(r->m, at + r->l->symbol_body, to, length);
	if (!err)
		b->nr += length;
	return err;
}

/* The symbol that a constant of the pool is. */
static int pool_symbol(const struct reading *r, uint16_t index, uint64_t *at)
{
	uint32_t length = 0;
	int err = target_read(r->m, r->pool + r->l->pool_length, &length, sizeof(length));

	if (err)
		return err;
	if (!index || index >= length)
		return -ESTALE;
	return target_read_u64(r->m, r->pool + r->l->pool_bytes + 8ull * index, at);
}

static int put_pool_symbol(const struct reading *r, uint64_t index_at, size_t max,
			   struct byte_buf *b)
{
	uint16_t index = 0;
	uint64_t symbol = 0;
	int err = read_u16(r, index_at, &index);

	if (!err)
		err = pool_symbol(r, index, &symbol);
	return err ? err : put_symbol(r, symbol, max, b);
}

static int put_class(const struct reading *r, struct byte_buf *b)
{
	uint64_t name = 0;
	int err = target_read_u64(r->m, r->holder + r->l->klass_name, &name);

	return err ? err : put_symbol(r, name, RUNTIME_NAME_BYTES / 2, b);
}

static int finish(struct byte_buf *b, char **out)
{
	bb_u8(b, 0);
	if (b->bad) {
		bb_release(b);
		return -ENOMEM;
	}
	*out = (char *)b->v;
	return 0;
}

/* Class.method. In the name of a hidden class a plus stands before its address. */
static int read_name(const struct reading *r, struct hotspot_method *out)
{
	struct byte_buf b = { 0 };
	int err = put_class(r, &b);

	for (size_t i = 0; i < b.nr; i++)
		b.v[i] = b.v[i] == '/' ? '.' : b.v[i] == '+' ? '/' : b.v[i];
	if (!err) {
		bb_u8(&b, '.');
		err = put_pool_symbol(r, r->cm + r->l->const_name, RUNTIME_NAME_BYTES / 2 - 2, &b);
	}
	if (err)
		bb_release(&b);
	return err ? err : finish(&b, &out->name);
}

/* The folder of the class's package, and the file that its source was in. */
static int read_file(const struct reading *r, struct hotspot_method *out)
{
	const struct hotspot_layout *l = r->l;
	uint64_t index_at = l->pool_source != HOTSPOT_ABSENT ? r->pool + l->pool_source
							     : r->holder + l->klass_source;
	struct byte_buf b = { 0 };
	int err;

	if (l->pool_source == HOTSPOT_ABSENT && l->klass_source == HOTSPOT_ABSENT)
		return 0;
	err = put_class(r, &b);
	while (b.nr && b.v[b.nr - 1] != '/')
		b.nr--;
	if (!err)
		err = put_pool_symbol(r, index_at, RUNTIME_FILE_BYTES / 2, &b);
	if (err)
		bb_release(&b);
	if (err == -ESTALE)
		return 0;		/* it has none */
	return err ? err : finish(&b, &out->file);
}

/* Copies the table until its end, whose place only its contents tell. */
static int read_lines(const struct reading *r, struct hotspot_method *out)
{
	uint64_t at = r->cm + r->l->const_bytes + out->code_bytes;
	struct byte_buf b = { 0 };
	int err = 0;

	while (!err && b.nr < MAX_LINES) {
		uint8_t *to = bb_room(&b, LINES_PIECE);
		struct hotspot_stream s;
		uint8_t byte;

		if (!to) {
			err = -ENOMEM;
			break;
		}
		err = target_read(r->m, at + b.nr, to, LINES_PIECE);
		if (err)
			break;
		b.nr += LINES_PIECE;
		s = hotspot_stream_at(b.v, b.nr, 0, r->l->version);
		while ((byte = br_u8(&s.r)) != LINES_END)
			if (byte == LINES_LONG) {
				hotspot_stream_i32(&s);
				hotspot_stream_i32(&s);
			}
		if (!s.r.bad) {
			b.nr = (size_t)(s.r.p - b.v);
			break;
		}
	}
	out->lines = b.v;
	out->lines_bytes = (uint32_t)b.nr;
	return err == -EFAULT ? 0 : err;	/* at the end of its memory */
}

/* Accepts also the cookies of a method whose class's name or number could not be read. */
static int check_cookie(const struct reading *r, uint32_t cookie)
{
	const uint32_t number_at = hotspot_symbol_number(r->l);
	uint64_t symbol = 0;
	uint16_t number = 0;
	int err;

	if (HOTSPOT_METHOD_COOKIE(r->cm, 0, 0) == cookie)
		return 0;
	if (number_at == HOTSPOT_ABSENT)
		return -ESTALE;
	err = target_read_u64(r->m, r->holder + r->l->klass_name, &symbol);
	if (!err && HOTSPOT_METHOD_COOKIE(r->cm, symbol, 0) == cookie)
		return 0;
	if (!err)
		err = read_u16(r, symbol + number_at, &number);
	return err ? err : HOTSPOT_METHOD_COOKIE(r->cm, symbol, number) == cookie ? 0 : -ESTALE;
}

static int read_places(struct reading *r, const uint32_t *cookie)
{
	int err = target_read_u64(r->m, r->method + r->l->method_const, &r->cm);

	if (err)
		return err;
	if (!r->cm || r->cm & 7)
		return -ESTALE;
	err = target_read_u64(r->m, r->cm + r->l->const_constants, &r->pool);
	if (!err)
		err = target_read_u64(r->m, r->pool + r->l->pool_holder, &r->holder);
	if (!err && !r->holder)
		err = -ESTALE;
	return err || !cookie ? err : check_cookie(r, *cookie);
}

int hotspot_method_check(const struct hotspot_layout *l, const struct target_memory *m, uint64_t at,
			 uint32_t cookie)
{
	struct reading r = { .l = l, .m = m, .method = at };

	return read_places(&r, &cookie);
}

int hotspot_method_read(const struct hotspot_layout *l, const struct target_memory *m, uint64_t at,
			const uint32_t *cookie, struct hotspot_method *out)
{
	struct reading r = { .l = l, .m = m, .method = at };
	uint16_t code_bytes = 0, flags = 0;
	int err = read_places(&r, cookie);

	*out = (struct hotspot_method){ .version = l->version };
	if (!err)
		err = read_u16(&r, r.cm + l->const_code_size, &code_bytes);
	if (!err)
		err = read_u16(&r, r.cm + l->const_flags, &flags);
	if (!err)
		err = read_name(&r, out);
	if (!err)
		err = read_file(&r, out);
	out->code_bytes = code_bytes;
	if (!err && flags & HAS_LINES)
		err = read_lines(&r, out);
	if (err) {
		hotspot_method_release(out);
		return err;
	}
	out->first_line = hotspot_method_line(out, 0);
	out->name = array_shrink(out->name, strlen(out->name) + 1);
	out->file = array_shrink(out->file, out->file ? strlen(out->file) + 1 : 0);
	out->lines = array_shrink(out->lines, out->lines_bytes);
	return 0;
}

uint32_t hotspot_method_line(const struct hotspot_method *m, uint32_t bci)
{
	struct hotspot_stream s = hotspot_stream_at(m->lines, m->lines_bytes, 0, m->version);
	uint32_t at = 0, line = 0, best = 0, best_at = 0;

	while (m->lines_bytes && !s.r.bad) {
		uint8_t byte = br_u8(&s.r);

		if (byte == LINES_END || s.r.bad)
			break;
		if (byte == LINES_LONG) {
			at += (uint32_t)hotspot_stream_i32(&s);
			line += (uint32_t)hotspot_stream_i32(&s);
		} else {
			at += byte >> 3;
			line += byte & 7;
		}
		if (!s.r.bad && at <= bci && at >= best_at) {
			best = line;
			best_at = at;
		}
	}
	return best;
}

void hotspot_method_release(struct hotspot_method *m)
{
	free(m->name);
	free(m->file);
	free(m->lines);
	*m = (struct hotspot_method){ 0 };
}
