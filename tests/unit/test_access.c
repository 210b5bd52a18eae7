/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/serve/access.h"
#include "src/serve/listen_address.h"
#include "tests/unit/stderr_text.h"

#define TOKEN "abcdefghijklmnopqrstuvwxyz-_0123"

static const char *const hosts[] = { "profiles.example.org", NULL };
static const struct access guarded = { .token = TOKEN, .hosts = hosts };
static const struct access open_to_all = { .token = "", .hosts = NULL };

static enum access_verdict ask(const struct access *a, const char *path, const char *host)
{
	const struct access_request r = { .path = path, .host = host };
	const char *rest;

	return access_check(a, &r, &rest);
}

static void test_token(void **state)
{
	const struct access_request r = { .path = "/" TOKEN "/json", .host = "127.0.0.1:8000" };
	const char *rest;

	(void)state;
	assert_int_equal(access_check(&guarded, &r, &rest), ACCESS_OK);
	assert_string_equal(rest, "/json");
	assert_int_equal(ask(&guarded, "/" TOKEN, "127.0.0.1"), ACCESS_OK);
	assert_int_equal(ask(&guarded, "/", "127.0.0.1"), ACCESS_NO_TOKEN);
	assert_int_equal(ask(&guarded, "", "127.0.0.1"), ACCESS_NO_TOKEN);
	assert_int_equal(ask(&guarded, "/json", "127.0.0.1"), ACCESS_NO_TOKEN);
	assert_int_equal(ask(&guarded, "/" TOKEN "x/", "127.0.0.1"), ACCESS_NO_TOKEN);
	assert_int_equal(ask(&guarded, "/abcdefghijklmnopqrstuvwxyz-_012/", "127.0.0.1"),
			 ACCESS_NO_TOKEN);
	assert_int_equal(ask(&guarded, "/abcdefghijklmnopqrstuvwxyz-_0124/", "127.0.0.1"),
			 ACCESS_NO_TOKEN);
	/* Twice the token is not the token, although each of its bytes is right. */
	assert_int_equal(ask(&guarded, "/" TOKEN TOKEN "/", "127.0.0.1"), ACCESS_NO_TOKEN);
	assert_int_equal(ask(&open_to_all, "/json", "127.0.0.1"), ACCESS_OK);
	assert_int_equal(ask(&open_to_all, "json", "127.0.0.1"), ACCESS_NO_TOKEN);
}

static enum access_verdict with(const char *authorization)
{
	const struct access_request r = { .path = "/metrics", .host = "localhost",
					  .authorization = authorization };
	const char *rest;
	enum access_verdict v = access_check(&guarded, &r, &rest);

	assert_string_equal(rest, "/metrics");
	return v;
}

static void test_bearer(void **state)
{
	(void)state;
	assert_int_equal(with("Bearer " TOKEN), ACCESS_OK);
	assert_int_equal(with("bearer   " TOKEN), ACCESS_OK);
	assert_int_equal(with("Bearer"), ACCESS_NO_TOKEN);
	assert_int_equal(with("Bearer "), ACCESS_NO_TOKEN);
	assert_int_equal(with("Basic " TOKEN), ACCESS_NO_TOKEN);
	assert_int_equal(with("Bearer " TOKEN "x"), ACCESS_NO_TOKEN);
	assert_int_equal(with(NULL), ACCESS_NO_TOKEN);
}

static void test_host(void **state)
{
	static const char *const right[] = {
		"127.0.0.1", "127.0.0.1:8000", "10.1.2.3:80", "localhost", "LocalHost:1", "[::1]",
		"[fe80::1]:8000", "profiles.example.org", "Profiles.Example.Org:443",
	};
	static const char *const wrong[] = {
		"", ":8000", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
		"127.0.0.1:80:80", "127.0.0.1:8o", "[", "[::1", "[::1]x", "[nonsense]", "::1",
		"profiles.example.org.evil", "127.0.0.1@evil.example", "127.0.0.1 ", "0x7f000001",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_int_equal(ask(&guarded, "/" TOKEN "/", right[i]), ACCESS_OK);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ask(&guarded, "/" TOKEN "/", wrong[i]), ACCESS_WRONG_HOST);
	assert_int_equal(ask(&guarded, "/" TOKEN "/", NULL), ACCESS_WRONG_HOST);
	assert_int_equal(ask(&open_to_all, "/", "profiles.example.org"), ACCESS_WRONG_HOST);
}

static enum access_verdict from_page(const char *origin, const char *site, const char *mode)
{
	const struct access_request r = { .path = "/" TOKEN "/json", .host = "127.0.0.1:8000",
					  .origin = origin, .fetch_site = site,
					  .fetch_mode = mode };
	const char *rest;

	return access_check(&guarded, &r, &rest);
}

static void test_other_pages(void **state)
{
	(void)state;
	assert_int_equal(from_page("http://127.0.0.1:8000", "same-origin", "cors"), ACCESS_OK);
	assert_int_equal(from_page(NULL, "none", "navigate"), ACCESS_OK);
	assert_int_equal(from_page(NULL, "cross-site", "navigate"), ACCESS_OK);
	assert_int_equal(from_page("http://evil.example", NULL, NULL), ACCESS_OTHER_PAGE);
	assert_int_equal(from_page("http://127.0.0.1:9000", NULL, NULL), ACCESS_OTHER_PAGE);
	assert_int_equal(from_page("null", NULL, NULL), ACCESS_OTHER_PAGE);
	assert_int_equal(from_page(NULL, "cross-site", "no-cors"), ACCESS_OTHER_PAGE);
	assert_int_equal(from_page(NULL, "same-site", "no-cors"), ACCESS_OTHER_PAGE);
	assert_int_equal(from_page(NULL, "cross-site", NULL), ACCESS_OTHER_PAGE);
}

static void test_made_tokens_differ(void **state)
{
	struct access a = { .token = "" }, b = { .token = "" };

	(void)state;
	assert_int_equal(access_make_token(&a), 0);
	assert_int_equal(access_make_token(&b), 0);
	assert_int_equal(strlen(a.token), 32);
	assert_string_not_equal(a.token, b.token);
	assert_int_equal(ask(&a, "/", "127.0.0.1"), ACCESS_NO_TOKEN);
}

static int read_file(const char *text, mode_t mode, struct access *a)
{
	char path[] = "/tmp/test_access.XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	fchmod(fd, mode);
	close(fd);
	err = access_read_token(a, path);
	unlink(path);
	return err;
}

static void test_token_files(void **state)
{
	struct access a = { .token = "" };
	char text[4096];

	(void)state;
	assert_int_equal(read_file(TOKEN "\n", 0600, &a), 0);
	assert_string_equal(a.token, TOKEN);
	assert_int_equal(read_file(TOKEN, 0400, &a), 0);
	stderr_begin();
	assert_int_not_equal(read_file(TOKEN "\n", 0640, &a), 0);
	assert_int_not_equal(read_file("short\n", 0600, &a), 0);
	assert_int_not_equal(read_file(TOKEN "\nmore\n", 0600, &a), 0);
	assert_int_not_equal(read_file("with/a/slash/and/more\n", 0600, &a), 0);
	assert_int_not_equal(read_file("", 0600, &a), 0);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_not_equal(read_file(text, 0600, &a), 0);
	assert_int_not_equal(access_read_token(&a, "/nowhere/token"), 0);
	assert_int_not_equal(access_read_token(&a, "/dev/null"), 0);
	stderr_end();
}

static void parses_to(const char *text, const char *expected, bool is_loopback)
{
	struct listen_address a;
	char buf[LISTEN_TEXT_MAX];

	assert_int_equal(listen_address_parse(text, &a), 0);
	listen_address_text(&a, buf);
	assert_string_equal(buf, expected);
	assert_int_equal(listen_address_is_loopback(&a), is_loopback);
}

static void test_addresses(void **state)
{
	static const char *const wrong[] = {
		"", ":", "x", "8000x", "-1", "65536", "127.0.0.1:", "127.0.0.1:65536", "::1:8000",
		"[::1]", "[]:1", ":8000", "example.org:8000", "1.2.3:80", "[::1]8000", "+80",
	};
	struct listen_address a;

	(void)state;
	parses_to("127.0.0.1:8000", "127.0.0.1:8000", true);
	parses_to("8080", "127.0.0.1:8080", true);
	parses_to("localhost:0", "127.0.0.1:0", true);
	parses_to("[::1]:9", "[::1]:9", true);
	parses_to("127.1.2.3:9", "127.1.2.3:9", true);
	parses_to("0.0.0.0:80", "0.0.0.0:80", false);
	parses_to("[::]:80", "[::]:80", false);
	parses_to("192.168.1.1:80", "192.168.1.1:80", false);
	stderr_begin();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_not_equal(listen_address_parse(wrong[i], &a), 0);
	stderr_end();
}

static void test_listening(void **state)
{
	struct listen_address a, again;
	char buf[LISTEN_TEXT_MAX];
	const char *said;
	int fd;

	(void)state;
	assert_int_equal(listen_address_parse("0", &a), 0);
	fd = listen_address_open(&a);
	assert_true(fd >= 0);
	assert_int_not_equal(a.port, 0);
	listen_address_text(&a, buf);
	assert_int_equal(listen_address_parse(buf, &again), 0);
	stderr_begin();
	assert_int_not_equal(listen_address_open(&again) < 0, 0);
	said = stderr_end();
	assert_non_null(strstr(said, "in use"));
	assert_non_null(strstr(said, "Try: --listen 127.0.0.1:0"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_bearer),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_other_pages),
		cmocka_unit_test(test_made_tokens_differ),
		cmocka_unit_test(test_token_files),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_listening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
