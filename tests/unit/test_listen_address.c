/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/stderr_text.h"

static void forms_that_are_known(void **state)
{
	static const struct { const char *text, *link; bool is_loopback; } v[] = {
		{ "8000", "127.0.0.1:8000", true },
		{ "0", "127.0.0.1:0", true },
		{ "65535", "127.0.0.1:65535", true },
		{ "localhost:80", "127.0.0.1:80", true },
		{ "127.8.9.10:1", "127.8.9.10:1", true },
		{ "0.0.0.0:8000", "0.0.0.0:8000", false },
		{ "10.0.0.5:8000", "10.0.0.5:8000", false },
		{ "[::1]:8000", "[::1]:8000", true },
		{ "[::]:8000", "[::]:8000", false },
		{ "[2001:db8::7]:9", "[2001:db8::7]:9", false },
	};
	char text[LISTEN_TEXT_MAX];
	struct listen_address a;

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		assert_int_equal(listen_address_parse(v[i].text, &a), 0);
		listen_address_text(&a, text);
		assert_string_equal(text, v[i].link);
		assert_int_equal(listen_address_is_loopback(&a), v[i].is_loopback);
	}
}

/* Names are not looked up, and nothing is guessed. */
static void other_forms_are_refused(void **state)
{
	static const char *const v[] = {
		"", ":", ":8000", "8000x", "-1", "+80", " 80", "65536", "4294967296", "::1:8000", "[::1]", "[]:80",
		"[127.0.0.1:80", "example.org:80", "127.0.0.1", "127.0.0.1:", "127.1:80", "256.0.0.1:80", "[::1]:80:90",
		"a-name-that-is-longer-than-any-address-may-be-a-name-that-is-longer-than-any:80",
	};
	struct listen_address a;
	const char *said;

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		stderr_begin();
		assert_int_equal(listen_address_parse(v[i], &a), -EINVAL);
		said = stderr_end();
		assert_non_null(strstr(said, "is no address to listen at. Try: 127.0.0.1:8000"));
	}
}

static void any_free_port_becomes_a_real_one(void **state)
{
	struct listen_address a, b;
	char text[LISTEN_TEXT_MAX];
	int fd, other;
	const char *said;

	(void)state;
	assert_int_equal(listen_address_parse("127.0.0.1:0", &a), 0);
	fd = listen_address_open(&a);
	assert_true(fd >= 0);
	assert_int_not_equal(a.port, 0);
	listen_address_text(&a, text);
	assert_int_equal(listen_address_parse(text, &b), 0);
	assert_int_equal(b.port, a.port);
	stderr_begin();
	other = listen_address_open(&b);
	said = stderr_end();
	assert_int_equal(other, -EADDRINUSE);
	assert_non_null(strstr(said, text));
	assert_non_null(strstr(said, "Try: --listen 127.0.0.1:0"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_that_are_known),
		cmocka_unit_test(other_forms_are_refused),
		cmocka_unit_test(any_free_port_becomes_a_real_one),
	};

	return cmocka_run_group_tests_name("listen_address", tests, NULL, NULL);
}
