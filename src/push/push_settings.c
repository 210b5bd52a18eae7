/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/push/push_options.h"
#include "src/push/push_resource.h"
#include "src/push/push_secret.h"

#define TIMEOUT_NS (30 * NSEC_PER_SEC)
#define GIVE_UP_NS (300 * NSEC_PER_SEC)
#define NO_LIMIT_NS (24 * 3600 * NSEC_PER_SEC)

/* ---- the environment ---- */

/* The variable for profiles, or that for all; *name becomes the one that there is. */
static const char *variable(push_getenv_fn get, const char *last, char name[64])
{
	static const char *const first[] = { "OTEL_EXPORTER_OTLP_PROFILES_",
					     "OTEL_EXPORTER_OTLP_" };

	for (size_t i = 0; i < 2; i++) {
		const char *value;

		snprintf(name, 64, "%s%s", first[i], last);
		value = get(name);
		if (value && *value)
			return value;
	}
	return NULL;
}

/* The address: of an option, or of the environment. */
static int find_url(const struct push_options *o, push_getenv_fn get, struct push_settings *s)
{
	char name[64], other[64];
	const char *value = o->to, *speaks;
	int err;

	if (value)
		return push_url_parse("--to", value, o->protocol, &s->url);
	value = variable(get, "ENDPOINT", name);
	s->no_receiver = !value && o->dry_run;
	if (s->no_receiver)
		return push_url_parse("--to", "http://nowhere", o->protocol, &s->url);
	if (!value)
		return fail_why(-EINVAL, "where to? Try: --to http://127.0.0.1:4318, or set "
				"OTEL_EXPORTER_OTLP_ENDPOINT");
	speaks = variable(get, "PROTOCOL", other);
	if (speaks && strcmp(speaks, "http/protobuf"))
		return fail_why(-EINVAL, "%s=%s: probee speaks http/protobuf. Try: --to with the "
				"receiver's address for that, which mostly has port 4318", other,
				speaks);
	err = push_url_parse(name, value, o->protocol, &s->url);
	if (!err && s->url.protocol != PUSH_OTLP)
		return fail_why(-EINVAL, "%s is an address for OTLP. Try: --to", name);
	/* That for profiles alone is the address of the requests. */
	s->url.is_exact |= !err && strstr(name, "PROFILES");
	return err;
}

static void take_timeout(push_getenv_fn get, struct push_settings *s)
{
	char name[64], *end;
	const char *value = variable(get, "TIMEOUT", name);
	unsigned long ms;

	if (!value)
		return;
	errno = 0;
	ms = strtoul(value, &end, 10);
	if (*end || errno || *value < '0' || *value > '9')
		note("%s=%.40s is no number of milliseconds: not used", name, value);
	else
		s->timeout_ns = !ms || ms > NO_LIMIT_NS / NSEC_PER_MSEC ? NO_LIMIT_NS
									: ms * NSEC_PER_MSEC;
}

static void take_compression(push_getenv_fn get, struct push_settings *s)
{
	char name[64];
	const char *value = variable(get, "COMPRESSION", name);

	if (value && !strcmp(value, "none"))
		s->no_gzip = true;
	else if (value && strcmp(value, "gzip"))
		note("%s=%.40s: probee knows gzip and none: gzip is used", name, value);
}

static void take_variables(push_getenv_fn get, struct push_settings *s)
{
	char name[64];

	take_timeout(get, s);
	take_compression(get, s);
	s->ca_file = variable(get, "CERTIFICATE", name);
	s->cert_file = variable(get, "CLIENT_CERTIFICATE", name);
	s->key_file = variable(get, "CLIENT_KEY", name);
}

/* ---- options ---- */

static int add_header(struct push_headers *h, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value)
		return fail_why(-EINVAL, "--header: NAME=VALUE is wanted");
	if (!strncasecmp(word, "authorization", 13))
		return fail_why(-EINVAL, "--header: others can read command lines. Try: "
				"--bearer-file, --basic-file or --header-file");
	return push_headers_add(h, "--header", word, (size_t)(value - word), value + 1,
				strlen(value + 1));
}

/* Pyroscope takes "a.b" and "a_b" for the same, and then refuses all that is sent. */
static bool is_same_name(const char *a, const char *b)
{
	while (*a && (*a == *b || (strchr("._", *a) && strchr("._", *b) && *b))) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static const struct push_label *find_label(const struct push_settings *s, const char *name)
{
	for (size_t i = 0; i < s->nr_labels; i++)
		if (is_same_name(s->labels[i].name, name))
			return &s->labels[i];
	return NULL;
}

static int add_label(struct push_settings *s, const char *word)
{
	const char *value = strchr(word, '='), *fault;
	struct push_label *l = &s->labels[s->nr_labels];
	char *copy;

	if (!value)
		return fail_why(-EINVAL, "--label %s: NAME=VALUE is wanted", word);
	if (s->nr_labels == PUSH_MAX_LABELS)
		return fail_why(-EINVAL, "--label: %d at most", PUSH_MAX_LABELS);
	copy = strdup(word);
	if (!copy)
		return fail(-ENOMEM, "--label");
	copy[value - word] = 0;
	fault = find_label(s, copy) ? "there is one of that name already; '.' counts as '_'" : NULL;
	*l = (struct push_label){ .name = copy, .value = copy + (value - word) + 1 };
	s->nr_labels++;
	fault = fault ? fault : push_label_fault(l->name, l->value);
	return fault ? fail_why(-EINVAL, "--label %s: %s", word, fault) : 0;
}

static int take_options(const struct push_options *o, struct push_settings *s)
{
	int err = 0;

	for (size_t i = 0; i < o->labels.nr && !err; i++)
		err = add_label(s, o->labels.v[i]);
	s->ca_file = o->ca_file ? o->ca_file : s->ca_file;
	s->cert_file = o->cert_file ? o->cert_file : s->cert_file;
	s->key_file = o->key_file ? o->key_file : s->key_file;
	s->timeout_ns = o->timeout_ns ? o->timeout_ns : s->timeout_ns;
	s->give_up_ns = o->no_wait ? 0 : o->give_up_ns ? o->give_up_ns : GIVE_UP_NS;
	s->no_gzip |= o->no_gzip;
	s->rebase_time = o->rebase_time;
	return err;
}

static int check_readable(const char *path)
{
	return path && access(path, R_OK) ? fail(-errno, "open %s", path) : 0;
}

static int check(const struct push_options *o, const struct push_settings *s)
{
	int err = 0;

	if (o->bearer_file && o->basic_file)
		return fail_why(-EINVAL, "--bearer-file and --basic-file: one or the other");
	if (s->key_file && !s->cert_file)
		return fail_why(-EINVAL, "--key-file %s: which certificate goes with it? Try: "
				"--cert-file", s->key_file);
	if (o->window_ns > PUSH_WINDOW_NS)
		return fail_why(-EINVAL, "--window: 10s at most");
	if (o->dry_run)
		return 0;
	err = check_readable(s->ca_file);
	if (!err)
		err = check_readable(s->cert_file);
	return err ? err : check_readable(s->key_file);
}

static const char *environment(const char *name)
{
	return getenv(name);
}

int push_settings_read(const struct push_options *o, push_getenv_fn get, struct push_settings *s)
{
	int err;

	get = get ? get : environment;
	*s = (struct push_settings){ .timeout_ns = TIMEOUT_NS };
	err = find_url(o, get, s);
	if (!err && s->url.protocol == PUSH_OTLP)
		take_variables(get, s);
	if (!err)
		err = take_options(o, s);
	return err ? err : check(o, s);
}

int push_settings_read_headers(const struct push_options *o, push_getenv_fn get,
			       struct push_settings *s)
{
	struct push_headers *h = &s->headers;
	char name[64];
	const char *value = s->url.protocol == PUSH_OTLP
				    ? variable(get ? get : environment, "HEADERS", name) : NULL;
	int err = value ? push_headers_of_variable(h, name, value) : 0;

	if (!err && o->header_file)
		err = push_secret_headers(h, o->header_file);
	if (!err && o->bearer_file)
		err = push_secret_bearer(h, o->bearer_file);
	if (!err && o->basic_file)
		err = push_secret_basic(h, o->basic_file);
	if (!err && o->tenant)
		err = push_headers_add(h, "--tenant", "X-Scope-OrgID", 13, o->tenant,
				       strlen(o->tenant));
	for (size_t i = 0; i < o->headers.nr && !err; i++)
		err = add_header(h, o->headers.v[i]);
	return err;
}

void push_settings_hide(void)
{
	/* An address of a proxy may hold a password. */
	static const char *const names[] = {
		"OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS", "http_proxy",
		"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *value = getenv(names[i]);

		if (value)
			explicit_bzero(value, strlen(value));
	}
}

void push_settings_release(struct push_settings *s)
{
	push_headers_release(&s->headers);
	while (s->nr_labels)
		free((char *)s->labels[--s->nr_labels].name);
}
