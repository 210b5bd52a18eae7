/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of a parser process. Everything here may be taken over by the bytes that it reads. */
#include "src/parse/kept_symbols.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/table_maker.h"
#include "src/runtimes/runtime.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/io.h"
#include "src/debug_info/debug_lines.h"
#include "src/elf/beside_names.h"
#include "src/elf/debug_name.h"
#include "src/elf/elf_image.h"
#include "src/foreign/sealed_file.h"
#include "src/parse/parsers.h"
#include "src/rights/sandbox.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/jitdump.h"
#include "src/symbolize/symbol_batch.h"

#define PARSER_BYTES (1ull << 30)	/* address space */
/*
 * Large files are mapped; little else is needed, but debug information can be made to need all
 * there is. With it, and with what the other processes have, a recording stays below 200 MiB.
 */
#define NAMES_SPACE_BYTES (64ull << 30)
#define NAMES_DATA_BYTES (192ull << 20)
#define LINES_DATA_BYTES (128ull << 20)
#define EXPENDABLE "500"		/* half of all memory counts as its own, in addition */
/*
 * One that was taken over may answer and compute on until it is asked again: the kernel ends it. An
 * honest one is replaced before that, between two answers, which take 30 s at most.
 */
#define PARSER_FRESH_NS (30 * NSEC_PER_SEC)
#define PARSER_CPU_SECONDS 90
#define LINES_NS (4 * NSEC_PER_SEC)	/* CPU time for the lines of one answer */

struct parser {
	struct kept_set kept;
	/* What the answer refers to; freed when it is sent. */
	struct unwind_table *table;
	struct elf_image *img;
	struct rec_segment *segments;
	struct byte_buf text;
	struct symbol_place *places;
	struct byte_buf news;
	const struct beside_names *wants;	/* of the lines that were asked for */
};

static int first_fd(const struct helper_message *m)
{
	return m->nr_fds ? m->fds[0] : -1;
}

/* ---- identity ---- */

static uint32_t code_segments(const struct elf_image *img, struct rec_segment *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec)
			out[n++] = (struct rec_segment){ s->offset, s->vaddr, s->filesz };
	}
	return n;
}

static int serve_identity(struct parser *p, struct helper_message *m, struct helper_message *answer)
{
	static struct elf_identity id;
	int err = elf_image_open(first_fd(m), &p->img);

	if (err)
		return err;
	p->segments = calloc(p->img->nr_segments + 1, sizeof(*p->segments));
	if (!p->segments)
		return -ENOMEM;
	id = (struct elf_identity){ .vaddr_lo = p->img->vaddr_lo, .vaddr_hi = p->img->vaddr_hi,
				    .build_id_len = p->img->build_id_len };
	memcpy(id.build_id, p->img->build_id, sizeof(id.build_id));
	id.nr_segments = code_segments(p->img, p->segments);
	answer->part[0] = (struct message_part){ &id, sizeof(id) };
	answer->part[1] =
		(struct message_part){ p->segments, id.nr_segments * sizeof(*p->segments) };
	return 0;
}

/* ---- tables ---- */

static void put_table(const struct unwind_table *t, struct helper_message *answer)
{
	answer->part[1] = (struct message_part){ t->pages, t->nr_pages * sizeof(*t->pages) };
	answer->part[2] = (struct message_part){ t->rows, t->nr_rows * sizeof(*t->rows) };
	answer->part[3] = (struct message_part){ t->rules, t->nr_rules * sizeof(*t->rules) };
}

static int serve_table(struct parser *p, struct helper_message *m, struct helper_message *answer)
{
	static struct table_head head;
	static struct runtime_image runtime;
	const struct table_wants *wants = m->part[1].v;
	const struct unwind_table *t;
	int err = elf_image_open(first_fd(m), &p->img);

	if (!err)
		err = table_maker_make(p->img, first_fd(m), m->part[0].v,
				       m->part[0].len / sizeof(uint32_t), &p->table);
	if (err)
		return err;
	if (m->part[1].len == sizeof(*wants) && wants->runtime &&
	    table_maker_mark(p->img, first_fd(m), p->table, &runtime))
		answer->part[4] = (struct message_part){ &runtime, sizeof(runtime) };
	t = p->table;
	head = (struct table_head){ t->vaddr_lo, t->nr_pages };
	answer->part[0] = (struct message_part){ &head, sizeof(head) };
	put_table(t, answer);
	return 0;
}

/* ---- windows of generated code ---- */

static int read_code_request(const struct helper_message *m, struct code_piece *pieces,
			     struct code_window *in)
{
	const struct code_head *h = m->part[0].v;
	const uint8_t *bytes = m->part[2].v;
	size_t left = m->part[2].len, pins;

	in->nr_pieces = m->part[1].len / sizeof(*pieces);
	if (m->part[0].len != sizeof(*h) || in->nr_pieces > CODE_MAX_PIECES ||
	    h->nr_pins > CODE_MAX_PINS || h->nr_seeds > CODE_MAX_SEEDS)
		return -EINVAL;
	pins = h->nr_pins * sizeof(*in->pins);
	if (m->part[3].len != pins + h->nr_seeds * sizeof(*in->seeds))
		return -EINVAL;
	memcpy(pieces, m->part[1].v, in->nr_pieces * sizeof(*pieces));
	for (size_t i = 0; i < in->nr_pieces; i++) {
		if (pieces[i].len > left)
			return -EINVAL;
		pieces[i].code = bytes;
		bytes += pieces[i].len;
		left -= pieces[i].len;
	}
	in->pieces = pieces;
	in->pins = m->part[3].v;
	in->nr_pins = h->nr_pins;
	in->seeds = (const uint64_t *)(const void *)((const char *)m->part[3].v + pins);
	in->nr_seeds = h->nr_seeds;
	return 0;
}

static int serve_code(struct parser *p, struct helper_message *m, struct helper_message *answer)
{
	static struct code_answer a;
	struct code_piece pieces[CODE_MAX_PIECES];
	struct code_window in = { 0 };
	struct cfi_rows rows = { 0 };
	uint64_t base;
	int err = read_code_request(m, pieces, &in);

	if (!err)
		err = code_window_rows(&in, &rows, &a.wants);
	if (!err) {
		base = code_window_base(&in);
		err = unwind_table_build(&rows, base, base + CODE_WINDOW_BYTES, &p->table);
	}
	cfi_rows_release(&rows);
	if (err)
		return err;
	a.head = (struct table_head){ p->table->vaddr_lo, p->table->nr_pages };
	answer->part[0] = (struct message_part){ &a, sizeof(a) };
	put_table(p->table, answer);
	return 0;
}

/* ---- names ---- */

/* Says how the debug file is named, so that it is opened before the symbols are loaded. */
static int ask_for_debug_file(struct parser *p, struct helper_message *m,
			      struct helper_message *answer)
{
	static struct debug_name name;
	static struct names_answer head;
	struct elf_section sec;
	int err = elf_image_open(first_fd(m), &p->img);

	if (err)
		return err;
	debug_name_read(p->img, &name);
	head.flags = elf_image_section(p->img, ".debug_info", &sec) ? 0 : BINARY_HAS_DEBUGINFO;
	answer->part[0] = (struct message_part){ &name, sizeof(name) };
	answer->part[1] = (struct message_part){ &head, sizeof(head) };
	return -EAGAIN;
}

/*
 * Takes the files out of the message that were asked for in the last answer. Another process may
 * have given it, which knew nothing of them.
 */
static void take_beside(struct kept_symbols *k, uint32_t nr, struct helper_message *m)
{
	const uint32_t *names = m->part[2].v;

	assert(nr <= m->nr_fds);	/* names_request_is_sound() */
	for (uint32_t i = 0; i < nr; i++) {
		int fd = m->fds[m->nr_fds - nr + i];

		if (k && k->lines)
			debug_lines_give(k->lines, names[i], fd);
		else
			close(fd);
	}
	m->nr_fds -= nr;
}

/* Says of each address why it has no lines, or not all inlined functions. */
static void put_lack(struct symbol_batch *b, uint32_t lack)
{
	for (size_t i = 0; i < b->nr; i++)
		b->v[i].lack = b->v[i].is_variable ? 0 : lack;
}

static void add_lines(struct parser *p, struct kept_symbols *k, struct symbol_batch *b,
		      uint32_t max_depth, struct names_answer *head)
{
	kept_symbols_open_lines(k);
	if (!k->lines) {
		put_lack(b, k->lines_lack);
		return;
	}
	b->max_depth = max_depth;
	symbol_batch_lines(b, k->lines, k->symbols, clock_ns(CLOCK_THREAD_CPUTIME_ID) + LINES_NS);
	put_lack(b, debug_lines_lack(k->lines));
	for (size_t i = 0; i < b->nr; i++)
		head->nr_late += b->v[i].is_late;
	debug_lines_news(k->lines, &p->news);
	p->wants = debug_lines_wants(k->lines);
	debug_lines_rest(k->lines);
}

static bool names_request_is_sound(const struct helper_message *m)
{
	const struct names_head *h = m->part[0].v;

	return m->part[0].len == sizeof(*h) &&
	       m->part[1].len % sizeof(struct symbol_answer) == 0 && h->has_cache <= 1 &&
	       h->nr_beside <= m->nr_fds && m->part[2].len == h->nr_beside * sizeof(uint32_t);
}

/* The names of a batch, and its lines if they are wanted. */
static void look_up_names(struct parser *p, struct kept_symbols *k, const struct names_head *h,
			  struct symbol_batch *b, struct names_answer *head)
{
	const struct elf_symbols_source files = {
		.fd = k->fds[0], .debug_fds = k->fds + 1,
		.nr_debug_fds = k->nr_files ? k->nr_files - 1 : 0,
	};
	uint64_t moved = h->is_kernel ? k->text - h->text_start : 0;

	b->no_demangle = h->no_demangle;
	symbol_batch_move(b, moved);	/* to where the file has them */
	symbol_batch_load_variables(b, &files, &k->variables);
	symbol_batch_elf(b, k->symbols, k->variables);
	*head = (struct names_answer){ .flags = elf_symbols_flags(k->symbols) };
	if (h->max_depth)
		add_lines(p, k, b, h->max_depth, head);
	symbol_batch_move(b, -moved);
}

static int serve_names(struct parser *p, struct helper_message *m, struct helper_message *answer)
{
	static struct names_answer head;
	const struct names_head *h = m->part[0].v;
	struct symbol_batch b = { .v = m->part[1].v, .nr = m->part[1].len / sizeof(*b.v) };
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct kept_symbols *k;
	int err = 0;

	if (!names_request_is_sound(m))
		return -EINVAL;
	k = kept_symbols_find(&p->kept, h->binary);
	take_beside(k, h->nr_beside, m);
	if (!k && !h->load)
		return ask_for_debug_file(p, m, answer);
	if (!k)
		err = kept_symbols_load(&p->kept, h, m, &k);
	if (err)
		return err;
	look_up_names(p, k, h, &b, &head);
	kept_symbols_used(&p->kept, k, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
	p->text = b.text;
	p->places = b.lines;
	answer->part[0] = (struct message_part){ &head, sizeof(head) };
	answer->part[1] = m->part[1];
	answer->part[2] = (struct message_part){ b.text.v, b.text.nr };
	answer->part[3] = (struct message_part){ b.lines, b.nr_lines * sizeof(*b.lines) };
	answer->part[4] = (struct message_part){ p->news.v, p->news.nr };
	if (p->wants && p->wants->nr)
		answer->part[5] = (struct message_part){ (void *)p->wants, sizeof(*p->wants) };
	return 0;
}

/* ---- maps of generated code ---- */

typedef int (*find_fn)(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		       struct perf_map_mark *mark, struct byte_buf *names);

static int serve_search(struct parser *p, struct helper_message *m, struct helper_message *answer,
			find_fn find)
{
	static struct perf_map_mark mark;
	struct perf_map_query *v = m->part[0].v;
	struct perf_map_source src = { .fd = first_fd(m) };
	const struct map_head *h = m->part[1].v;
	int err;

	if (src.fd < 0 || m->part[0].len % sizeof(*v) || m->part[1].len != sizeof(*h))
		return -EINVAL;
	src.size = h->size;
	src.is_growing = h->is_growing;
	mark = h->mark;
	err = find(&src, v, m->part[0].len / sizeof(*v), &mark, &p->text);
	answer->part[0] = m->part[0];
	answer->part[1] = (struct message_part){ p->text.v, p->text.nr };
	answer->part[2] = (struct message_part){ &mark, sizeof(mark) };
	return err;
}

static int serve_perf_map(struct parser *p, struct helper_message *m, struct helper_message *answer)
{
	return serve_search(p, m, answer, perf_map_find);
}

static int serve_jitdump(struct parser *p, struct helper_message *m, struct helper_message *answer)
{
	return serve_search(p, m, answer, jitdump_find);
}

/* ---- the process ---- */

/*
 * Where memory runs short the kernel ends the parser before anyone else (proc(5), oom_score_adj):
 * that costs an answer, and any other end may cost the recording.
 */
static void be_expendable(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	io_write(fd, EXPENDABLE, strlen(EXPENDABLE), NULL);
	close(fd);
}

static int begin(const struct sandbox_rules *rules, void **state)
{
	int err;

	be_expendable();
	err = sandbox_enter(rules);

	if (err < 0)
		return err;
	*state = calloc(1, sizeof(struct parser));
	return *state ? 0 : -ENOMEM;
}

static int begin_tables(void **state)
{
	const struct sandbox_rules rules = { SANDBOX_WORKER, .memory_bytes = PARSER_BYTES,
					     .cpu_seconds = PARSER_CPU_SECONDS };

	return begin(&rules, state);
}

static int begin_names(void **state)
{
	const struct sandbox_rules rules = { SANDBOX_WORKER, .memory_bytes = NAMES_SPACE_BYTES,
					     .data_bytes = NAMES_DATA_BYTES,
					     .cpu_seconds = PARSER_CPU_SECONDS };

	return begin(&rules, state);
}

static int begin_lines(void **state)
{
	const struct sandbox_rules rules = { SANDBOX_WORKER, .memory_bytes = NAMES_SPACE_BYTES,
					     .data_bytes = LINES_DATA_BYTES,
					     .cpu_seconds = PARSER_CPU_SECONDS };

	return begin(&rules, state);
}

/* Puts the files themselves into the message, in place of their seals. Copies have no seal. */
static int open_files(struct helper_message *m)
{
	for (size_t i = 0; i < m->nr_fds; i++) {
		int fd = sealed_file_open(m->fds[i]);

		if (fd == -ENOTSOCK)
			continue;
		if (fd < 0)
			return fd;
		close(m->fds[i]);
		m->fds[i] = fd;
	}
	return 0;
}

void parse_serve(void *state, struct helper_message *m, struct helper_message *answer)
{
	static int (*const ops[PARSE_OPS])(struct parser *, struct helper_message *,
					   struct helper_message *) = {
		[PARSE_IDENTITY] = serve_identity,
		[PARSE_TABLE] = serve_table,
		[PARSE_NAMES] = serve_names,
		[PARSE_PERF_MAP] = serve_perf_map,
		[PARSE_CODE] = serve_code,
		[PARSE_JITDUMP] = serve_jitdump,
	};
	struct parser *p = state;
	int err = m->op < PARSE_OPS ? open_files(m) : -EINVAL;

	answer->status = err ? err : ops[m->op](p, m, answer);
}

static void done(void *state, struct helper_message *answer)
{
	struct parser *p = state;

	(void)answer;
	unwind_table_free(p->table);
	p->table = NULL;
	elf_image_close(p->img);
	p->img = NULL;
	free(p->segments);
	p->segments = NULL;
	bb_release(&p->text);
	p->text = (struct byte_buf){ 0 };
	bb_release(&p->news);
	p->news = (struct byte_buf){ 0 };
	free(p->places);
	p->places = NULL;
	p->wants = NULL;
}

static uint64_t rest(void *state, uint64_t now_ns)
{
	struct parser *p = state;

	return kept_symbols_rest(&p->kept, now_ns);
}

const struct helper_kind table_parser_kind = {
	.name = "probee-parser",
	.is_urgent = true,
	.begin = begin_tables,
	.serve = parse_serve,
	.done = done,
	.max_request = PARSE_MAX_REQUEST,
	.fresh_after_ns = PARSER_FRESH_NS,
};

const struct helper_kind name_parser_kind = {
	.name = "probee-names",
	.begin = begin_names,
	.serve = parse_serve,
	.done = done,
	.rest = rest,
	.max_request = PARSE_MAX_REQUEST,
	.fresh_after_ns = PARSER_FRESH_NS,
};

const struct helper_kind line_parser_kind = {
	.name = "probee-lines",
	.begin = begin_lines,
	.serve = parse_serve,
	.done = done,
	.rest = rest,
	.max_request = PARSE_MAX_REQUEST,
	.fresh_after_ns = PARSER_FRESH_NS,
};
