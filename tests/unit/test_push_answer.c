/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/push/push_answer.h"

#define PROTO "application/x-protobuf"

static struct push_answer read_as(unsigned status, const char *type, const void *text, size_t len)
{
	struct push_answer a = { .status = status };

	push_answer_read(&a, true, type, text, len);
	return a;
}

static void test_verdicts(void **state)
{
	static const struct {
		unsigned status;
		enum push_verdict verdict;
	} rows[] = {
		{ 200, PUSH_TAKEN }, { 202, PUSH_TAKEN }, { 204, PUSH_TAKEN },
		{ 429, PUSH_AGAIN }, { 502, PUSH_AGAIN }, { 503, PUSH_AGAIN }, { 504, PUSH_AGAIN },
		{ 400, PUSH_REFUSED }, { 408, PUSH_REFUSED }, { 409, PUSH_REFUSED },
		{ 413, PUSH_REFUSED }, { 415, PUSH_REFUSED }, { 422, PUSH_REFUSED },
		{ 500, PUSH_REFUSED }, { 501, PUSH_REFUSED }, { 599, PUSH_REFUSED },
		{ 301, PUSH_NOT_HERE }, { 307, PUSH_NOT_HERE }, { 401, PUSH_NOT_HERE },
		{ 403, PUSH_NOT_HERE }, { 404, PUSH_NOT_HERE }, { 405, PUSH_NOT_HERE },
		{ 407, PUSH_NOT_HERE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(push_verdict_of(rows[i].status), rows[i].verdict);
}

static void test_partial_success(void **state)
{
	/* partial_success { rejected_profiles: 300 error_message: "too old" } */
	static const char some[] = "\x0a\x0c\x08\xac\x02\x12\x07too old";
	static const char none_rejected[] = "\x0a\x05\x12\x03" "hey";
	static const char empty[] = "\x0a\x00";
	/* An unknown field of each type before and behind it. */
	static const char unknown[] = "\x18\x05\x21" "12345678" "\x2d" "1234" "\x32\x02xy"
				      "\x0a\x02\x08\x01\x18\x05";
	struct push_answer a = read_as(200, PROTO, some, sizeof(some) - 1);

	(void)state;
	assert_int_equal(a.verdict, PUSH_TAKEN);
	assert_true(a.is_partial);
	assert_int_equal(a.rejected, 300);
	assert_string_equal(a.why, "too old");
	a = read_as(200, PROTO, none_rejected, sizeof(none_rejected) - 1);
	assert_true(a.is_partial);
	assert_int_equal(a.rejected, 0);
	assert_string_equal(a.why, "hey");
	a = read_as(200, PROTO, empty, 2);
	assert_false(a.is_partial);
	a = read_as(200, PROTO, "", 0);
	assert_false(a.is_partial);
	assert_int_equal(a.verdict, PUSH_TAKEN);
	a = read_as(200, PROTO "; charset=x", unknown, sizeof(unknown) - 1);
	assert_int_equal(a.rejected, 1);
	/* Of another protocol the text of an answer means nothing. */
	a = (struct push_answer){ .status = 200 };
	push_answer_read(&a, false, PROTO, some, sizeof(some) - 1);
	assert_false(a.is_partial);
	a = read_as(200, "application/json", "{\"x\": 1}", 8);
	assert_false(a.is_partial);
}

static void test_damaged_answers(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{ "\x0a", 1 }, { "\x0a\x05\x08\x01", 4 }, { "\x0a\xff\xff\xff\xff\x0f", 6 },
		{ "\x0a\x02\x08\x80", 4 }, { "\x0b\x00", 2 }, { "\x00\x00", 2 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11 }, { "<html>", 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct push_answer a = read_as(200, PROTO, rows[i].text, rows[i].len);

		/* It was taken, so it is never sent again. */
		assert_int_equal(a.verdict, PUSH_TAKEN);
		assert_string_equal(a.why, "the answer is damaged");
	}
	/* A negative number rejects nothing. */
	assert_int_equal(read_as(200, PROTO, "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13)
			 .rejected, 0);
}

static void test_messages(void **state)
{
	/* google.rpc.Status { code: 3 message: "no\x1b[31m good" } */
	static const char status[] = "\x08\x03\x12\x0d" "no\x1b[31m good!";
	struct push_answer a = read_as(400, PROTO, status, sizeof(status) - 1);

	(void)state;
	assert_string_equal(a.why, "no\\x1b[31m good!");
	a = read_as(400, "text/plain", "\n  first line\r\nsecond", 20);
	assert_string_equal(a.why, "first line");
	/* No Status although it says so: the text as it is. */
	a = read_as(400, PROTO, "plain text", 10);
	assert_string_equal(a.why, "plain text");
	a = read_as(500, NULL, "\xff\xfe", 2);
	assert_string_equal(a.why, "\\xff\\xfe");
	a = read_as(503, NULL, "", 0);
	assert_string_equal(a.why, "");
	assert_false(a.is_too_large);
}

static void test_long_messages(void **state)
{
	char text[4000], line[16];
	struct push_answer a;

	(void)state;
	memset(text, 1, sizeof(text));
	a = read_as(400, NULL, text, sizeof(text));
	assert_true(strlen(a.why) < sizeof(a.why));
	assert_true(strlen(a.why) >= sizeof(a.why) - 4);
	/* Characters are not cut. */
	push_answer_line(line, sizeof(line), "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 16);
	assert_int_equal(strlen(line), 14);
	push_answer_line(line, sizeof(line), "", 0);
	assert_string_equal(line, "");
	push_answer_line(line, sizeof(line), "\0x", 2);
	assert_string_equal(line, "\\x00x");
}

static void test_too_large(void **state)
{
	struct push_answer a = read_as(413, NULL, "x", 1);

	(void)state;
	assert_true(a.is_too_large);
	/* Pyroscope says it while it starts; OTLP forbids to come again. */
	a = (struct push_answer){ .status = 500 };
	push_answer_read(&a, false, NULL,
			 "code = Unavailable", 18);
	assert_int_equal(a.verdict, PUSH_AGAIN);
	a = (struct push_answer){ .status = 500 };
	push_answer_read(&a, true, NULL,
			 "code = Unavailable", 18);
	assert_int_equal(a.verdict, PUSH_REFUSED);
	a = read_as(500, NULL, "grpc: received message larger than max (5000000 vs. 4194304)", 60);
	assert_true(a.is_too_large);
	a = read_as(400, NULL, "no", 2);
	assert_false(a.is_too_large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_partial_success),
		cmocka_unit_test(test_damaged_answers),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_long_messages),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
