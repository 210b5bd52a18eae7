/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/line_program.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/debug_info/die_cursor.h"
#include "src/debug_info/line_order.h"
#include "src/debug_info/unit_regions.h"
#include "src/debug_info/unit_table.h"
#include "src/debug_info/work_limit.h"

#define MAX_FILES (256u << 10)
#define MAX_ROWS (16u << 20)
#define MAX_FILE INT32_MAX
#define MAX_PART 4096			/* bytes of a path */
#define MAX_FORMATS 256
#define STEP_BYTES 64			/* of a header, that count as a step */

struct line_file {
	const char *name, *dir;		/* dir: NULL, if it has none */
};

struct line_program {
	const struct die_unit *u;
	struct die_sizes sizes;
	struct line_file *files;	/* counted as the program does */
	size_t nr_files, cap_files;
	size_t nr_header_files;		/* without those that the program defines */
	const char **dirs;
	size_t nr_dirs, cap_dirs;
	struct byte_reader code;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *lengths;		/* of the operands of standard opcodes, from 1 on */
	/* What special opcodes advance, so that a row needs no division. */
	uint8_t special_ops[256];
	int16_t special_lines[256];
};

/* ---- files ---- */

static int add_dir(struct line_program *p, const char *dir)
{
	const char **x = p->nr_dirs < MAX_FILES ? array_push(&p->dirs, &p->nr_dirs, &p->cap_dirs)
						: NULL;

	if (!x)
		return p->nr_dirs < MAX_FILES ? -ENOMEM : -E2BIG;
	*x = dir;
	return 0;
}

static int add_file(struct line_program *p, const char *name, uint64_t dir)
{
	struct line_file *x;

	if (dir >= p->nr_dirs)
		return -EBADMSG;
	if (p->nr_files >= MAX_FILES)
		return -E2BIG;
	x = array_push(&p->files, &p->nr_files, &p->cap_files);
	if (!x)
		return -ENOMEM;
	*x = (struct line_file){ name, p->dirs[dir] };
	return 0;
}

/* A string in the section, with its NUL; NULL: it has no end. */
static const char *string_of(struct byte_reader *r)
{
	const uint8_t *end = r->bad ? NULL : memchr(r->p, 0, br_left(r));

	return (const char *)br_bytes(r, end ? (uint64_t)(end - r->p) + 1 : UINT64_MAX);
}

static int read_file(struct line_program *p, struct byte_reader *r, const char *name)
{
	uint64_t dir = br_uv(r);

	br_uv(r);			/* when it was changed */
	br_uv(r);			/* its length */
	return r->bad ? -EBADMSG : add_file(p, name, dir);
}

/* Versions 2 to 4: directory 0 is that of the compilation, and there is no file 0. */
static int read_old_files(struct line_program *p, struct byte_reader *r)
{
	const struct die_value *dir = &p->u->entry.value[DIE_COMP_DIR];
	const char *s = die_has(&p->u->entry, DIE_COMP_DIR) ? die_string(p->u, dir) : NULL;
	int err = add_dir(p, s);

	while (!err && (s = string_of(r)) && *s)
		err = add_dir(p, s);
	if (!err)
		err = add_file(p, NULL, 0);
	while (!err && (s = string_of(r)) && *s)
		err = read_file(p, r, s);
	return !err && r->bad ? -EBADMSG : err;
}

struct formats {
	struct { uint64_t content, form; } v[MAX_FORMATS];
	unsigned nr;
};

static void read_formats(struct byte_reader *r, struct formats *f)
{
	f->nr = br_u8(r);
	for (unsigned i = 0; i < f->nr; i++) {
		f->v[i].content = br_uv(r);
		f->v[i].form = br_uv(r);
	}
}

/* An entry of a list of version 5; name stays NULL if it has none. */
static int read_entry(const struct line_program *p, struct byte_reader *r, const struct formats *f,
		      const char **name, uint64_t *dir)
{
	const uint8_t *begin = p->u->s->part[DEBUG_INFO].v;
	struct die_value v;

	for (unsigned i = 0; i < f->nr; i++) {
		const char *here = (const char *)r->p;

		if (f->v[i].form > UINT16_MAX ||
		    !die_read_value(r, &p->sizes, (unsigned)f->v[i].form, begin, &v))
			return -EBADMSG;
		if (f->v[i].content == DW_LNCT_path)
			*name = v.form == DW_FORM_string ? here : die_string(p->u, &v);
		else if (f->v[i].content == DW_LNCT_directory_index)
			*dir = v.v;
	}
	return 0;
}

/* Reads a list of directories or of files, each with a list of what its entries have. */
static int read_list(struct line_program *p, struct byte_reader *r, bool is_dirs)
{
	struct formats f;
	uint64_t nr;
	int err = 0;

	read_formats(r, &f);
	nr = br_uv(r);
	if (r->bad || nr > br_left(r))
		return -EBADMSG;
	for (uint64_t i = 0; i < nr && !err; i++) {
		const char *name = NULL;
		uint64_t dir = 0;

		err = read_entry(p, r, &f, &name, &dir);
		if (!err)
			err = is_dirs ? add_dir(p, name) : add_file(p, name, dir);
	}
	return err;
}

static int read_files(struct line_program *p, struct byte_reader *r)
{
	int err;

	if (p->sizes.version < 5)
		return read_old_files(p, r);
	err = read_list(p, r, true);
	return err ? err : read_list(p, r, false);
}

size_t line_program_nr_files(const struct line_program *p)
{
	return p->nr_files;
}

const char *line_program_path(const struct line_program *p, uint64_t file,
			      char buf[LINE_PATH_BYTES])
{
	const struct line_file *f = file < p->nr_files ? &p->files[file] : NULL;
	size_t dir, len;

	if (!f || !f->name)
		return NULL;
	if (f->name[0] == '/' || !f->dir)
		return f->name;
	dir = strnlen(f->dir, MAX_PART);
	len = strnlen(f->name, MAX_PART);
	memcpy(buf, f->dir, dir);
	buf[dir] = '/';
	memcpy(buf + dir + 1, f->name, len);
	buf[dir + 1 + len] = '\0';
	return buf;
}

/* ---- the header ---- */

static void read_fields(struct line_program *p, struct byte_reader *r)
{
	p->min_length = br_u8(r);
	p->max_ops = p->sizes.version >= 4 ? br_u8(r) : 1;
	br_u8(r);			/* whether rows begin statements */
	p->line_base = (int8_t)br_u8(r);
	p->line_range = br_u8(r);
	p->opcode_base = br_u8(r);
	p->lengths = br_bytes(r, p->opcode_base ? p->opcode_base - 1u : 0);
}

static void make_specials(struct line_program *p)
{
	for (unsigned i = p->opcode_base; i < 256 && p->line_range; i++) {
		p->special_ops[i] = (uint8_t)((i - p->opcode_base) / p->line_range);
		p->special_lines[i] =
			(int16_t)(p->line_base + (int)((i - p->opcode_base) % p->line_range));
	}
}

static int read_header(struct line_program *p, struct byte_reader *r, struct work_limit *w)
{
	uint64_t len = br_u32(r);
	struct byte_reader head;
	int err;

	p->sizes.offset = len == UINT32_MAX ? 8 : 4;
	if (len == UINT32_MAX)
		len = br_u64(r);
	p->code = br_sub(r, len);
	p->sizes.version = (uint8_t)br_u16(&p->code);
	p->sizes.address = p->u->sizes.address;
	if (p->sizes.version < 2 || p->sizes.version > 5)
		return -EBADMSG;
	if (p->sizes.version == 5) {
		p->sizes.address = br_u8(&p->code);
		br_u8(&p->code);	/* of segment selectors */
	}
	head = br_sub(&p->code, br_fixed(&p->code, p->sizes.offset));
	read_fields(p, &head);
	if (head.bad || p->code.bad || !p->opcode_base || !p->max_ops ||
	    (p->sizes.address != 4 && p->sizes.address != 8))
		return -EBADMSG;
	make_specials(p);
	len = br_left(&head);
	err = read_files(p, &head);
	work_go_on(w, len / STEP_BYTES + p->nr_dirs + p->nr_files);
	free(p->dirs);
	p->dirs = NULL;
	p->nr_header_files = p->nr_files;
	return err;
}

int line_program_open(const struct die_unit *u, struct work_limit *w, struct line_program **pp)
{
	struct line_program *p;
	struct byte_reader r;
	uint64_t offset;
	int err;

	if (!die_number(&u->entry, DIE_STMT_LIST, &offset))
		return -ENOENT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->u = u;
	r = debug_bytes_from(u->s, DEBUG_LINE, offset);
	err = read_header(p, &r, w);
	if (err)
		line_program_free(p);
	else
		*pp = p;
	return err;
}

void line_program_free(struct line_program *p)
{
	if (!p)
		return;
	free(p->files);
	free(p->dirs);
	free(p);
}

/* ---- rows ---- */

struct machine {
	struct line_program *p;
	struct line_rows rows;
	struct line_sequence *sequences;
	size_t nr_sequences, cap_sequences;
	uint64_t from;
	const struct unit_regions *regions;	/* NULL: all rows are wanted */
	size_t first;			/* row of this sequence */
	bool is_sorted;			/* within each sequence */
	int err;
	/* The registers. */
	uint64_t addr;
	uint64_t file;
	uint32_t line, column, op_index;
};

static void reset(struct machine *m)
{
	m->addr = 0;
	m->file = 1;
	m->line = 1;
	m->column = 0;
	m->op_index = 0;
}

static bool room_for_rows(struct machine *m)
{
	size_t cap = m->rows.cap ? m->rows.cap * 2 : 4096;
	struct line_row *v;

	if (m->rows.nr < m->rows.cap)
		return true;
	v = cap <= MAX_ROWS ? realloc(m->rows.v, cap * sizeof(*v)) : NULL;
	if (!v) {
		m->err = cap <= MAX_ROWS ? -ENOMEM : -E2BIG;
		return false;
	}
	m->rows.v = v;
	m->rows.cap = cap;
	return true;
}

static inline void add_row(struct machine *m, bool is_end)
{
	struct line_row *row;

	if (!room_for_rows(m))
		return;
	row = &m->rows.v[m->rows.nr];
	*row = (struct line_row){ m->addr, unit_line(m->line, m->column),
				  m->file > MAX_FILE ? MAX_FILE : (uint32_t)m->file, is_end };
	if (m->rows.nr++ > m->first && row->addr < row[-1].addr)
		m->is_sorted = false;
}

/* The end stands before rows of its address, as it would if sequences were sorted as one. */
static void move_end(struct line_row *v, size_t nr)
{
	struct line_row end = v[nr - 1];

	for (; nr > 1 && v[nr - 2].addr == end.addr; nr--)
		v[nr - 1] = v[nr - 2];
	v[nr - 1] = end;
}

/* Sequences of functions that the linker has thrown away begin at 0, or near it. */
static bool is_unwanted(const struct machine *m)
{
	uint64_t lo = m->rows.v[m->first].addr;

	if (!m->is_sorted)
		return false;
	return m->addr < m->from || (m->regions && !unit_regions_meet(m->regions, lo, m->addr));
}

static void end_sequence(struct machine *m)
{
	struct line_sequence *s;

	add_row(m, true);
	if (!m->err && is_unwanted(m)) {
		m->rows.nr = m->first;
	} else if (!m->err) {
		s = array_push(&m->sequences, &m->nr_sequences, &m->cap_sequences);
		if (s)
			*s = (struct line_sequence){ m->first, m->rows.nr - m->first };
		else
			m->err = -ENOMEM;
		move_end(m->rows.v + m->first, m->rows.nr - m->first);
	}
	m->first = m->rows.nr;
	reset(m);
}

static inline void advance(struct machine *m, uint64_t nr_ops)
{
	const struct line_program *p = m->p;

	if (p->max_ops == 1) {
		m->addr += p->min_length * nr_ops;
		return;
	}
	m->addr += p->min_length * ((m->op_index + nr_ops) / p->max_ops);
	m->op_index = (uint32_t)((m->op_index + nr_ops) % p->max_ops);
}

static inline void special(struct machine *m, unsigned opcode)
{
	const struct line_program *p = m->p;

	if (!p->line_range) {
		m->err = -EBADMSG;
		return;
	}
	advance(m, p->special_ops[opcode]);
	m->line += (uint32_t)p->special_lines[opcode];
	add_row(m, false);
}

static void define_file(struct machine *m, struct byte_reader *r)
{
	struct line_program *p = m->p;
	const char *name = string_of(r);
	struct line_file *f = name && p->nr_files < MAX_FILES
				      ? array_push(&p->files, &p->nr_files, &p->cap_files)
				      : NULL;

	if (f)
		*f = (struct line_file){ .name = name };
	else
		m->err = -EBADMSG;
}

static void extended(struct machine *m, struct byte_reader *r)
{
	struct byte_reader op = br_sub(r, die_unsigned(r));

	switch (br_u8(&op)) {
	case DW_LNE_end_sequence: end_sequence(m); break;
	case DW_LNE_set_address:
		m->addr = br_fixed(&op, m->p->sizes.address);
		m->op_index = 0;
		break;
	case DW_LNE_define_file: define_file(m, &op); break;
	default: break;
	}
	if (op.bad)
		m->err = -EBADMSG;
}

static void skip_operands(struct machine *m, struct byte_reader *r, unsigned opcode)
{
	for (unsigned i = 0; i < m->p->lengths[opcode - 1]; i++)
		br_uv(r);
}

static void standard(struct machine *m, struct byte_reader *r, unsigned opcode)
{
	const struct line_program *p = m->p;

	switch (opcode) {
	case DW_LNS_copy: add_row(m, false); break;
	case DW_LNS_advance_pc: advance(m, die_unsigned(r)); break;
	case DW_LNS_advance_line: m->line += (uint32_t)die_signed(r); break;
	case DW_LNS_set_file: m->file = die_unsigned(r); break;
	case DW_LNS_set_column: m->column = (uint32_t)die_unsigned(r); break;
	case DW_LNS_const_add_pc:
		if (p->line_range)
			advance(m, (255u - p->opcode_base) / p->line_range);
		else
			m->err = -EBADMSG;
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += br_u16(r);
		m->op_index = 0;
		break;
	default: skip_operands(m, r, opcode);
	}
}

static void run(struct machine *m, struct work_limit *w)
{
	struct byte_reader r = m->p->code;
	unsigned base = m->p->opcode_base;

	reset(m);
	while (br_left(&r) && !m->err) {
		unsigned opcode = *r.p++;

		if (opcode >= base)
			special(m, opcode);
		else if (opcode)
			standard(m, &r, opcode);
		else
			extended(m, &r);
		if (r.bad && !m->err)
			m->err = -EBADMSG;
		if (!work_go_on(w, 1) && !m->err)
			m->err = -ETIMEDOUT;
	}
}

int line_program_run(struct line_program *p, uint64_t from, const struct unit_regions *regions,
		     struct line_rows *rows, struct work_limit *w)
{
	struct machine m = { .p = p, .rows = *rows, .from = from, .regions = regions,
			     .is_sorted = true };
	int err;

	m.first = m.rows.nr = 0;
	p->nr_files = p->nr_header_files;
	run(&m, w);
	err = m.err ? m.err : line_order(&m.rows, m.sequences, m.nr_sequences,
					 m.is_sorted && m.first == m.rows.nr);
	if (!err && m.rows.nr)
		m.rows.v[m.rows.nr - 1].is_end = true;
	free(m.sequences);
	*rows = m.rows;
	return err;
}
