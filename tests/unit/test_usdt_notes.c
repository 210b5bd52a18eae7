/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of USDT probes: whole ones, damaged ones, and what a pattern means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/probes/usdt_notes.h"

struct bytes {
	uint8_t v[4096];
	size_t nr;
};

static void add(struct bytes *b, const void *data, size_t len)
{
	assert_true(b->nr + len <= sizeof(b->v));
	memcpy(b->v + b->nr, data, len);
	b->nr += len;
}

/* A note as sys/sdt.h makes it; texts: those of the three, with their ends. */
static void add_note(struct bytes *b, uint32_t type, uint64_t place, const char *texts, size_t len)
{
	const uint32_t head[3] = { 8, (uint32_t)(24 + len), type };
	const uint64_t words[3] = { place, 0x2000, 0x3000 };
	static const uint8_t zeros[4];

	add(b, head, sizeof(head));
	add(b, "stapsdt", 8);
	add(b, words, sizeof(words));
	add(b, texts, len);
	add(b, zeros, (4 - len % 4) % 4);
}

static int keep(void *ctx, const struct usdt_note *note)
{
	char *text = ctx;
	size_t n = strlen(text);

	snprintf(text + n, 1024 - n, "%llx %llx %llx %s %s [%s]\n", (unsigned long long)note->place,
		 (unsigned long long)note->base, (unsigned long long)note->semaphore,
		 note->provider, note->name, note->arguments);
	return strstr(note->name, "stop") ? 7 : 0;
}

#define TEXTS(t) t, sizeof(t)

static void whole_ones(void **state)
{
	struct bytes b = { .nr = 0 };
	char text[1024] = "";

	(void)state;
	add_note(&b, 3, 0x1234, TEXTS("python\0line\0008@%rax -4@8(%rsp)"));
	add_note(&b, 4, 0x1, TEXTS("other\0type\0"));
	add_note(&b, 3, 0x5678, TEXTS("php\0error\0"));
	assert_int_equal(usdt_notes_each(b.v, b.nr, keep, text), 0);
	assert_string_equal(text, "1234 2000 3000 python line [8@%rax -4@8(%rsp)]\n"
				  "5678 2000 3000 php error []\n");
}

static void damaged_ones_are_passed_over(void **state)
{
	struct bytes b = { .nr = 0 };
	char text[1024] = "";

	(void)state;
	add_note(&b, 3, 1, "no\0end", 6);		/* the name does not end */
	add_note(&b, 3, 2, TEXTS("\0nameless\0"));	/* no provider */
	add_note(&b, 3, 3, TEXTS("a\0b\0"));
	assert_int_equal(usdt_notes_each(b.v, b.nr, keep, text), 0);
	assert_string_equal(text, "3 2000 3000 a b []\n");
}

/* However much is missing, nothing behind the end is read; the sanitizers watch. */
static void cut_anywhere(void **state)
{
	struct bytes b = { .nr = 0 };

	(void)state;
	add_note(&b, 3, 3, TEXTS("a\0b\0008@%rdi"));
	for (size_t len = 0; len < b.nr - 3; len++) {
		uint8_t copy[sizeof(b.v)];
		char text[1024] = "";

		memcpy(copy, b.v, len);
		assert_int_equal(usdt_notes_each(copy, len, keep, text), 0);
		assert_string_equal(text, "");
	}
}

static void the_callback_may_end_it(void **state)
{
	struct bytes b = { .nr = 0 };
	char text[1024] = "";

	(void)state;
	add_note(&b, 3, 1, TEXTS("a\0stop\0"));
	add_note(&b, 3, 2, TEXTS("a\0more\0"));
	assert_int_equal(usdt_notes_each(b.v, b.nr, keep, text), 7);
	assert_null(strstr(text, "more"));
}

static void patterns(void **state)
{
	const struct usdt_note note = { .provider = "postgresql", .name = "query__start" };

	(void)state;
	assert_true(usdt_name_matches("postgresql:query__start", &note));
	assert_true(usdt_name_matches("postgresql:query-start", &note));
	assert_true(usdt_name_matches("*:query-*", &note));
	assert_true(usdt_name_matches("post*:*", &note));
	assert_true(usdt_name_matches("*:quer[x-z]*", &note));
	assert_false(usdt_name_matches("postgresql:query", &note));
	assert_false(usdt_name_matches("query__start", &note));
	assert_false(usdt_name_matches("mysql:*", &note));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_ones),
		cmocka_unit_test(damaged_ones_are_passed_over),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(the_callback_may_end_it),
		cmocka_unit_test(patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
