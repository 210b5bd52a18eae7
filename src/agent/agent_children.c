/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/agent/agent_metrics.h"
#include "src/agent/supervisor_parts.h"
#include "src/base/close_fds.h"
#include "src/base/fail.h"
#include "src/serve/listen_address.h"

#define PIPE_BYTES (1 << 20)		/* what the recorder may be ahead while the disk is slow */
#define SOON_NS (30 * NSEC_PER_SEC)	/* an end so soon after the start is a failure */

/* ---- in the child ---- */

/* Signals are as for a program that was just started; of descriptors 0 to 2 and kept stay open. */
static void begin_child(const char *name, int kept, int parent_ends)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGHUP, SIG_IGN);	/* a reload is the supervisor's business */
	prctl(PR_SET_PDEATHSIG, parent_ends);
	prctl(PR_SET_NAME, name);
	if (kept > 3)
		close_fds(3, (unsigned)kept - 1);
	close_fds(kept < 3 ? 3 : (unsigned)kept + 1, UINT_MAX);
}

static _Noreturn void be_recorder(struct supervisor *s, int trace, pid_t parent)
{
	struct recorder_words words;
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(trace, STDOUT_FILENO) < 0)
		_exit(1);
	begin_child("probee-record", -1, SIGTERM);
	signal(SIGHUP, SIG_DFL);
	if (getppid() != parent || recorder_words_make(&words, &s->config, s->offset_ns))
		_exit(1);
	exit(s->hooks->record(words.nr, words.v, &s->state->rates));
}

/* It ends with the supervisor at once: another sender may be about to start. */
static _Noreturn void be_sender(struct supervisor *s, size_t i, int lifeline, pid_t parent)
{
	struct window_sender w = {
		.target = &s->config.targets[i], .folder = s->config.folder, .agent = s->state,
		.state = &s->state->targets[i], .lifeline = lifeline,
		.first_seq = spool_counts(s->spool)->next_seq,
	};

	begin_child("probee-sender", lifeline, SIGKILL);
	signal(SIGTERM, SIG_IGN);	/* systemd sends it to all; the lifeline says when */
	signal(SIGINT, SIG_IGN);
	if (getppid() != parent || s->hooks->open_target(w.target, &w))
		_exit(1);
	exit(window_sender_run(&w));
}

static _Noreturn void be_metrics(struct supervisor *s, int lifeline, pid_t parent)
{
	int listen_fd = dup2(s->listen_fd, STDIN_FILENO);

	begin_child("probee-metrics", lifeline, SIGKILL);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	if (listen_fd < 0 || getppid() != parent)
		_exit(1);
	exit(agent_metrics_run(s->state, listen_fd, lifeline));
}

/* ---- starting ---- */

static void started(struct child *c, pid_t pid, int lifeline)
{
	c->pid = pid;
	c->lifeline = lifeline;
	c->started_ns = c->progress_ns = now_ns();
	c->was_killed = false;
}

static int no_child(const char *what)
{
	return fail(-errno, "start the agent's %s", what);
}

static int start_recorder(struct supervisor *s)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return no_child("recorder");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);	/* fine if it stays small */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	pid = fork();
	if (!pid)
		be_recorder(s, ends[1], parent);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return no_child("recorder");
	}
	started(&s->recorder, pid, -1);
	s->trace = ends[0];
	s->is_discarding = false;
	rate_budget_started(&s->budget);
	agent_add(s->state, AGENT_RECORDER_STARTS, 1);
	agent_set(s->state, AGENT_RECORDING, 1);
	return 0;
}

/* *lifeline: the child's end. The child's pid, 0 in the child; -1. */
static pid_t fork_with_lifeline(struct child *c, int *lifeline)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pid = fork();
	*lifeline = ends[0];
	if (!pid)
		return 0;
	close(ends[0]);
	if (pid > 0)
		started(c, pid, ends[1]);
	else
		close(ends[1]);
	return pid;
}

static int start_sender(struct supervisor *s, size_t i)
{
	pid_t parent = getpid();
	int lifeline;
	pid_t pid;

	atomic_store(&s->state->targets[i].beat_ns, now_ns());
	atomic_store(&s->state->targets[i].busy_seq, 0);
	atomic_store(&s->state->targets[i].retry_ns, 0);
	pid = fork_with_lifeline(&s->senders[i], &lifeline);
	if (!pid)
		be_sender(s, i, lifeline, parent);
	agent_add(s->state, AGENT_SENDER_STARTS, pid > 0);
	return pid < 0 ? no_child("sender") : 0;
}

static int start_metrics(struct supervisor *s)
{
	pid_t parent = getpid();
	int lifeline;
	pid_t pid = fork_with_lifeline(&s->metrics, &lifeline);

	if (!pid)
		be_metrics(s, lifeline, parent);
	return pid < 0 ? no_child("metrics") : 0;
}

/* ---- which are to run ---- */

void agent_want_senders(struct supervisor *s)
{
	for (size_t i = 0; i < AGENT_TARGETS; i++) {
		s->senders[i] = (struct child){ .lifeline = -1,
						.is_wanted = i < s->config.nr_targets };
		memset(&s->state->targets[i], 0, sizeof(s->state->targets[i]));
	}
	agent_show_config(s);
	agent_begin_batches(s);
}

int agent_open_metrics(struct supervisor *s)
{
	struct listen_address address;
	int err;

	s->metrics = (struct child){ .lifeline = -1 };
	if (!*s->config.listen)
		return 0;
	err = listen_address_parse(s->config.listen, &address);
	if (err)
		return err;
	s->listen_fd = listen_address_open(&address);
	s->metrics.is_wanted = s->listen_fd >= 0;
	return s->listen_fd < 0 ? s->listen_fd : 0;
}

static bool is_due(const struct child *c)
{
	return c->is_wanted && !c->pid && now_ns() >= c->restart_ns;
}

/* What the old one has written is read first; something may still have its pipe open. */
static void replace_recorder(struct supervisor *s)
{
	agent_take_trace(s);
	if (s->trace >= 0)
		agent_end_trace(s);
	start_recorder(s);
}

void agent_start_due(struct supervisor *s)
{
	if (s->is_stopping)
		return;
	if (is_due(&s->recorder))
		replace_recorder(s);
	if (is_due(&s->metrics))
		start_metrics(s);
	for (size_t i = 0; i < s->config.nr_targets; i++)
		if (is_due(&s->senders[i]))
			start_sender(s, i);
}

/* ---- ending ---- */

static void plan_restart(struct child *c)
{
	uint64_t now = now_ns(), wait_s;

	c->failures = now - c->started_ns < SOON_NS ? c->failures + 1 : 1;
	wait_s = c->failures < 7 ? 1u << (c->failures - 1) : MOST_BACKOFF_S;
	c->restart_ns = now + (wait_s < MOST_BACKOFF_S ? wait_s : MOST_BACKOFF_S) * NSEC_PER_SEC;
}

static void ended(struct supervisor *s, struct child *c, const char *what, int status)
{
	char how[64];

	c->pid = 0;
	if (c->lifeline >= 0)
		close(c->lifeline);
	c->lifeline = -1;
	if (!c->is_wanted || s->is_stopping)
		return;
	if (c->ends_for_reload) {
		c->ends_for_reload = false;
		c->restart_ns = 0;
		return;
	}
	plan_restart(c);
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "ended with exit code %d", WEXITSTATUS(status));
	note("the %s %s; another one begins in %.0f s", what, how,
	     (double)(c->restart_ns - now_ns()) / 1e9);
}

static int code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A recorder that ends before anything was recorded: what it cannot do now it cannot do later. */
static void recorder_ended(struct supervisor *s, int status)
{
	agent_set(s->state, AGENT_RECORDING, 0);
	if (!s->is_ready && !s->is_stopping) {
		s->has_failed = s->is_stopping = true;
		s->code = code_of(status) ? code_of(status) : 1;
	}
	ended(s, &s->recorder, "recorder", status);
}

void agent_reap(struct supervisor *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == s->recorder.pid)
			recorder_ended(s, status);
		else if (pid == s->metrics.pid)
			ended(s, &s->metrics, "server of /metrics", status);
		for (size_t i = 0; i < AGENT_TARGETS; i++)
			if (pid == s->senders[i].pid)
				ended(s, &s->senders[i], "sender", status);
	}
}

void agent_end_child(struct supervisor *s, struct child *c, unsigned wait_s)
{
	uint64_t until = now_ns() + wait_s * NSEC_PER_SEC;

	c->is_wanted = false;
	if (c->lifeline >= 0)
		close(c->lifeline);
	c->lifeline = -1;
	while (c->pid && now_ns() < until) {
		agent_reap(s);
		if (c->pid)
			poll(NULL, 0, 10);
	}
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	for (int i = 0; i < 100 && c->pid; i++) {
		agent_reap(s);
		if (c->pid)
			poll(NULL, 0, 10);
	}
	c->pid = 0;			/* it hangs in the kernel: it is left behind */
}

/* All at once are told, and then waited for. */
void agent_end_senders(struct supervisor *s)
{
	for (size_t i = 0; i < AGENT_TARGETS; i++) {
		struct child *c = &s->senders[i];

		if (c->lifeline >= 0)
			close(c->lifeline);
		c->lifeline = -1;
		c->is_wanted = false;
	}
	for (size_t i = 0; i < AGENT_TARGETS; i++)
		agent_end_child(s, &s->senders[i], STOP_SENDER_S);
}

/* ---- progress ---- */

static uint64_t recorder_limit_ns(const struct supervisor *s)
{
	uint64_t running = 2 * s->config.window_ns + RECORDER_SLACK_S * NSEC_PER_SEC;
	bool has_begun = s->recorder.progress_ns != s->recorder.started_ns;

	return has_begun ? running : RECORDER_START_S * NSEC_PER_SEC;
}

static bool check(struct supervisor *s, struct child *c, uint64_t progress_ns, uint64_t limit_ns,
		  const char *what)
{
	uint64_t now = now_ns();

	if (!c->pid || now < progress_ns + limit_ns)
		return true;
	if (c->was_killed)
		return false;
	note("the %s has made no progress for %.0f s, and is ended", what,
	     (double)(now - progress_ns) / 1e9);
	agent_add(s->state, AGENT_HANGS, 1);
	kill(c->pid, SIGKILL);
	c->was_killed = true;
	return false;
}

bool agent_check_progress(struct supervisor *s)
{
	bool all = check(s, &s->recorder, s->recorder.progress_ns, recorder_limit_ns(s),
			 "recorder");

	for (size_t i = 0; i < s->config.nr_targets; i++)
		all &= check(s, &s->senders[i], atomic_load(&s->state->targets[i].beat_ns),
			     SENDER_SILENCE_S * NSEC_PER_SEC, "sender");
	return all;
}
