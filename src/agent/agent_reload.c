/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another configuration while the agent runs: only what has changed is started again. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "src/agent/agent_check.h"
#include "src/agent/supervisor_parts.h"
#include "src/base/fail.h"

static bool same_texts(const struct agent_texts *a, const struct agent_texts *b)
{
	for (size_t i = 0; i < a->nr && a->nr == b->nr; i++)
		if (strcmp(a->v[i], b->v[i]))
			return false;
	return a->nr == b->nr;
}

static bool same_target(const struct agent_target *a, const struct agent_target *b)
{
	const char *const x[] = { a->name, a->url, a->protocol, a->service, a->tenant,
				  a->bearer_file, a->basic_file, a->header_file, a->ca_file,
				  a->cert_file, a->key_file, a->threads };
	const char *const y[] = { b->name, b->url, b->protocol, b->service, b->tenant,
				  b->bearer_file, b->basic_file, b->header_file, b->ca_file,
				  b->cert_file, b->key_file, b->threads };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (strcmp(x[i], y[i]))
			return false;
	return same_texts(&a->headers, &b->headers) && same_texts(&a->labels, &b->labels) &&
	       a->timeout_ns == b->timeout_ns && a->batch_ns == b->batch_ns &&
	       a->is_at_most_once == b->is_at_most_once;
}

static bool same_targets(const struct agent_config *a, const struct agent_config *b)
{
	for (size_t i = 0; i < a->nr_targets && a->nr_targets == b->nr_targets; i++)
		if (!same_target(&a->targets[i], &b->targets[i]))
			return false;
	return a->nr_targets == b->nr_targets;
}

static bool same_recorder(const struct agent_config *a, const struct agent_config *b)
{
	return a->freq_hz == b->freq_hz && a->scan_hz == b->scan_hz &&
	       a->window_ns == b->window_ns && a->off_cpu == b->off_cpu &&
	       !strcmp(a->options, b->options);
}

/* It writes the window that is open to its end, and then another one begins at once. */
static void change_recorder(struct supervisor *s)
{
	s->offset_ns = agent_offset_ns(s->config.window_ns);
	s->recorder.failures = 0;
	s->recorder.restart_ns = 0;
	s->recorder.ends_for_reload = true;
	if (s->recorder.pid)
		kill(s->recorder.pid, SIGTERM);
}

static void change_metrics(struct supervisor *s)
{
	agent_end_child(s, &s->metrics, 1);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	s->listen_fd = -1;
	agent_open_metrics(s);
}

static void take_config(struct supervisor *s, struct agent_config *new)
{
	struct agent_config old = s->config;
	bool recorder = !same_recorder(&old, new), targets = !same_targets(&old, new);
	bool metrics = strcmp(old.listen, new->listen) != 0;
	struct spool_options spool = { old.folder, new->limit_bytes, new->keep_ns };

	if (strcmp(old.folder, new->folder))
		note("[spool] folder has changed to %s: that needs a restart of the agent; it is "
		     "%s until then", new->folder, old.folder);
	if (targets)
		agent_end_senders(s);
	s->config = *new;
	s->config.folder = s->folder;
	spool_set_options(s->spool, &spool);
	if (old.budget != new->budget)
		rate_budget_init(&s->budget, new->budget);
	agent_show_config(s);
	if (targets)
		agent_want_senders(s);
	if (metrics)
		change_metrics(s);
	if (recorder)
		change_recorder(s);
	note("the configuration was read again: %s%s%s%s",
	     recorder ? "another recorder; " : "", targets ? "other targets; " : "",
	     metrics ? "another address of /metrics; " : "",
	     recorder || targets || metrics ? "the rest goes on" : "all goes on");
	agent_config_release(&old);
}

void agent_reload(struct supervisor *s)
{
	struct agent_config new;

	sd_notify_reloading(&s->notify);
	if (agent_config_check(s->path, s->hooks, &new)) {
		note("the configuration has mistakes, so the old one stays");
		agent_config_release(&new);
	} else {
		take_config(s, &new);
		agent_add(s->state, AGENT_RELOADS, 1);
	}
	sd_notify_send(&s->notify, "READY=1");
}
