/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "src/agent/agent_check.h"
#include "src/agent/supervisor_parts.h"
#include "src/base/fail.h"

static void say_line(struct supervisor *s)
{
	char line[400], status[420];

	s->next_line_ns = now_ns() + AGENT_LINE_NS;
	agent_state_line(s->state, line, sizeof(line));
	note("%s", line);
	snprintf(status, sizeof(status), "STATUS=%s", line);
	sd_notify_send(&s->notify, status);
}

/* ---- the loop ---- */

static void take_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;
	bool reload = false;

	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		reload |= info.ssi_signo == SIGHUP;
		s->is_stopping |= info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
	}
	agent_reap(s);
	if (reload && !s->is_stopping)
		agent_reload(s);
}

static void look_around(struct supervisor *s)
{
	uint64_t now = now_ns();
	bool all = agent_check_progress(s);

	agent_start_due(s);
	agent_show_spool(s);
	if (s->notify.watchdog_ns && all && now >= s->next_watchdog_ns) {
		sd_notify_send(&s->notify, "WATCHDOG=1");
		s->next_watchdog_ns = now + s->notify.watchdog_ns / 3;
	}
	if (now >= s->next_line_ns && s->is_ready)
		say_line(s);
	if (now >= s->next_file_ns) {
		spool_trim(s->spool, &s->use, clock_ns(CLOCK_REALTIME));
		agent_write_status(s);
	}
}

static int sleep_ms(const struct supervisor *s)
{
	uint64_t ns = AGENT_TICK_NS;

	if (s->notify.watchdog_ns && s->notify.watchdog_ns / 6 < ns)
		ns = s->notify.watchdog_ns / 6;
	return (int)(ns / NSEC_PER_MSEC) + 1;
}

static void run_loop(struct supervisor *s)
{
	uint64_t next = 0;

	while (!s->is_stopping) {
		struct pollfd fds[2] = { { .fd = s->signals, .events = POLLIN } };

		if (now_ns() >= next) {
			look_around(s);
			next = now_ns() + (uint64_t)(sleep_ms(s) / 2) * NSEC_PER_MSEC;
		}
		fds[1] = (struct pollfd){ .fd = s->trace, .events = POLLIN };
		poll(fds, 2, sleep_ms(s));
		if (fds[1].revents)
			agent_take_trace(s);
		if (fds[0].revents)
			take_signals(s);
	}
}

/* ---- begin and end ---- */

static int open_signals(struct supervisor *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signals < 0 ? fail(-errno, "wait for signals") : 0;
}

static int prepare(struct supervisor *s)
{
	const struct agent_config *c = &s->config;
	struct spool_options spool = { c->folder, c->limit_bytes, c->keep_ns };
	int err = open_signals(s);	/* the spool may have to be waited for */

	if (!err)
		err = spool_open(&spool, &s->spool);
	if (err)
		return err;
	s->folder = strdup(c->folder);
	s->state = agent_state_new();
	if (!s->folder || !s->state)
		return fail(-ENOMEM, "start the agent");
	s->config.folder = s->folder;
	s->offset_ns = agent_offset_ns(c->window_ns);
	rate_budget_init(&s->budget, c->budget);
	agent_want_senders(s);
	s->recorder.is_wanted = true;
	sd_notify_open(&s->notify);
	err = agent_open_metrics(s);
	if (!err)
		agent_show_spool(s);
	return err;
}

static bool is_sending(const struct supervisor *s)
{
	for (size_t i = 0; i < s->config.nr_targets; i++) {
		const struct target_state *t = &s->state->targets[i];

		if (s->senders[i].pid && target_backlog(s->state, t) && !atomic_load(&t->retry_ns))
			return true;
	}
	return false;
}

/* What is in the spool is sent, if a receiver is there that takes it at once. */
static void send_rest(struct supervisor *s)
{
	uint64_t until = now_ns() + STOP_SEND_S * NSEC_PER_SEC;

	agent_show_spool(s);
	while (is_sending(s) && now_ns() < until) {
		poll(NULL, 0, 20);
		agent_reap(s);
	}
}

/* What the recorder still writes is kept and sent; then all others end. */
static void stop(struct supervisor *s)
{
	uint64_t until = now_ns() + STOP_RECORDER_S * NSEC_PER_SEC;

	s->is_stopping = true;
	sd_notify_send(&s->notify, "STOPPING=1\nSTATUS=keeping the last window");
	if (s->recorder.pid)
		kill(s->recorder.pid, SIGTERM);
	while (s->trace >= 0 && now_ns() < until) {
		struct pollfd fds[] = { { .fd = s->trace, .events = POLLIN },
					{ .fd = s->signals, .events = POLLIN } };

		poll(fds, 2, 100);
		agent_take_trace(s);
		take_signals(s);
	}
	agent_end_trace(s);
	agent_end_child(s, &s->recorder, 2);
	send_rest(s);
	agent_end_senders(s);
	agent_end_child(s, &s->metrics, 1);
	agent_show_spool(s);
	agent_write_status(s);
}

static void release(struct supervisor *s)
{
	spool_close(s->spool);
	agent_state_free(s->state);
	sd_notify_close(&s->notify);
	window_cutter_release(&s->cutter);
	if (s->signals >= 0)
		close(s->signals);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	agent_config_release(&s->config);
	free(s->folder);
}

int agent_run(const char *path, const struct agent_hooks *hooks)
{
	struct supervisor s = { .hooks = hooks, .path = path, .signals = -1, .listen_fd = -1,
				.trace = -1, .notify.fd = -1,
				.recorder.lifeline = -1, .metrics.lifeline = -1 };
	int err = agent_config_check(path, hooks, &s.config);

	if (!err)
		err = prepare(&s);
	if (!err) {
		run_loop(&s);
		stop(&s);
	}
	release(&s);
	return err ? err : s.has_failed ? s.code : 0;
}
