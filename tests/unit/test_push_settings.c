/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
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

#include "src/base/clock.h"
#include "src/push/push_options.h"
#include "src/push/push_settings.h"
#include "tests/unit/stderr_text.h"

/* The environment: names and values by turns. */
static const char *const *variables;

static const char *get(const char *name)
{
	for (const char *const *v = variables; v && *v; v += 2)
		if (!strcmp(v[0], name))
			return v[1];
	return NULL;
}

static int read_all(const struct push_options *o, struct push_settings *s)
{
	int err = push_settings_read(o, get, s);

	return err ? err : push_settings_read_headers(o, get, s);
}

static struct push_settings reads(const char *const *env, const struct push_options *o)
{
	struct push_settings s;

	variables = env;
	assert_int_equal(read_all(o, &s), 0);
	return s;
}

static void refuses(const char *const *env, const struct push_options *o, const char *word)
{
	struct push_settings s;
	const char *said;
	int err;

	variables = env;
	stderr_begin();
	err = read_all(o, &s);
	said = stderr_end();
	push_settings_release(&s);
	assert_true(err < 0);
	if (!strstr(said, word))
		fail_msg("says: %s", said);
	assert_null(strstr(said, "geheim"));
}

static const char *address(const struct push_settings *s)
{
	static char buf[2 * PUSH_URL_MAX];

	assert_int_equal(push_url_with_path(&s->url, "/v1development/profiles", buf, sizeof(buf)),
			 0);
	return buf;
}

static const struct push_options nothing;

static void test_endpoints(void **state)
{
	static const char *const all[] = { "OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/x", NULL };
	static const char *const one[] = { "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT",
					   "http://one:1/as/it/is",
					   "OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318", NULL };
	static const char *const blank[] = { "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "",
					     "OTEL_EXPORTER_OTLP_ENDPOINT", "http://all", NULL };
	static const char *const grpc[] = { "OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4317",
					    "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", NULL };
	const struct push_options to = { .to = "http://option" };
	struct push_settings s = reads(all, &nothing);

	(void)state;
	assert_string_equal(address(&s), "http://all:4318/x/v1development/profiles");
	s = reads(one, &nothing);
	assert_string_equal(address(&s), "http://one:1/as/it/is");
	s = reads(blank, &nothing);
	assert_string_equal(address(&s), "http://all/v1development/profiles");
	s = reads(one, &to);
	assert_string_equal(address(&s), "http://option/v1development/profiles");
	refuses(NULL, &nothing, "where to?");
	refuses(grpc, &nothing, "http/protobuf");
	refuses(all, &(struct push_options){ .protocol = "pyroscope" }, "address for OTLP");
	s = reads(grpc, &to);
	push_settings_release(&s);
}

static void has(const struct push_settings *s, const char *line)
{
	for (size_t i = 0; i < s->headers.nr; i++)
		if (!strcmp(s->headers.v[i], line))
			return;
	fail_msg("no header %s", line);
}

static void test_headers_of_the_environment(void **state)
{
	static const char *const env[] = {
		"OTEL_EXPORTER_OTLP_HEADERS", " api-key = a%20b%2Cc ,X-Two=2=3,, x-Two=4", NULL
	};
	static const char *const both[] = { "OTEL_EXPORTER_OTLP_HEADERS", "a=1",
					    "OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "b=2", NULL };
	static const char *const wrong[][3] = {
		{ "OTEL_EXPORTER_OTLP_HEADERS", "geheim", NULL },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a=geheim%0d%0aX: y", NULL },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "Content-Length=5", NULL },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a b=geheim", NULL },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a=", NULL },
	};
	const struct push_options to = { .to = "http://h" };
	const struct push_options pyroscope = { .to = "pyroscope+http://h" };
	struct push_settings s = reads(env, &to);

	(void)state;
	assert_int_equal(s.headers.nr, 2);
	has(&s, "api-key: a b,c");
	has(&s, "x-Two: 4");
	push_settings_release(&s);
	s = reads(both, &to);
	assert_int_equal(s.headers.nr, 1);
	has(&s, "b: 2");
	push_settings_release(&s);
	/* What is meant for OTLP goes nowhere else. */
	s = reads(both, &pyroscope);
	assert_int_equal(s.headers.nr, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		refuses(wrong[i], &to, "OTEL_EXPORTER_OTLP_HEADERS");
}

static void test_other_variables(void **state)
{
	static const char *const env[] = {
		"OTEL_EXPORTER_OTLP_TIMEOUT", "1500", "OTEL_EXPORTER_OTLP_COMPRESSION", "none",
		"OTEL_EXPORTER_OTLP_CERTIFICATE", "/dev/null",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/dev/null",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/dev/zero", NULL
	};
	static const char *const profiles[] = {
		"OTEL_EXPORTER_OTLP_TIMEOUT", "1500", "OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT", "0",
		"OTEL_EXPORTER_OTLP_COMPRESSION", "none",
		"OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION", "gzip", NULL
	};
	static const char *const odd[] = { "OTEL_EXPORTER_OTLP_TIMEOUT", "soon",
					   "OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", NULL };
	static const char *const missing[] = { "OTEL_EXPORTER_OTLP_CERTIFICATE", "/none", NULL };
	const struct push_options to = { .to = "http://h" };
	struct push_settings s = reads(env, &to);
	const char *said;

	(void)state;
	assert_int_equal(s.timeout_ns, 1500 * NSEC_PER_MSEC);
	assert_true(s.no_gzip);
	assert_string_equal(s.ca_file, "/dev/null");
	assert_string_equal(s.cert_file, "/dev/null");
	assert_string_equal(s.key_file, "/dev/zero");
	s = reads(profiles, &to);
	assert_int_equal(s.timeout_ns, 24 * 3600 * NSEC_PER_SEC);
	assert_false(s.no_gzip);
	s = reads(env, &(struct push_options){ .to = "http://h", .timeout_ns = 7, .ca_file = "/dev/zero" });
	assert_int_equal(s.timeout_ns, 7);
	assert_string_equal(s.ca_file, "/dev/zero");
	stderr_begin();
	s = reads(odd, &to);
	said = stderr_end();
	assert_int_equal(s.timeout_ns, 30 * NSEC_PER_SEC);
	assert_false(s.no_gzip);
	assert_non_null(strstr(said, "OTEL_EXPORTER_OTLP_TIMEOUT=soon"));
	assert_non_null(strstr(said, "OTEL_EXPORTER_OTLP_COMPRESSION=zstd"));
	refuses(missing, &to, "No such file");
}

static const char *file_of(const char *text, mode_t mode)
{
	static char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/test_push.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	fchmod(fd, mode);
	close(fd);
	return path;
}

static void test_secret_files(void **state)
{
	struct push_options o = { .to = "http://h", .bearer_file = file_of("geheim\n", 0600) };
	struct push_settings s = reads(NULL, &o);

	(void)state;
	has(&s, "Authorization: Bearer geheim");
	push_settings_release(&s);
	chmod(o.bearer_file, 0640);
	refuses(NULL, &o, "chmod 600");
	unlink(o.bearer_file);
	refuses(NULL, &o, "No such file");
	o = (struct push_options){ .to = "http://h", .basic_file = file_of("user:geheim", 0400) };
	s = reads(NULL, &o);
	has(&s, "Authorization: Basic dXNlcjpnZWhlaW0=");
	push_settings_release(&s);
	o.bearer_file = o.basic_file;
	refuses(NULL, &o, "one or the other");
	unlink(o.basic_file);
	o = (struct push_options){ .to = "http://h", .basic_file = file_of("geheim", 0600) };
	refuses(NULL, &o, "USER:PASSWORD");
	unlink(o.basic_file);
	o = (struct push_options){ .to = "http://h", .bearer_file = file_of("geheim\nx\n", 0600) };
	refuses(NULL, &o, "one line");
	unlink(o.bearer_file);
	o = (struct push_options){ .to = "http://h",
				   .header_file = file_of("# c\n\nX-Key: geheim\r\nb=2\n  \n", 0600) };
	s = reads(NULL, &o);
	assert_int_equal(s.headers.nr, 2);
	has(&s, "X-Key: geheim");
	has(&s, "b: 2");
	push_settings_release(&s);
	unlink(o.header_file);
	o = (struct push_options){ .to = "http://h", .header_file = "/tmp" };
	refuses(NULL, &o, "no regular file");
}

static void test_options(void **state)
{
	const char *headers[] = { "X-A=1", "x-a=2" };
	const char *secret[] = { "authorization=geheim" }, *labels[] = { "env=prod", "x=a=b" };
	const char *bad[] = { "__x=1" }, *none[] = { "geheim" };
	struct push_options o = { .to = "http://h", .tenant = "team", .headers = { headers, 2, 2 },
				  .labels = { labels, 2, 2 } };
	struct push_settings s = reads(NULL, &o);

	(void)state;
	assert_int_equal(s.headers.nr, 2);
	has(&s, "X-Scope-OrgID: team");
	has(&s, "x-a: 2");
	assert_int_equal(s.nr_labels, 2);
	assert_string_equal(s.labels[0].name, "env");
	assert_string_equal(s.labels[0].value, "prod");
	assert_string_equal(s.labels[1].value, "a=b");
	assert_int_equal(s.give_up_ns, 300 * NSEC_PER_SEC);
	push_settings_release(&s);
	o.headers = (struct push_words){ secret, 1, 1 };
	refuses(NULL, &o, "--bearer-file");
	o.headers = (struct push_words){ none, 1, 1 };
	refuses(NULL, &o, "NAME=VALUE");
	o.headers.nr = 0;
	o.labels = (struct push_words){ bad, 1, 1 };
	refuses(NULL, &o, "--label __x=1");
	o.labels = (struct push_words){ (const char *[]){ "a.b=1", "a_b=2" }, 2, 2 };
	refuses(NULL, &o, "--label a_b=2");
	refuses(NULL, &(struct push_options){ .to = "http://h", .window_ns = 11 * NSEC_PER_SEC },
		"10s at most");
	refuses(NULL, &(struct push_options){ .to = "http://h", .key_file = "/dev/null" },
		"--cert-file");
	s = reads(NULL, &(struct push_options){ .to = "http://h", .no_wait = true });
	assert_int_equal(s.give_up_ns, 0);
}

/* What a process that reads foreign bytes does first. */
static void test_hide(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "key=geheim", 1);
	setenv("https_proxy", "http://u:geheim@proxy", 1);
	push_settings_hide();
	assert_string_equal(getenv("OTEL_EXPORTER_OTLP_HEADERS"), "");
	assert_string_equal(getenv("https_proxy"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_headers_of_the_environment),
		cmocka_unit_test(test_other_variables),
		cmocka_unit_test(test_secret_files),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_hide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
