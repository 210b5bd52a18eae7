/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a parser process that was taken over may answer instead of the truth. Each test begins with
 * an answer that is sound, then spoils one field of it at a time.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/elf/debug_name.h"
#include "src/elf/elf_image.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/parsers.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/symbol_batch.h"

/* As helper_receive() does: a copy with a NUL behind it. */
static struct message_part part(const void *v, size_t len)
{
	struct message_part p = { malloc(len + 1), len };

	assert_non_null(p.v);
	if (len)
		memcpy(p.v, v, len);
	((char *)p.v)[len] = 0;
	return p;
}

static void test_status(void **state)
{
	static const struct {
		int32_t said;
		int heard;
	} rows[] = {
		{ 0, 0 }, { -ENOEXEC, -ENOEXEC }, { -EAGAIN, -EAGAIN },
		{ 1, -EPROTO }, { INT32_MAX, -EPROTO }, { -4096, -EPROTO }, { INT32_MIN, -EPROTO },
		{ -ETIMEDOUT, -EPROTO }, { -ECANCELED, -EPROTO }, { -EPIPE, -EPROTO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct helper_message m = { .status = rows[i].said };

		assert_int_equal(parse_take_status(&m), rows[i].heard);
	}
}

/* ---- identity ---- */

static int take_identity(const struct elf_identity *id, const struct rec_segment *v, size_t nr)
{
	struct helper_message m = { .part = { part(id, sizeof(*id)), part(v, nr * sizeof(*v)) } };
	struct elf_identity out;
	int err = parse_take_identity(&m, &out);

	if (!err)
		free(out.segments);
	helper_message_release(&m);
	return err;
}

static void test_identity(void **state)
{
	const struct elf_identity good = { .vaddr_lo = 0x1000, .vaddr_hi = 0x9000,
					   .build_id_len = 20, .nr_segments = 1 };
	const struct rec_segment code = { 0x1000, 0x2000, 0x3000 };
	struct elf_identity id = good;
	struct rec_segment s = code;

	(void)state;
	assert_int_equal(take_identity(&id, &s, 1), 0);
	assert_int_equal(take_identity(&id, &s, 0), -EPROTO);
	id.build_id_len = 65;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
	id = good, id.vaddr_hi = 0xfff;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
	id = good, id.vaddr_lo = 0x1001;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
	id = good, s.offset = UINT64_MAX;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
	s = code, s.vaddr = UINT64_MAX - 1;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
	s = code, s.vaddr = 0;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
	s = code, s.filesz = 0x7001;
	assert_int_equal(take_identity(&id, &s, 1), -EPROTO);
}

static void test_number_of_segments(void **state)
{
	const size_t max = ELF_MAX_SEGMENTS;
	struct rec_segment *v = test_calloc(max + 1, sizeof(*v));
	struct elf_identity id = { .nr_segments = (uint32_t)max };

	(void)state;
	assert_int_equal(take_identity(&id, v, max), 0);
	id.nr_segments++;
	assert_int_equal(take_identity(&id, v, max + 1), -EPROTO);
	test_free(v);
}

/* ---- names ---- */

static int take_names(uint32_t flags, const struct symbol_answer *v, size_t nr, const char *text,
		      size_t len)
{
	struct names_answer head = { .flags = flags };
	struct helper_message m = { .part = { part(&head, sizeof(head)), part(v, nr * sizeof(*v)),
					      part(text, len) } };
	struct symbol_answer mine[2] = { { .addr = 1 }, { .addr = 2 } };
	struct symbol_batch b = { .v = mine, .nr = nr };
	struct symbol_file_notes notes = { 0 };
	struct symbol_file file = { .notes = &notes };
	uint32_t nr_late;
	int err = parse_take_names(&m, &file, &b, &nr_late);

	helper_message_release(&m);
	symbol_batch_release(&b);
	return err;
}

static const char names[] = "_Z1a\0a\0main";		/* at 0, 5, 7 */
static const struct symbol_answer answers[2] = {
	{ .sysname = 0, .name = 5, .status = SYMBOL_OK_SYMTAB },
	{ .sysname = 7, .name = 7, .status = SYMBOL_OK_SYMTAB, .func_flags = FUNC_PLT },
};

static int take_spoilt(const struct symbol_answer *first, const struct symbol_answer *second)
{
	const struct symbol_answer v[2] = { first ? *first : answers[0],
					    second ? *second : answers[1] };

	return take_names(0, v, 2, names, sizeof(names));
}

static void test_flags(void **state)
{
	struct symbol_answer a = answers[0];

	(void)state;
	assert_int_equal(take_spoilt(NULL, NULL), 0);
	assert_int_equal(take_names(15, answers, 2, names, sizeof(names)), 0);
	assert_int_equal(take_names(16, answers, 2, names, sizeof(names)), -EPROTO);
	assert_int_equal(take_names(1u << 31, answers, 2, names, sizeof(names)), -EPROTO);
	a.func_flags = FUNC_JIT;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
	a.func_flags = 8;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
	a = answers[0], a.status = SYMBOL_STATUSES;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
	a = answers[0], a.lang = LANGS;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
	a = answers[0], a.has_func_addr = 2;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
}

/* Else a text of 64 MiB would be as many names as it has bytes, each up to 64 KiB long. */
static void test_names_that_overlap(void **state)
{
	struct symbol_answer a = answers[0], b = answers[1];

	(void)state;
	b.name = b.sysname = 5;
	assert_int_equal(take_spoilt(NULL, &b), -EPROTO);
	b.name = b.sysname = 6;
	assert_int_equal(take_spoilt(NULL, &b), -EPROTO);
	b = answers[1], b.name = 8;
	assert_int_equal(take_spoilt(NULL, &b), -EPROTO);
	a.name = 1;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
	a = answers[0], a.name = SYMBOL_NO_NAME;
	assert_int_equal(take_spoilt(&a, NULL), -EPROTO);
	a.sysname = SYMBOL_NO_NAME;
	assert_int_equal(take_spoilt(&a, NULL), 0);
	b = answers[1], b.name = b.sysname = sizeof(names);
	assert_int_equal(take_spoilt(NULL, &b), -EPROTO);
}

/* One answer; its names have so many bytes. sysname 0: both are one. */
static int take_lengths(size_t sysname, size_t name)
{
	size_t len = sysname + 1 + name + 1;
	char *text = test_malloc(len);
	struct symbol_answer a = { .name = sysname ? (uint32_t)sysname + 1 : 0 };
	int err;

	memset(text, 'n', len);
	text[sysname ? sysname : len - 1] = 0;
	text[len - 1] = 0;
	err = take_names(0, &a, 1, text, len);
	test_free(text);
	return err;
}

static void test_length_of_names(void **state)
{
	(void)state;
	assert_int_equal(take_lengths(ELF_SYMBOL_NAME_MAX - 1, DEMANGLE_MAX_OUT), 0);
	assert_int_equal(take_lengths(ELF_SYMBOL_NAME_MAX, 5), -EPROTO);
	assert_int_equal(take_lengths(5, DEMANGLE_MAX_OUT + 64), -EPROTO);
	assert_int_equal(take_lengths(0, ELF_SYMBOL_NAME_MAX), -EPROTO);
}

/* ---- maps of generated code ---- */

static int take_marked(const struct perf_map_mark *mark, size_t mark_len)
{
	struct perf_map_query v = { .addr = 0x100, .name = PERF_MAP_NO_NAME };
	struct helper_message m = { .part = { part(&v, sizeof(v)), part("", 0), part(mark, mark_len) } };
	struct perf_map_mark to = { 0 };
	struct byte_buf found = { 0 };
	int err = parse_take_queries(&m, &v, 1, 100, &to, &found);

	if (!err)
		assert_int_equal(to.bytes, mark->bytes);
	helper_message_release(&m);
	bb_release(&found);
	return err;
}

static void test_marks(void **state)
{
	struct perf_map_mark mark = { .bytes = 100 };

	(void)state;
	assert_int_equal(take_marked(&mark, sizeof(mark)), 0);
	assert_int_equal(take_marked(&mark, sizeof(mark) - 1), -EPROTO);
	mark.bytes++;			/* behind the end of the file */
	assert_int_equal(take_marked(&mark, sizeof(mark)), -EPROTO);
}

/* An answer with all texts, of which one thing is spoilt. */
static void test_texts_of_queries(void **state)
{
	static const char text[] = "JS:~f /a.js:1:2\0f\0/a.js\0";	/* at 0, 16, 18 */
	const struct perf_map_query good = { .addr = 1, .name = 16, .sysname = 0, .file = 18,
					     .lang = LANGS - 1, .tier = TIERS - 1 };
	struct perf_map_query v[] = { good, good, good, good, good, good, good };

	(void)state;
	v[1].sysname = 1;
	v[2].file = 17;
	v[3].lang = LANGS;
	v[4].tier = TIERS;
	v[5].sysname = sizeof(text);
	v[6].file = PERF_MAP_NO_NAME;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct perf_map_query mine = { .addr = 1, .name = PERF_MAP_NO_NAME };
		struct perf_map_mark mark = { 0 };
		struct helper_message m = { .part = { part(&v[i], sizeof(v[i])), part(text, sizeof(text)),
						      part(&mark, sizeof(mark)) } };
		struct byte_buf to = { 0 };

		assert_int_equal(parse_take_queries(&m, &mine, 1, 0, &mark, &to),
				 i && i < 6 ? -EPROTO : 0);
		helper_message_release(&m);
		bb_release(&to);
	}
}

static int take_query(uint64_t addr, uint64_t start, uint32_t name, const char *text, size_t len)
{
	struct perf_map_mark mark = { 0 };
	struct perf_map_query mine = { .addr = 0x100, .name = PERF_MAP_NO_NAME },
			      got = { .addr = addr, .start = start, .name = name,
				      .sysname = name, .file = PERF_MAP_NO_NAME };
	struct helper_message m = { .part = { part(&got, sizeof(got)), part(text, len),
					      part(&mark, sizeof(mark)) } };
	struct byte_buf to = { 0 };
	int err = parse_take_queries(&m, &mine, 1, 0, &mark, &to);

	helper_message_release(&m);
	bb_release(&to);
	return err;
}

static void test_queries(void **state)
{
	static const char text[] = "one\0two\nlines\0";
	char *big = test_calloc(1, PERF_MAP_MAX_NAMES + 1);

	(void)state;
	assert_int_equal(take_query(0x100, 0x100, 0, text, sizeof(text)), 0);
	assert_int_equal(take_query(0x101, 0x100, 0, text, sizeof(text)), -EPROTO);
	assert_int_equal(take_query(0x100, 0x101, 0, text, sizeof(text)), -EPROTO);
	assert_int_equal(take_query(0x100, 0x100, 1, text, sizeof(text)), -EPROTO);
	assert_int_equal(take_query(0x100, 0x100, 3, text, sizeof(text)), -EPROTO);
	assert_int_equal(take_query(0x100, 0x100, 4, text, sizeof(text)), -EPROTO);
	assert_int_equal(take_query(0x100, 0x100, sizeof(text), text, sizeof(text)), -EPROTO);
	memset(big, 'n', PERF_MAP_NAME_MAX + 1);
	assert_int_equal(take_query(0x100, 0, 0, big, 2 * PERF_MAP_NAME_MAX), -EPROTO);
	big[PERF_MAP_NAME_MAX] = 0;
	assert_int_equal(take_query(0x100, 0, 0, big, 2 * PERF_MAP_NAME_MAX), 0);
	assert_int_equal(take_query(0x100, 0, 0, big, PERF_MAP_MAX_NAMES + 1), -EPROTO);
	test_free(big);
}

/* ---- debug files ---- */

static int take_link(const char *link, size_t len, uint32_t build_id_len)
{
	struct debug_name name = { .build_id_len = build_id_len }, out;
	struct helper_message m;
	int err;

	memcpy(name.link, link, len);
	m = (struct helper_message){ .part = { part(&name, sizeof(name)) } };
	err = parse_take_debug_name(&m, &out);
	helper_message_release(&m);
	return err;
}

/* ---- windows of generated code ---- */

#define WINDOW 0x7f0000010000ull

static int take_code(const struct code_answer *a, const struct unwind_page *page,
		     const struct unwind_row *row, const struct unwind_rule *rule)
{
	static const uint8_t bytes[64];
	const struct unwind_rule rules[] = { { .cfa = CFA_NONE }, *rule };
	const struct code_piece piece = { bytes, sizeof(bytes), WINDOW + 0x1000 };
	const struct code_window in = { .pieces = &piece, .nr_pieces = 1 };
	struct helper_message m = { .part = { part(a, sizeof(*a)), part(page, sizeof(*page)),
					      part(row, sizeof(*row)), part(rules, sizeof(rules)) } };
	struct unwind_table *t = NULL;
	struct code_wants wants = { 0 };
	int err = parse_take_code(&m, &in, &t, &wants);

	if (!err)
		assert_int_equal(unwind_table_find(t, WINDOW + 0x1000).cfa, rule->cfa);
	unwind_table_free(t);
	helper_message_release(&m);
	return err;
}

static void test_code(void **state)
{
	static const struct unwind_rule good[] = {
		{ .cfa = CFA_SP, .cfa_off = 16, .ra = RULE_GUESSED },
		{ .cfa = CFA_FP, .cfa_off = 16, .ra = RULE_GUESSED, .fp = FP_CFA, .fp_off = -16 },
		{ .cfa = CFA_SP, .cfa_off = 8, .ra = RULE_GUESSED, .aux = CODE_SEARCH_WORDS },
		{ .cfa = CFA_UNSUPPORTED, .ra = RULE_GUESSED },
	}, bad[] = {
		{ .cfa = CFA_SP, .cfa_off = 16 },
		{ .cfa = CFA_ROOT, .ra = RULE_GUESSED },
		{ .cfa = CFA_SIGNAL, .ra = RULE_GUESSED },
		{ .cfa = CFA_SP, .ra = RULE_GUESSED | RULE_EXACT },
		{ .cfa = CFA_SP, .ra = RULE_GUESSED, .aux = CODE_SEARCH_WORDS + 1 },
		{ .cfa = CFA_SP, .ra = RULE_GUESSED, .aux = -1 },
		{ .cfa = CFA_SP, .ra = RULE_GUESSED, .fp = FP_DEREF_FP },
	};
	const struct unwind_page page = { .first = 0, .nr = 1 };
	const struct unwind_row row = { .pc_lo = 0x100, .rule = 1 };
	struct code_answer a = { .head = { WINDOW, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(take_code(&a, &page, &row, &good[i]), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(take_code(&a, &page, &row, &bad[i]), -EPROTO);
	a.wants.nr = CODE_MAX_WANTS + 1;
	assert_int_equal(take_code(&a, &page, &row, &good[0]), -EPROTO);
	a.wants.nr = 0;
	a.head.vaddr_lo += 0x10000;	/* another window than was asked for */
	assert_int_equal(take_code(&a, &page, &row, &good[0]), -EPROTO);
}

static void test_debug_name(void **state)
{
	char unending[sizeof(((struct debug_name *)0)->link)];

	(void)state;
	memset(unending, 'n', sizeof(unending));
	assert_int_equal(take_link("lib.debug", 10, 20), 0);
	assert_int_equal(take_link("", 1, 64), 0);
	assert_int_equal(take_link("", 1, 65), -EPROTO);
	assert_int_equal(take_link("../etc/shadow", 14, 20), -EPROTO);
	assert_int_equal(take_link("..", 3, 20), -EPROTO);
	assert_int_equal(take_link(unending, sizeof(unending), 20), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_number_of_segments),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_names_that_overlap),
		cmocka_unit_test(test_length_of_names),
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_texts_of_queries),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_debug_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
