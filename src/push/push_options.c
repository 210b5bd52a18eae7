/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/opt.h"

static int add_word(const struct opt *o, const char *value, void *dst)
{
	struct push_words *w = dst;
	const char **slot = array_push(&w->v, &w->nr, &w->cap);

	if (!slot)
		return fail(-ENOMEM, "--%s", o->name);
	*slot = value;
	return 0;
}

static int read_threads(const struct opt *o, const char *value, void *dst)
{
	if (push_threads_parse(value, dst))
		return 0;
	return fail_why(-EINVAL, "--%s %s: id, name or none is wanted", o->name, value);
}

bool push_threads_parse(const char *word, enum push_threads *threads)
{
	static const char *const words[PUSH_THREADS] = { "id", "name", "none" };

	for (unsigned i = 0; i < PUSH_THREADS; i++)
		if (!strcmp(word, words[i])) {
			*threads = (enum push_threads)i;
			return true;
		}
	return false;
}

#define AT(field) offsetof(struct push_options, field)

static const struct opt rows_of_push[] = {
	{ 0, "to", "URL",
	  "the receiver: http://HOST:PORT, otlp+https://..., pyroscope+http://... (default: "
	  "$OTEL_EXPORTER_OTLP_ENDPOINT)",
	  opt_string, AT(to), NULL, "Receiver", NULL },
	{ 0, "protocol", "otlp|pyroscope|ingest",
	  "what is spoken there: OTLP profiles (default), Pyroscope's push.v1, or pprof by "
	  "Pyroscope's /ingest",
	  opt_string, AT(protocol), NULL, NULL, NULL },
	{ 0, "tenant", "NAME", "the tenant (X-Scope-OrgID)", opt_string, AT(tenant), NULL, NULL,
	  NULL },
	{ 0, "header", "NAME=VALUE", "this header with each request; give it again for more",
	  add_word, AT(headers), NULL, NULL, NULL },
	{ 0, "header-file", "FILE",
	  "headers that are secret, a line each; only its owner may read FILE", opt_string,
	  AT(header_file), NULL, NULL, NULL },
	{ 0, "bearer-file", "FILE", "FILE holds a token: Authorization: Bearer", opt_string,
	  AT(bearer_file), NULL, NULL, NULL },
	{ 0, "basic-file", "FILE", "FILE holds USER:PASSWORD: Authorization: Basic", opt_string,
	  AT(basic_file), NULL, NULL, NULL },
	{ 0, "ca-file", "FILE",
	  "certificates (PEM) that the receiver's must come from (default: those of the system)",
	  opt_string, AT(ca_file), NULL, NULL, NULL },
	{ 0, "cert-file", "FILE", "the certificate (PEM) of this machine", opt_string,
	  AT(cert_file), NULL, NULL, NULL },
	{ 0, "key-file", "FILE", "its key (PEM)", opt_string, AT(key_file), NULL, NULL, NULL },
	{ 0, "timeout", "TIME", "wait so long for an answer (default 30s)", opt_duration,
	  AT(timeout_ns), NULL, NULL, NULL },
	{ 0, "give-up", "TIME",
	  "try again until the receiver has taken nothing for so long (default 5m)", opt_duration,
	  AT(give_up_ns), NULL, NULL, NULL },
	{ 0, "no-gzip", NULL, "send bodies as they are", opt_flag, AT(no_gzip), NULL, NULL, NULL },
	{ 0, "service", "NAME",
	  "the service that all of it belongs to (default: that of each process: unit, cgroup, "
	  "program)",
	  opt_string, AT(service), NULL, "What is sent", NULL },
	{ 0, "label", "NAME=VALUE", "this label on all of it; give it again for more", add_word,
	  AT(labels), NULL, NULL, NULL },
	{ 0, "threads", "id|name|none",
	  "threads by number and name (default), or threads of equal names as one, or all as one: "
	  "receivers may make a series of each",
	  read_threads, AT(threads), NULL, NULL, NULL },
	{ 0, "addresses", NULL, "OTLP: addresses of frames that have names, too", opt_flag,
	  AT(addresses), NULL, NULL, NULL },
	{ 0, "window", "TIME", "so much time in one profile (default and most 10s)", opt_duration,
	  AT(window_ns), NULL, NULL, NULL },
	{ 0, "body-size", "SIZE",
	  "no request larger than that before compression (default 16M)", opt_size,
	  AT(body_bytes), NULL, NULL, NULL },
	{ 0, "pace", "SIZE",
	  "no more than that a second, as Pyroscope counts (default: 2M for its own protocols, and "
	  "for OTLP once it has refused more)",
	  opt_size, AT(pace_bytes), NULL, NULL, NULL },
	{ 0, "rebase-time", NULL,
	  "move all times so that the trace ends now: receivers refuse what is old", opt_flag,
	  AT(rebase_time), NULL, NULL, NULL },
};

_Static_assert(sizeof(rows_of_push) / sizeof(rows_of_push[0]) <= PUSH_OPTS_MAX, "room for rows");

size_t push_option_rows(struct opt *rows, size_t offset)
{
	size_t nr = sizeof(rows_of_push) / sizeof(rows_of_push[0]);

	for (size_t i = 0; i < nr; i++) {
		rows[i] = rows_of_push[i];
		rows[i].offset += offset;
	}
	return nr;
}

void push_options_release(struct push_options *o)
{
	free(o->labels.v);
	free(o->headers.v);
	o->labels = o->headers = (struct push_words){ .v = NULL };
}
