/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/rights/capabilities.h"
#include "src/rights/sandbox.h"

static int start_reader(struct push_target *t, const struct push_options *o, push_make_fn make)
{
	const struct push_reader_how how = {
		.make = make,
		.opts = {
			.protocol = t->settings.url.protocol,
			.window_ns = o->window_ns,
			.max_body_bytes = o->body_bytes,
			.max_cost = t->pace.max_cost,
			.service = o->service,
			.threads = o->threads,
			.bundle_windows = o->shares_all ? UINT32_MAX : 0,
			.addresses = o->addresses,
			.no_gzip = t->settings.no_gzip,
			.labels = t->settings.labels,
			.nr_labels = t->settings.nr_labels,
		},
	};

	return push_reader_start(&t->reader, &how);
}

static void seed(struct push_target *t)
{
	uint64_t seed = now_ns();

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed ^= (uintptr_t)t;
	push_retry_seed(&t->retry, seed);
}

static bool has_secret(const struct push_settings *s)
{
	for (size_t i = 0; i < s->headers.nr; i++)
		if (!strncasecmp(s->headers.v[i], "Authorization:", 14))
			return true;
	return false;
}

/* The reader is forked before there is any secret in this process but those of the environment. */
int push_target_open_with(const struct push_options *o, push_make_fn make, struct push_target **tp)
{
	static const char *const paths[] = { "/v1development/profiles",
					     "/push.v1.PusherService/Push", "/ingest" };
	struct push_target *t = calloc(1, sizeof(*t));
	int err = t ? push_settings_read(o, NULL, &t->settings) : fail(-ENOMEM, "send traces");

	if (!err)
		push_pace_begin(&t->pace, o->pace_bytes, t->settings.url.protocol != PUSH_OTLP);
	if (!err)
		err = start_reader(t, o, make);
	if (!err && !o->dry_run)
		err = push_settings_read_headers(o, NULL, &t->settings);
	if (!err && !o->dry_run)
		err = push_sender_open(&t->settings, &t->sender);
	if (err) {
		push_target_close(t);
		return err;
	}
	seed(t);
	if (!t->settings.no_receiver)
		push_url_with_path(&t->settings.url, paths[t->settings.url.protocol], t->address,
				   sizeof(t->address));
	if (!t->settings.url.is_tls && !t->settings.url.is_loopback && has_secret(&t->settings))
		note("what opens %s goes there unencrypted. Try: https", t->settings.url.base);
	*tp = t;
	return 0;
}

int push_target_open(const struct push_options *o, struct push_target **tp)
{
	return push_target_open_with(o, push_make, tp);
}

void push_target_close(struct push_target *t)
{
	if (!t)
		return;
	push_reader_end(&t->reader);
	push_sender_close(t->sender);
	push_settings_release(&t->settings);
	free(t);
}

/* libcurl opens these files again for each connection. */
static bool opens(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : 0;

	return fd >= 0;
}

/* Whether the other user can do all that is left to do: a child tries it. */
static bool can_leave_root(const struct push_settings *s)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!rights_leave_root() && opens(s->ca_file) && opens(s->cert_file) &&
		      opens(s->key_file) ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

void push_target_leave_root(const struct push_target *t)
{
	if (!geteuid() && (!can_leave_root(&t->settings) || rights_leave_root()))
		note_verbose("the sender stays root: another user cannot do what is left to do");
}

int push_target_shut_in(struct push_target *t)
{
	const struct sandbox_rules rules = { .kind = SANDBOX_REPORT, .connects = true };
	int parts;

	(void)t;
	tzset();
	parts = sandbox_enter(&rules);
	return parts < 0 ? fail(parts, "give up rights") : 0;
}

const char *push_target_url(const struct push_target *t)
{
	return t->address;
}

const char *push_target_layout(const struct push_target *t)
{
	return push_protocol_layout(t->settings.url.protocol);
}
