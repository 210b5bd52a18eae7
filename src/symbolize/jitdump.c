/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/io.h"
#include "src/model/record.h"

#define MAGIC 0x4a695444u
#define HEADER_BYTES 40
#define MAX_HEADER 4096			/* later versions may have more */
#define RECORD_BYTES 16			/* type, length, time */
#define LOAD_BYTES (RECORD_BYTES + 40)
#define MOVE_BYTES (RECORD_BYTES + 48)
#define DEBUG_BYTES (RECORD_BYTES + 16)
#define ENTRY_BYTES 16			/* and a file */
#define FLAG_ARCH_TIME 1u		/* times are ticks of the CPU */
#define ELF_HEADER 64
#define MAX_DEBUG_BYTES (16u << 20)
#define MAX_LOADS (1u << 20)		/* that a MOVE may refer to */
#define MAX_FILE 4096
#define BLOCK (64u << 10)

enum record_type { DUMP_LOAD, DUMP_MOVE, DUMP_DEBUG_INFO };

/* Where a piece of code is described. */
struct load {
	uint64_t index, at, debug;	/* offsets of the records; debug 0: none */
	uint64_t addr, size;
};

/* The code that fits a question best so far. */
struct best {
	uint64_t time_ns;
	struct load load;
	uint64_t start;			/* load.addr, unless it was moved */
	bool is_set;
};

struct dump {
	const struct perf_map_source *src;
	struct perf_map_query *v;	/* sorted */
	struct best *best;		/* of each */
	size_t nr;
	struct byte_buf *names;
	bool has_our_clock;
	uint64_t steps;
	uint64_t debug_at, debug_addr;	/* the last DEBUG_INFO; 0: none */
	struct load *loads;
	size_t nr_loads, cap_loads;
	uint8_t *block;			/* bytes from block_at on */
	uint64_t block_at;
	size_t block_len;
};

struct record_head {
	uint32_t type, len;
	uint64_t time_ns;
};

/* ---- reading ---- */

static size_t read_some(const struct perf_map_source *src, void *buf, size_t len, uint64_t at)
{
	ssize_t n;

	if (at >= src->size)
		return 0;
	len = src->size - at < len ? (size_t)(src->size - at) : len;
	if (src->fd < 0) {
		memcpy(buf, (const char *)src->data + at, len);
		return len;
	}
	n = io_pread(src->fd, buf, len, at);
	return n > 0 ? (size_t)n : 0;
}

/* len bytes at an offset, in a block that stays until the next call; bad: fewer are there. */
static struct byte_reader look(struct dump *d, uint64_t at, size_t len)
{
	bool has = at >= d->block_at && at - d->block_at + len <= d->block_len;

	if (!has) {
		d->block_at = at;
		d->block_len = read_some(d->src, d->block, BLOCK, at);
	}
	if (d->block_len < at - d->block_at + len)
		return (struct byte_reader){ .bad = true };
	return br_make(d->block + (at - d->block_at), len);
}

static int read_header(struct dump *d, uint64_t *at)
{
	struct byte_reader r = look(d, 0, HEADER_BYTES);
	uint32_t magic = br_u32(&r), version = br_u32(&r), len = br_u32(&r);

	br_bytes(&r, 4 + 4 + 4 + 8);	/* machine, padding, pid, time */
	d->has_our_clock = !(br_u64(&r) & FLAG_ARCH_TIME);
	*at = len;
	if (r.bad || magic != MAGIC || version != 1 || len < HEADER_BYTES || len > MAX_HEADER)
		return -ENOEXEC;
	return look(d, 0, len).bad ? -ENOEXEC : 0;
}

/* ---- which record ---- */

/* true: code of that time answers q better than what was found so far. */
static bool is_better(const struct dump *d, const struct perf_map_query *q, const struct best *b,
		      uint64_t time_ns)
{
	if (!b->is_set || !d->has_our_clock || !q->time_ns)
		return true;
	if (time_ns <= q->time_ns)
		return b->time_ns > q->time_ns || b->time_ns <= time_ns;
	return b->time_ns > q->time_ns && time_ns < b->time_ns;
}

static void hold_against(struct dump *d, const struct load *l, uint64_t start, uint64_t time_ns)
{
	size_t i = bisect(d->nr, k, d->v[k].addr < start);

	for (; i < d->nr && d->v[i].addr - start < l->size; i++) {
		if (d->steps++ >= JITDUMP_MAX_STEPS)
			return;
		if (d->v[i].name == PERF_MAP_NO_NAME &&
		    is_better(d, &d->v[i], &d->best[i], time_ns))
			d->best[i] = (struct best){ time_ns, *l, start, true };
	}
}

static void take_load(struct dump *d, const struct record_head *h, uint64_t at)
{
	struct byte_reader r = look(d, at, LOAD_BYTES);
	struct load l = { .at = at }, *kept;

	br_bytes(&r, RECORD_BYTES + 8 + 8);	/* pid and tid, vma */
	l.addr = br_u64(&r);
	l.size = br_u64(&r);
	l.index = br_u64(&r);
	if (r.bad || h->len < LOAD_BYTES)
		return;
	if (d->debug_at && d->debug_addr == l.addr)
		l.debug = d->debug_at;
	d->debug_at = 0;
	kept = d->nr_loads < MAX_LOADS ? array_push(&d->loads, &d->nr_loads, &d->cap_loads) : NULL;
	if (kept)
		*kept = l;
	hold_against(d, &l, l.addr, h->time_ns);
}

/* The last code with this number. Most dumps have no moves at all, so they are looked for. */
static const struct load *find_load(struct dump *d, uint64_t index)
{
	for (size_t i = d->nr_loads; i-- > 0 && d->steps++ < JITDUMP_MAX_STEPS;)
		if (d->loads[i].index == index)
			return &d->loads[i];
	return NULL;
}

static void take_move(struct dump *d, const struct record_head *h, uint64_t at)
{
	struct byte_reader r = look(d, at, MOVE_BYTES);
	const struct load *found;
	struct load l;
	uint64_t start;

	br_bytes(&r, RECORD_BYTES + 8 + 8 + 8);	/* pid and tid, vma, old address */
	start = br_u64(&r);
	br_bytes(&r, 8);			/* its size is that of the code */
	found = r.bad || h->len < MOVE_BYTES ? NULL : find_load(d, br_u64(&r));
	if (!found)
		return;
	l = *found;
	hold_against(d, &l, start, h->time_ns);
}

static void take_debug_info(struct dump *d, const struct record_head *h, uint64_t at)
{
	struct byte_reader r = look(d, at, DEBUG_BYTES);

	br_bytes(&r, RECORD_BYTES);
	d->debug_addr = br_u64(&r);
	d->debug_at = r.bad || h->len < DEBUG_BYTES ? 0 : at;
}

/* The head of the record at an offset. false: it is not there as a whole yet, or it is none. */
static bool read_head(struct dump *d, uint64_t at, struct record_head *h)
{
	struct byte_reader r = look(d, at, RECORD_BYTES);
	uint8_t last;

	h->type = br_u32(&r);
	h->len = br_u32(&r);
	h->time_ns = br_u64(&r);
	if (r.bad || h->len < RECORD_BYTES)
		return false;
	/* A large one is not read, but its last byte must be there. */
	return at + h->len - 1 < d->block_at + d->block_len ||
	       read_some(d->src, &last, 1, at + h->len - 1) == 1;
}

/* Returns where the records end that are there as a whole. */
static uint64_t scan(struct dump *d, uint64_t at)
{
	static void (*const takes[])(struct dump *, const struct record_head *, uint64_t) = {
		[DUMP_LOAD] = take_load, [DUMP_MOVE] = take_move,
		[DUMP_DEBUG_INFO] = take_debug_info,
	};
	struct record_head h;

	while (at < JITDUMP_MAX_BYTES && d->steps++ < JITDUMP_MAX_STEPS && read_head(d, at, &h)) {
		if (h.type < sizeof(takes) / sizeof(takes[0]))
			takes[h.type](d, &h, at);
		at += h.len;
	}
	return at;
}

/* ---- what it says ---- */

static uint32_t put_text(struct dump *d, const char *s, size_t len)
{
	uint32_t at = (uint32_t)d->names->nr;

	bb_bytes(d->names, s, len);
	bb_u8(d->names, 0);
	return at;
}

/* Letters of file names. Node 20 logs bytes of its own memory as the file of some scripts. */
static bool is_text(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || (unsigned char)s[i] == 0x7f)
			return false;
	return len && len < MAX_FILE;
}

/* A line of the source, and from which address on. */
struct entry {
	uint64_t addr;
	uint32_t line, column;
	const char *file;
	size_t file_len;
};

/* file 0xff: that of the entry before. */
static bool next_entry(struct byte_reader *r, struct entry *e)
{
	const char *file;
	size_t len;

	e->addr = br_u64(r);
	e->line = br_u32(r);
	e->column = br_u32(r);
	file = (const char *)r->p;
	len = r->bad ? 0 : strnlen(file, br_left(r));
	if (!br_bytes(r, len + 1))
		return false;
	if (len != 1 || (unsigned char)*file != 0xff) {
		e->file = file;
		e->file_len = len;
	}
	return true;
}

/* The entry of an address: the last one with the highest address that is not above. */
static bool find_entry(struct byte_reader r, uint64_t addr, struct entry *out)
{
	struct entry e = { 0 };
	bool found = false;

	while (br_left(&r) >= ENTRY_BYTES && next_entry(&r, &e)) {
		if (e.addr > addr || (found && e.addr < out->addr))
			continue;
		*out = e;
		found = true;
	}
	return found;
}

/* true: addresses of lines are behind the header of an ELF file. */
static bool has_elf_header(struct byte_reader r, const struct load *l, uint8_t lang)
{
	struct entry e = { 0 };
	uint64_t first = UINT64_MAX, last = 0;

	while (br_left(&r) >= ENTRY_BYTES && next_entry(&r, &e)) {
		first = e.addr < first ? e.addr : first;
		last = e.addr > last ? e.addr : last;
	}
	return first >= l->addr + ELF_HEADER && first != UINT64_MAX &&
	       (lang == LANG_JAVASCRIPT || last >= l->addr + l->size);
}

/* Sets the line of q from the entries of its code, which r is at. */
static void put_line(struct dump *d, const struct best *b, struct byte_reader r,
		     struct perf_map_query *q)
{
	uint64_t addr = q->addr - b->start + b->load.addr;
	struct entry e = { 0 };

	if (has_elf_header(r, &b->load, q->lang))
		addr += ELF_HEADER;
	if (!find_entry(r, addr, &e))
		return;
	q->at_line = e.line;
	q->at_column = e.column;
	if (is_text(e.file, e.file_len))
		q->at_file = put_text(d, e.file, e.file_len);
	else
		q->at_file = q->file;
	if (q->file == PERF_MAP_NO_NAME)
		q->file = q->at_file;
}

static void read_lines(struct dump *d, const struct best *b, struct perf_map_query *q)
{
	struct record_head h;
	uint8_t *text;
	size_t len;

	if (!b->load.debug || !read_head(d, b->load.debug, &h))
		return;
	len = h.len < MAX_DEBUG_BYTES ? h.len : MAX_DEBUG_BYTES;
	text = malloc(len);
	len = text ? read_some(d->src, text, len, b->load.debug) : 0;
	d->steps += len / ENTRY_BYTES;
	if (len > DEBUG_BYTES)
		put_line(d, b, br_make(text + DEBUG_BYTES, len - DEBUG_BYTES), q);
	free(text);
}

static int answer(struct dump *d, const struct best *b, struct perf_map_query *q)
{
	char text[PERF_MAP_NAME_MAX];
	size_t len = read_some(d->src, text, sizeof(text), b->load.at + LOAD_BYTES);
	struct record_head h;

	if (!read_head(d, b->load.at, &h))
		return 0;
	len = h.len - LOAD_BYTES < len ? h.len - LOAD_BYTES : len;
	len = strnlen(text, len);
	if (!len || memchr(text, '\n', len))
		return 0;
	if (d->names->nr + 3 * sizeof(text) + MAX_FILE > PERF_MAP_MAX_NAMES ||
	    d->steps >= JITDUMP_MAX_STEPS)
		return -E2BIG;
	perf_map_put_label(d->names, text, len, q);
	q->start = b->start;
	q->since_ns = d->has_our_clock ? b->time_ns : 0;
	read_lines(d, b, q);
	return d->names->bad ? -ENOMEM : 0;
}

static int find(struct dump *d, struct perf_map_mark *mark)
{
	uint64_t at;
	int err = read_header(d, &at);

	if (err)
		return err;
	at = scan(d, mark->bytes > at ? mark->bytes : at);
	/* The next time begins with the lines of the code that comes next. */
	mark->bytes = d->debug_at ? d->debug_at : at;
	for (size_t i = 0; i < d->nr && !err; i++)
		if (d->best[i].is_set)
			err = answer(d, &d->best[i], &d->v[i]);
	return err ? err : d->steps >= JITDUMP_MAX_STEPS ? -E2BIG : 0;
}

int jitdump_find(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		 struct perf_map_mark *mark, struct byte_buf *names)
{
	struct dump d = { .src = src, .v = v, .nr = nr, .names = names };
	int err = -ENOMEM;

	perf_map_sort(v, nr);
	d.best = calloc(nr + 1, sizeof(*d.best));
	d.block = malloc(BLOCK);
	if (d.best && d.block)
		err = find(&d, mark);
	free(d.best);
	free(d.block);
	free(d.loads);
	return err;
}
