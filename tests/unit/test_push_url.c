/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/push/push_url.h"
#include "tests/unit/stderr_text.h"

#define OTLP "/v1development/profiles"

static void leads_to(const char *text, const char *protocol, const char *path, const char *expected)
{
	struct push_url u;
	char buf[2 * PUSH_URL_MAX];

	assert_int_equal(push_url_parse("--to", text, protocol, &u), 0);
	assert_int_equal(push_url_with_path(&u, path, buf, sizeof(buf)), 0);
	assert_string_equal(buf, expected);
}

static void test_addresses(void **state)
{
	(void)state;
	leads_to("http://host:4318", NULL, OTLP, "http://host:4318" OTLP);
	leads_to("http://host:4318/", NULL, OTLP, "http://host:4318" OTLP);
	leads_to("otlp+https://a.example.org/x/y//", NULL, OTLP,
		 "https://a.example.org/x/y" OTLP);
	leads_to("HTTPS://host", NULL, OTLP, "https://host" OTLP);
	leads_to("http://[::1]:4040", "pyroscope", "/push.v1.PusherService/Push",
		 "http://[::1]:4040/push.v1.PusherService/Push");
	leads_to("pyroscope+http://h:4040?t=1", "ingest", "/ingest?name=a&from=1",
		 "http://h:4040/ingest?name=a&from=1&t=1");
	leads_to("http://h/p?t=1", NULL, OTLP, "http://h/p" OTLP "?t=1");
	/* The address of the requests themselves. */
	leads_to("http://h:5080/api/default/v1/profiles", NULL, OTLP,
		 "http://h:5080/api/default/v1/profiles");
	leads_to("http://h:5080/v1/profiles?k=v", NULL, OTLP, "http://h:5080/v1/profiles?k=v");
	leads_to("http://h:5080/profiles", "pyroscope", "/push", "http://h:5080/profiles/push");
}

static enum push_protocol speaks(const char *text, const char *protocol)
{
	struct push_url u;

	assert_int_equal(push_url_parse("--to", text, protocol, &u), 0);
	return u.protocol;
}

static void test_protocols(void **state)
{
	(void)state;
	assert_int_equal(speaks("http://h", NULL), PUSH_OTLP);
	assert_int_equal(speaks("http://h", "otlp"), PUSH_OTLP);
	assert_int_equal(speaks("http://h", "ingest"), PUSH_INGEST);
	assert_int_equal(speaks("pyroscope+http://h", NULL), PUSH_PYROSCOPE);
	assert_int_equal(speaks("pyroscope+https://h", "ingest"), PUSH_INGEST);
	assert_int_equal(speaks("ingest+https://h", NULL), PUSH_INGEST);
}

static void refuses(const char *text, const char *protocol, const char *word)
{
	struct push_url u;
	const char *said;

	stderr_begin();
	if (!push_url_parse("--to", text, protocol, &u))
		fail_msg("takes %s", text);
	said = stderr_end();
	if (!strstr(said, word))
		fail_msg("says of %s: %s", text, said);
}

static void test_no_addresses(void **state)
{
	static const char *const wrong[] = {
		"", "host:4318", "http:", "http://", "http:///path", "ftp://h", "file:///etc/passwd",
		"grpc+http://h", "otlp://h", "http://h:", "http://h:0", "http://h:65536",
		"http://h:80x", "http://h:-1", "http://h:+1", "http://h h", "http://h/a b", "http://h/\x01", "http://h\n",
		"http://h/\"", "http://h/\xc3\xa4", "http://h/#x", "http://[::1", "http://[x]", "http://a,b",
		"http://h/\x7f", "+http://h", "otlp+otlp+http://h",
	};
	char text[PUSH_URL_MAX + 10];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		refuses(wrong[i], NULL, "is no address of a receiver");
	snprintf(text, sizeof(text), "http://h/%0*d", PUSH_URL_MAX, 0);
	refuses(text, NULL, "is no address of a receiver");
	refuses("http://h", "grpc", "probee speaks otlp, pyroscope and ingest");
	refuses("otlp+http://h", "pyroscope", "says otlp, and --protocol says pyroscope");
	refuses("pyroscope+http://h", "otlp", "says pyroscope");
}

/* Other users can read the command line, and so the message does not show it either. */
static void test_no_passwords(void **state)
{
	struct push_url u;
	const char *said;

	(void)state;
	refuses("http://user:geheim@h", NULL, "--basic-file");
	stderr_begin();
	assert_int_not_equal(push_url_parse("--to", "http://user:geheim@h/", NULL, &u), 0);
	said = stderr_end();
	assert_null(strstr(said, "geheim"));
}

/* The path comes from the process that reads the trace: it cannot lead elsewhere. */
static void test_paths(void **state)
{
	static const char *const wrong[] = {
		"", "x", "@evil.example/", ":80/", "//evil.example/", "/a b", "/\r\nX: y", "/a#b", "/\x80",
	};
	struct push_url u;
	char buf[2 * PUSH_URL_MAX];

	(void)state;
	assert_int_equal(push_url_parse("--to", "http://h", NULL, &u), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(push_url_with_path(&u, wrong[i], buf, sizeof(buf)), -22);
	assert_int_equal(push_url_with_path(&u, "/abc", buf, 8), -28);
}

static void test_loopback(void **state)
{
	static const struct {
		const char *url;
		bool is_loopback;
	} cases[] = {
		{ "http://127.0.0.1:1", true },
		{ "http://localhost", true },
		{ "http://[::1]:9/x", true },
		{ "http://127.8.9.10/x", true },
		{ "http://localhost.example.org", false },
		{ "http://127.example.org:1", false },
		{ "http://127.0.0.1.example.org", false },
		{ "http://10.0.0.1", false },
	};
	struct push_url u;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(push_url_parse("--to", cases[i].url, NULL, &u), 0);
		assert_int_equal(u.is_loopback, cases[i].is_loopback);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_protocols),
		cmocka_unit_test(test_no_addresses),
		cmocka_unit_test(test_no_passwords),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
