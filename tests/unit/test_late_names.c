/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names put into a copy of a trace: what else was in it stays as it was, and so does what is missing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/trace/trace_reader.h"
#include "src/late_names/late_copy.h"
#include "src/late_names/late_names.h"
#include "tests/unit/record_log.h"
#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

#define NAMELESS 5			/* the only frame of a file that the fixture does not name */

/* All records of a trace, and what its reader counted. */
struct contents {
	struct record_log log;
	struct trace_status status;
	struct rec_symbol symbol;	/* the last one of NAMELESS, with its function and that name */
	struct rec_line line;
	struct rec_func funcs[32];
	char names[64][32];
	unsigned nr_symbols;		/* of NAMELESS */
	uint64_t unresolved;
	char symbolize[8];
};

static void look(struct contents *c, const struct record *rec)
{
	if (rec->tag == REC_STRING && rec->string.id < 64)
		memcpy(c->names[rec->string.id], rec->string.bytes, rec->string.len < 31 ? rec->string.len : 31);
	if (rec->tag == REC_FUNC && rec->func.id < 32)
		c->funcs[rec->func.id] = rec->func;
	if (rec->tag == REC_SYMBOL && rec->symbol.frame == NAMELESS) {
		c->nr_symbols++;
		c->symbol = rec->symbol;
		c->line = rec->symbol.nr_lines ? rec->symbol.lines[0] : (struct rec_line){ 0 };
	}
	if (rec->tag == REC_END)
		c->unresolved = rec->end.unresolved;
	if (rec->tag == REC_META && !strcmp(rec->meta.key, "symbolize"))
		memcpy(c->symbolize, rec->meta.value, rec->meta.len);
}

static void read_with(const char *name, struct contents *c, bool repeats)
{
	struct trace_reader *r;
	struct record rec;
	int n;

	memset(c, 0, sizeof(*c));
	assert_int_equal(trace_reader_open(trace_file(name), NULL, &r), 0);
	trace_reader_give_repeats(r, repeats);
	assert_int_equal(trace_reader_rewind(r), 0);
	while ((n = trace_reader_next(r, &rec)) > 0) {
		record_log_add(&c->log, &rec);
		look(c, &rec);
	}
	assert_int_equal(n, 0);
	c->status = *trace_reader_status(r);
	trace_reader_close(r);
}

static void read_all(const char *name, struct contents *c)
{
	read_with(name, c, true);
}

/* Gives every question a name; returns how many there were. */
static size_t answer(struct late_names *n, const char *name)
{
	for (size_t i = 0; name && i < n->nr_questions; i++) {
		struct late_question *q = &n->questions[i];
		struct rec_func f = { .name = late_names_text(n, name), .sysname = late_names_text(n, name) };
		const struct rec_frame *frame = late_names_frame(n, q);

		assert_int_equal(late_names_add_line(n, q, &f, &(struct rec_line){ 0 }), 0);
		q->has_offset = true;
		q->offset = 0x70;
		late_names_answer(n, &n->binaries[n->segments[q->segment].binaries[frame->binary]], q, SYMBOL_OK_SYMTAB,
				  LATE_OK);
	}
	return n->nr_questions;
}

/* Copies a trace with this name for each question; NULL: without answers. */
static size_t copy_with(const char *from, const char *to, const char *name, bool again, uint64_t lines_lost)
{
	struct late_names *n = late_names_new(again);
	const struct trace_writer_options opts = { .whole = true };
	struct trace_reader *r;
	struct trace_writer *w;
	struct record rec;
	size_t asked;

	assert_int_equal(trace_reader_open(trace_file(from), NULL, &r), 0);
	trace_reader_give_repeats(r, true);
	assert_int_equal(trace_reader_rewind(r), 0);
	while (trace_reader_next(r, &rec) > 0)
		assert_int_equal(late_names_record(n, trace_reader_status(r)->segment, &rec), 0);
	assert_int_equal(late_names_ask(n), 0);
	asked = answer(n, name);
	n->segments[0].nr_lines_lost = lines_lost;
	assert_int_equal(trace_writer_open(trace_file(to), &opts, &w), 0);
	assert_int_equal(late_copy(n, r, w), 0);
	assert_int_equal(access(trace_file(to), F_OK), -1);	/* not before it is whole */
	assert_int_equal(trace_writer_close(w), 0);
	trace_reader_close(r);
	late_names_free(n);
	return asked;
}

static void assert_same(const struct contents *a, const struct contents *b, enum record_tag tag)
{
	const struct byte_buf *x = &a->log.by_tag[tag], *y = &b->log.by_tag[tag];

	if (x->nr != y->nr || (x->nr && memcmp(x->v, y->v, x->nr)))
		fail_msg("%s records differ", record_name(tag));
}

static size_t copy(const char *from, const char *to, const char *name, bool again)
{
	return copy_with(from, to, name, again, 0);
}

static void release(struct contents *a, struct contents *b)
{
	record_log_release(&a->log);
	record_log_release(&b->log);
}

static void test_without_answers_it_is_a_copy(void **state)
{
	struct contents a, b;

	(void)state;
	assert_int_equal(trace_fixture_write(trace_file("a.pbz")), 0);
	assert_int_equal(copy("a.pbz", "b1.pbz", NULL, false), 1);
	read_all("a.pbz", &a);
	read_all("b1.pbz", &b);
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		assert_same(&a, &b, (enum record_tag)tag);
	assert_int_equal(a.log.nr, b.log.nr);
	assert_true(b.status.has_end);
	release(&a, &b);
}

static void test_a_name_takes_its_place(void **state)
{
	struct contents a, b;

	(void)state;
	assert_int_equal(trace_fixture_write(trace_file("a.pbz")), 0);
	copy("a.pbz", "b2.pbz", "fresh", false);
	read_all("a.pbz", &a);
	read_all("b2.pbz", &b);
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		if (tag != REC_STRING && tag != REC_FUNC && tag != REC_SYMBOL && tag != REC_END)
			assert_same(&a, &b, (enum record_tag)tag);
	assert_int_equal(b.log.nr, a.log.nr + 2);
	assert_int_equal(b.nr_symbols, 1);
	assert_int_equal(b.symbol.status, SYMBOL_OK_SYMTAB);
	assert_int_equal(b.symbol.offset, 0x70);
	assert_string_equal(b.names[b.funcs[b.line.func].name], "fresh");
	assert_int_equal(b.line.func, 10);
	assert_int_equal(a.unresolved, 1);
	assert_int_equal(b.unresolved, 0);
	release(&a, &b);
}

/* What the trace has already is not written again. */
static void test_known_names_are_used(void **state)
{
	struct contents a, b;

	(void)state;
	assert_int_equal(trace_fixture_write(trace_file("a.pbz")), 0);
	copy("a.pbz", "b3.pbz", "schedule", false);
	read_all("a.pbz", &a);
	read_all("b3.pbz", &b);
	assert_same(&a, &b, REC_STRING);
	assert_same(&a, &b, REC_FUNC);
	assert_int_equal(b.line.func, 8);
	release(&a, &b);
}

/* --again: names that were there give way to new ones, and stay where there is none. */
static void test_lines_that_are_given_up_are_a_loss(void **state)
{
	uint64_t count = 0, time_ns = 0, end_ns = 0;
	struct trace_reader *r;
	struct record rec;

	(void)state;
	assert_int_equal(trace_fixture_write(trace_file("a.pbz")), 0);
	copy_with("a.pbz", "b10.pbz", NULL, false, 77);
	assert_int_equal(trace_reader_open(trace_file("b10.pbz"), NULL, &r), 0);
	while (trace_reader_next(r, &rec) > 0) {
		if (rec.tag == REC_LOST && rec.lost.cause == LOSS_LINE_BUDGET) {
			count += rec.lost.count;
			time_ns = rec.lost.time_ns;
		}
		if (rec.tag == REC_END)
			end_ns = rec.end.time_ns;
	}
	trace_reader_close(r);
	assert_int_equal(count, 77);
	assert_int_equal(time_ns, end_ns);
}

static void test_again(void **state)
{
	struct contents a, b;

	(void)state;
	assert_int_equal(trace_fixture_write(trace_file("a.pbz")), 0);
	assert_int_equal(copy("a.pbz", "b4.pbz", "fresh", true), 9);
	read_all("a.pbz", &a);
	read_all("b4.pbz", &b);
	assert_int_equal(b.log.nr, a.log.nr + 2);
	assert_int_equal(b.nr_symbols, 1);
	assert_int_equal(b.unresolved, 0);
	release(&a, &b);
	copy("a.pbz", "b5.pbz", NULL, true);
	read_all("a.pbz", &a);
	read_all("b5.pbz", &b);
	assert_same(&a, &b, REC_SYMBOL);
	release(&a, &b);
}

static void test_two_recordings(void **state)
{
	struct contents a, b;

	(void)state;
	assert_int_equal(trace_fixture_write(trace_file("a.pbz")), 0);
	trace_file_join("aa.pbz", "a.pbz", "a.pbz");
	assert_int_equal(copy("aa.pbz", "b6.pbz", "fresh", false), 2);
	read_all("aa.pbz", &a);
	read_all("b6.pbz", &b);
	assert_int_equal(b.status.nr_segments, 2);
	assert_int_equal(b.status.chunks, a.status.chunks);
	assert_int_equal(b.log.nr, a.log.nr + 4);
	assert_int_equal(b.nr_symbols, 2);
	assert_same(&a, &b, REC_SAMPLE);
	release(&a, &b);
}

/* ---- scans, and what is missing ---- */

static void send(struct trace_writer *w, const struct record *rec)
{
	assert_int_equal(trace_writer_record(w, rec), 0);
}

static uint64_t end_chunk(struct trace_writer *w)
{
	struct trace_writer_stats st;

	assert_int_equal(trace_writer_flush(w), 0);
	trace_writer_stats(w, &st);
	return st.file_bytes;
}

static void send_row(struct trace_writer *w, uint32_t thread, uint32_t scan)
{
	send(w, &(struct record){ .tag = REC_SAMPLE, .sample = { .time_ns = FIX_T0 + scan, .thread = thread,
								  .scan = scan, .event = 1, .ustack = thread } });
}

static void send_repeat(struct trace_writer *w, uint32_t scan, uint32_t nr)
{
	struct rec_run run = { 1, nr };

	send(w, &(struct record){ .tag = REC_REPEAT, .repeat = { FIX_T0 + scan, scan, &run, 1 } });
}

/* Two threads in four chunks; *from .. *to is the one with the new row of thread 1. */
static void write_scans(const char *name, size_t *from, size_t *to)
{
	struct trace_writer *w;

	assert_int_equal(trace_writer_open(trace_file(name), NULL, &w), 0);
	send(w, &(struct record){ .tag = REC_META, .meta = { "symbolize", "none", 4 } });
	send(w, &(struct record){ .tag = REC_STRING, .string = { 1, "/bin/x", 6 } });
	send(w, &(struct record){ .tag = REC_BINARY, .binary = { .id = 1, .path = 1 } });
	send(w, &(struct record){ .tag = REC_EVENT, .event = { .id = 1, .period = 1 } });
	for (uint32_t i = 1; i <= 2; i++) {
		send(w, &(struct record){ .tag = REC_THREAD, .thread = { .id = i, .tid = i } });
		send(w, &(struct record){ .tag = REC_FRAME, .frame = { .id = i, .binary = 1, .addr = i } });
		send(w, &(struct record){ .tag = REC_NODE, .node = { i, 0, i } });
		send_row(w, i, 1);
	}
	end_chunk(w);
	send_repeat(w, 2, 2);
	*from = end_chunk(w);
	send_row(w, 1, 3);
	*to = end_chunk(w);
	send_repeat(w, 4, 2);
	send_row(w, 2, 5);
	assert_int_equal(trace_writer_close(w), 0);
}

static void test_repeats_stay_repeats(void **state)
{
	struct contents a, b;
	size_t from, to;

	(void)state;
	write_scans("s.pbz", &from, &to);
	assert_int_equal(copy("s.pbz", "s2.pbz", "fresh", false), 2);
	read_all("s.pbz", &a);
	read_all("s2.pbz", &b);
	assert_same(&a, &b, REC_REPEAT);
	assert_same(&a, &b, REC_SAMPLE);
	assert_int_equal(b.status.chunks, a.status.chunks);
	assert_int_equal(b.status.lost_repeats, 0);
	assert_string_equal(a.symbolize, "none");
	assert_string_equal(b.symbolize, "late");
	release(&a, &b);
}

/* A lost chunk had the last row of a thread: whoever reads the copy must not take an older one for it. */
static void test_a_lost_chunk_stays_lost(void **state)
{
	struct contents a, b;
	size_t from, to, len;
	char *bytes;

	(void)state;
	write_scans("s.pbz", &from, &to);
	bytes = trace_file_load("s.pbz", &len);
	trace_file_append("lost.pbz", "w", bytes, from);
	trace_file_append("lost.pbz", "a", bytes + to, len - to);
	free(bytes);
	copy("lost.pbz", "lost2.pbz", "fresh", false);
	read_with("lost.pbz", &a, false);
	read_with("lost2.pbz", &b, false);
	assert_int_equal(a.status.bad_chunks, 1);
	assert_int_equal(a.status.lost_repeats, 2);
	assert_int_equal(b.status.bad_chunks, 1);
	assert_int_equal(b.status.lost_repeats, 2);
	assert_same(&a, &b, REC_SAMPLE);
	release(&a, &b);
}

/* A trace that was cut has no END, and its copy has none either. */
static void test_a_cut_trace_has_no_end(void **state)
{
	struct contents b;
	size_t from, to;

	(void)state;
	write_scans("s.pbz", &from, &to);
	trace_file_cut("cut.pbz", "s.pbz", 20);
	assert_int_equal(copy("cut.pbz", "cut2.pbz", "fresh", false), 2);
	read_all("cut2.pbz", &b);
	assert_false(b.status.has_end);
	assert_false(b.status.truncated);
	assert_int_equal(b.status.record_count[REC_SYMBOL], 2);
	record_log_release(&b.log);
}

/* A writer may define something after END; new ids come behind all of it, and so do the names. */
static void test_definitions_after_the_end(void **state)
{
	struct trace_writer *w;
	struct contents b;

	(void)state;
	assert_int_equal(trace_writer_open(trace_file("e.pbz"), NULL, &w), 0);
	send(w, &(struct record){ .tag = REC_STRING, .string = { 1, "/bin/x", 6 } });
	send(w, &(struct record){ .tag = REC_BINARY, .binary = { .id = 1, .path = 1 } });
	send(w, &(struct record){ .tag = REC_FRAME, .frame = { .id = 1, .binary = 1, .addr = 1 } });
	send(w, &(struct record){ .tag = REC_END, .end = { .time_ns = FIX_T0 } });
	end_chunk(w);
	send(w, &(struct record){ .tag = REC_STRING, .string = { 2, "late", 4 } });
	send(w, &(struct record){ .tag = REC_FUNC, .func = { .id = 1, .name = 2 } });
	send(w, &(struct record){ .tag = REC_FRAME, .frame = { .id = 2, .binary = 1, .addr = 2 } });
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(copy("e.pbz", "e2.pbz", "fresh", false), 2);
	read_all("e2.pbz", &b);
	assert_int_equal(b.status.record_count[REC_SYMBOL], 2);
	assert_string_equal(b.names[2], "late");
	assert_string_equal(b.names[3], "fresh");
	assert_int_equal(b.status.record_count[REC_END], 1);
	record_log_release(&b.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_answers_it_is_a_copy),
		cmocka_unit_test(test_a_name_takes_its_place),
		cmocka_unit_test(test_known_names_are_used),
		cmocka_unit_test(test_lines_that_are_given_up_are_a_loss),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_two_recordings),
		cmocka_unit_test(test_repeats_stay_repeats),
		cmocka_unit_test(test_a_lost_chunk_stays_lost),
		cmocka_unit_test(test_a_cut_trace_has_no_end),
		cmocka_unit_test(test_definitions_after_the_end),
	};

	return cmocka_run_group_tests(tests, trace_files_setup, trace_files_teardown);
}
