/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/flight_keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/plural.h"
#include "src/base/stop_signals.h"
#include "src/flight/flight_file.h"
#include "src/flight/flight_link.h"
#include "src/flight/flight_ring.h"
#include "src/flight/load_watch.h"
#include "src/output/output_guard.h"

#define LOOK_NS (500 * NSEC_PER_MSEC)		/* at the ring */
#define CUT_NS (15 * NSEC_PER_SEC)		/* the recorder waits for names meanwhile */
#define NOTE_NS NSEC_PER_SEC
/* The recorder is ended by a signal, and then by force. */
#define GENTLE_NS (2 * NSEC_PER_SEC)
#define PATIENT_NS (20 * NSEC_PER_SEC)
#define MESSAGES_MOST 64			/* in one turn */
#define SIGNAL_TEXT "SIGUSR1"
#define EXIT_TEXT "exit"

/* A trigger that has come, until its file is written. */
struct flight_pending {
	bool is_on, is_cut_asked, is_cut;
	uint64_t at_ns;			/* CLOCK_MONOTONIC */
	int64_t real_s;
	uint64_t cut_ns;		/* when the segment is ended, and then when that is late */
	uint64_t end;			/* bytes of the trace up to which it is written */
};

/* The child that writes a file. */
struct flight_writer {
	pid_t pid;			/* 0: none */
	bool is_given_up;
	char path[PATH_MAX];
	uint64_t bytes, span_ns;
};

struct flight_keeper {
	struct flight_job job;
	struct flight_ring ring;
	struct load_watch loads;
	int link, signals;		/* -1: closed */
	struct stop_signals stop;
	pid_t recorder;			/* 0: it has ended */
	int status;
	struct flight_pending pending;
	struct flight_writer writer;
	uint64_t last_ns;		/* of the trigger that was taken last; 0: none */
	uint64_t noted_ns, looked_ns;
	uint64_t ending_ns;		/* the recorder was asked to end; 0: it was not */
	unsigned asked_by_signal;
	uint64_t triggers, too_soon, files;
	bool has_said_early;
	int err;			/* a file could not be written */
};

/* ---- open and close ---- */

static int open_signals(struct flight_keeper *k)
{
	sigset_t set;

	/* Blocked also in all that is forked: `pkill -USR1 probee` shall end none of them. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return k->signals < 0 ? fail(-errno, "wait for SIGUSR1") : 0;
}

static int open_memory(struct flight_keeper *k)
{
	int ends[2], err;

	k->job.trace = memfd_create("probee-flight", MFD_CLOEXEC);
	if (k->job.trace < 0)
		return fail(-errno, "keep the recording in memory");
	err = flight_link_open(ends);
	if (err)
		return fail(err, "keep the recording in memory");
	k->link = ends[0];
	k->job.link = ends[1];
	flight_ring_init(&k->ring, k->job.trace, k->job.settings->keep_ns,
			 k->job.settings->memory_bytes);
	return 0;
}

/* The name of the file of a trigger. One that is the only one has the name that was asked for. */
static void name_file(const struct flight_keeper *k, int64_t real_s, char *out, size_t size)
{
	if (k->job.settings->count == 1)
		snprintf(out, size, "%s", k->job.path);
	else
		flight_file_name(k->job.path, real_s, out, size);
}

static int try_file(const struct flight_keeper *k)
{
	char path[PATH_MAX];

	name_file(k, time(NULL), path, sizeof(path));
	return flight_file_try(path, k->job.force);
}

int flight_keeper_open(struct flight_job *job, struct flight_keeper **kp)
{
	struct flight_keeper *k = calloc(1, sizeof(*k));
	int err;

	*kp = NULL;
	if (!k)
		return fail(-ENOMEM, "keep the recording in memory");
	k->job = *job;
	k->link = k->signals = k->job.trace = k->job.link = -1;
	err = try_file(k);
	if (!err)
		err = load_watch_open(&k->loads, &job->settings->triggers);
	if (!err)
		err = open_memory(k);
	if (!err)
		err = open_signals(k);
	if (err) {
		flight_keeper_close(k);
		return err;
	}
	*job = k->job;
	*kp = k;
	return 0;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void flight_keeper_leave(struct flight_keeper *k)
{
	load_watch_close(&k->loads);
	shut(&k->link);
	shut(&k->signals);
}

void flight_keeper_close(struct flight_keeper *k)
{
	if (!k)
		return;
	load_watch_close(&k->loads);
	flight_ring_release(&k->ring);
	shut(&k->link);
	shut(&k->signals);
	shut(&k->job.trace);
	shut(&k->job.link);
	stop_signals_close(&k->stop);
	free(k);
}

/* ---- triggers ---- */

static uint64_t ms(uint64_t ns)
{
	return ns / NSEC_PER_MSEC;
}

/* META flight: what TRACE.md says. */
static void put_counts(const struct flight_keeper *k, uint64_t now, char *out, size_t size)
{
	const struct flight_settings *s = k->job.settings;

	snprintf(out, size,
		 "asked=%" PRIu64 " kept=%" PRIu64 " after=%" PRIu64 " memory=%" PRIu64
		 " early=%" PRIu64 " early_samples=%" PRIu64 " triggers=%" PRIu64
		 " too_soon=%" PRIu64 " files=%" PRIu64,
		 ms(s->keep_ns), ms(flight_ring_span_ns(&k->ring, now)), ms(s->after_ns),
		 s->memory_bytes, k->ring.early,
		 k->ring.early_samples, k->triggers, k->too_soon, k->files);
}

static void tell(struct flight_keeper *k, uint32_t kind, uint64_t time_ns, const char *text)
{
	struct flight_message m = { .kind = kind, .time_ns = time_ns };

	snprintf(m.text, sizeof(m.text), "%s", text);
	put_counts(k, now_ns(), m.counts, sizeof(m.counts));
	flight_link_send(k->link, &m);	/* a recorder that does not read is waited for in vain */
}

static bool is_too_soon(const struct flight_keeper *k, uint64_t now)
{
	return k->pending.is_on || k->writer.pid ||
	       (k->last_ns && now - k->last_ns < k->job.settings->every_ns);
}

static void count_too_soon(struct flight_keeper *k, uint64_t now, uint64_t time_ns,
			   const char *text)
{
	k->too_soon++;
	if (now - k->noted_ns < NOTE_NS)
		return;
	k->noted_ns = now;
	note_verbose("trigger %s: too soon after the last one", text);
	tell(k, FLIGHT_NOTE, time_ns, text);
}

/* What the trigger is in, and all behind it. */
static void hold(struct flight_keeper *k)
{
	k->ring.hold = k->ring.nr ? k->ring.v[k->ring.nr - 1].at : 0;
}

static void take_trigger(struct flight_keeper *k, uint64_t time_ns, const char *text)
{
	const struct flight_settings *s = k->job.settings;
	uint64_t now = now_ns();

	if (k->ending_ns)
		return;
	k->triggers++;
	if (is_too_soon(k, now)) {
		count_too_soon(k, now, time_ns, text);
		return;
	}
	k->last_ns = now;
	k->pending = (struct flight_pending){
		.is_on = true, .at_ns = now, .real_s = time(NULL), .cut_ns = now + s->after_ns,
	};
	hold(k);
	tell(k, FLIGHT_MARK, time_ns, text);
	note("trigger %s: the recording of the last %.0f s is written in %.1f s", text,
	     (double)flight_ring_span_ns(&k->ring, now) / 1e9, (double)s->after_ns / 1e9);
}

static void take_load(void *ctx, size_t number, const char *measured)
{
	struct flight_keeper *k = ctx;
	char text[FLIGHT_TEXT];

	snprintf(text, sizeof(text), "%s: %s", k->job.settings->triggers.v[number].text, measured);
	take_trigger(k, now_ns(), text);
}

/* Several that came at once are one. */
static void take_signals(struct flight_keeper *k)
{
	struct signalfd_siginfo info;
	char text[64];

	if (read(k->signals, &info, sizeof(info)) != sizeof(info))
		return;
	snprintf(text, sizeof(text), SIGNAL_TEXT ": of process %" PRIu32, info.ssi_pid);
	take_trigger(k, now_ns(), text);
}

/* ---- the file ---- */

static void start_writer(struct flight_keeper *k, uint64_t end)
{
	struct flight_writer *w = &k->writer;
	uint64_t from = k->ring.nr ? k->ring.v[0].at : 0;

	name_file(k, k->pending.real_s, w->path, sizeof(w->path));
	w->bytes = end > from ? end - from : 0;
	w->span_ns = flight_ring_span_ns(&k->ring, now_ns());
	k->pending.is_on = false;
	k->ring.hold = UINT64_MAX;
	if (!w->bytes) {
		note("%s: nothing was recorded yet, so there is no file", w->path);
		return;
	}
	fflush(NULL);
	w->pid = fork();
	if (!w->pid)
		_exit(flight_file_write(w->path, k->job.force, k->ring.fd, from, end) ? 1 : 0);
	if (w->pid < 0) {
		k->err = fail(-errno, "write %s", w->path);
		w->pid = 0;
	}
	k->ring.is_pinned = w->pid != 0;
}

static void end_writer(struct flight_keeper *k, int status)
{
	struct flight_writer *w = &k->writer;
	bool is_large = w->bytes >= 1 << 20;

	w->pid = 0;
	w->is_given_up = false;
	k->ring.is_pinned = false;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		k->err = -EIO;		/* it said why, or was given up */
		return;
	}
	k->files++;
	note("%s: %.1f s, %.1f %s", w->path, (double)w->span_ns / 1e9,
	     (double)w->bytes / (is_large ? 1 << 20 : 1 << 10), is_large ? "MiB" : "KiB");
}

/* What must stay makes the ring larger than it may be. */
static bool is_too_much(const struct flight_keeper *k)
{
	return flight_ring_bytes(&k->ring) >= 2 * k->job.settings->memory_bytes;
}

/* A disk that does not answer must not make the ring grow without an end. */
static void look_at_writer(struct flight_keeper *k)
{
	struct flight_writer *w = &k->writer;
	int status;

	if (!w->pid)
		return;
	if (waitpid(w->pid, &status, WNOHANG) == w->pid) {
		end_writer(k, status);
		return;
	}
	if (!is_too_much(k) || !k->ring.is_pinned)
		return;
	fail_why(-ETIMEDOUT, "write %s: the disk is slower than the recording, so the file is "
		 "given up. Try: a larger --flight-memory", w->path);
	kill(w->pid, SIGKILL);		/* in the kernel it stays until the disk answers */
	w->is_given_up = true;
	k->ring.is_pinned = false;
}

static void look_at_pending(struct flight_keeper *k, uint64_t now)
{
	struct flight_pending *p = &k->pending;

	if (!p->is_on)
		return;
	if (p->is_cut) {
		start_writer(k, p->end);
	} else if (!p->is_cut_asked && (now >= p->cut_ns || is_too_much(k))) {
		p->is_cut_asked = true;
		p->cut_ns = now + CUT_NS;
		tell(k, FLIGHT_CUT, now, "");
	} else if (p->is_cut_asked && now >= p->cut_ns) {
		start_writer(k, k->ring.at);
	}
}

/* ---- the recorder ---- */

static void take_cut(struct flight_keeper *k, uint64_t at)
{
	struct flight_pending *p = &k->pending;
	size_t i = k->ring.nr;

	if (!p->is_on || !p->is_cut_asked || p->is_cut)
		return;
	while (i > 0 && k->ring.v[i - 1].at > at)
		i--;
	p->is_cut = true;
	p->end = i > 1 ? k->ring.v[i - 1].at : k->ring.at;
}

static void take_message(struct flight_keeper *k, const struct flight_message *m)
{
	const struct trigger_list *l = &k->job.settings->triggers;
	char text[TRIGGER_TEXT + FLIGHT_TEXT + 2];

	if (m->kind == FLIGHT_CUT_DONE)
		take_cut(k, m->at);
	if (m->kind != FLIGHT_TRIGGER || m->at >= l->nr)
		return;
	if (m->times > 1) {		/* more of them than messages */
		k->triggers += m->times - 1;
		k->too_soon += m->times - 1;
	}
	snprintf(text, sizeof(text), "%s: %s", l->v[m->at].text, m->text);
	take_trigger(k, m->time_ns, text);
}

/* What is kept before a trigger is counted from its time. */
static int look_at_ring(struct flight_keeper *k)
{
	const struct flight_pending *p = &k->pending;
	uint64_t now = now_ns();
	int err;

	k->ring.keep_ns = k->job.settings->keep_ns + (p->is_on ? now - p->at_ns : 0);
	err = flight_ring_look(&k->ring, now);
	k->looked_ns = now;
	if (err)
		return fail(err, "keep the recording in memory");
	if (!k->ring.early || k->has_said_early)
		return 0;
	k->has_said_early = true;
	note("--flight-memory is full: only the last %.0f s are kept. Try: more of it, or a lower "
	     "rate", (double)flight_ring_span_ns(&k->ring, now) / 1e9);
	return 0;
}

static int take_messages(struct flight_keeper *k)
{
	struct flight_message m;
	int rc = 0, err = 0;

	for (int i = 0; i < MESSAGES_MOST && (rc = flight_link_receive(k->link, &m)) > 0; i++) {
		if (m.kind == FLIGHT_CUT_DONE)
			err = look_at_ring(k);
		if (err)
			return err;
		take_message(k, &m);
	}
	if (rc < 0)
		shut(&k->link);		/* it has ended, or is about to */
	return 0;
}

/* The recorder is asked to end. Nothing is written for that, unless it was asked for. */
static void ask_to_end(struct flight_keeper *k)
{
	if (k->ending_ns)
		return;
	k->ending_ns = now_ns();
	if (k->job.settings->flush_on_exit && !k->pending.is_on && !k->writer.pid) {
		k->triggers++;
		k->pending = (struct flight_pending){
			.is_on = true, .at_ns = k->ending_ns, .real_s = time(NULL),
			.cut_ns = UINT64_MAX,
		};
		hold(k);
		tell(k, FLIGHT_MARK, k->ending_ns, EXIT_TEXT);
	}
	k->pending.cut_ns = UINT64_MAX;	/* its end is that of the recording */
	tell(k, FLIGHT_END, k->ending_ns, "");
}

static bool ended_by_sigterm(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

static void look_at_recorder(struct flight_keeper *k, uint64_t now)
{
	/* Where nothing is to be written, it need not end in good order. */
	const uint64_t gentle = k->pending.is_on ? GENTLE_NS : 0;

	if (waitpid(k->recorder, &k->status, WNOHANG) == k->recorder) {
		/* One that is nearly at its end no longer waits for signals. */
		if (k->asked_by_signal && ended_by_sigterm(k->status))
			k->status = 0;
		k->recorder = 0;
		return;
	}
	if (!k->ending_ns || now < k->ending_ns + gentle + k->asked_by_signal * PATIENT_NS)
		return;
	kill(k->recorder, k->asked_by_signal ? SIGKILL : SIGTERM);
	k->asked_by_signal++;
}

static bool has_files(const struct flight_keeper *k)
{
	uint32_t count = k->job.settings->count;

	return count && k->files >= count;
}

/* ---- the loop ---- */

static int ms_until(uint64_t now, uint64_t ns)
{
	return ns > now ? (int)((ns - now) / NSEC_PER_MSEC) + 1 : 0;
}

static int patience_ms(const struct flight_keeper *k)
{
	uint64_t now = now_ns(), next = k->looked_ns + LOOK_NS;
	uint64_t loads = load_watch_due_ns(&k->loads);

	next = loads < next ? loads : next;
	if (k->pending.is_on && k->pending.cut_ns < next)
		next = k->pending.cut_ns;
	return ms_until(now, next);
}

static int turn(struct flight_keeper *k)
{
	struct pollfd fds[3 + TRIGGERS_MAX] = {
		{ .fd = k->link, .events = POLLIN },
		{ .fd = k->stop.fd, .events = POLLIN },
		{ .fd = k->signals, .events = POLLIN },
	};
	size_t nr = load_watch_fds(&k->loads, fds + 3);
	int err = 0;

	poll(fds, 3 + nr, patience_ms(k));
	stop_signals_read(&k->stop);
	if (k->link >= 0)
		err = take_messages(k);
	take_signals(k);
	load_watch_look(&k->loads, fds + 3, take_load, k);
	if (!err && now_ns() >= k->looked_ns + LOOK_NS)
		err = look_at_ring(k);
	look_at_writer(k);
	look_at_pending(k, now_ns());
	if (k->stop.stopped || has_files(k) || err)
		ask_to_end(k);
	look_at_recorder(k, now_ns());
	return err;
}

/*
 * What was pending when the recorder ended is written now, with all that there is; with
 * .flush_on_exit also what is there of a recorder that ended by itself, or was killed.
 */
static int finish(struct flight_keeper *k)
{
	int err = look_at_ring(k), status;

	if (k->job.settings->flush_on_exit && !k->ending_ns && !k->pending.is_on)
		k->pending = (struct flight_pending){ .is_on = true, .real_s = time(NULL) };
	if (!err && k->pending.is_on && !k->writer.pid)
		start_writer(k, k->ring.at);
	if (!k->writer.pid || k->writer.is_given_up)
		return err;
	while (waitpid(k->writer.pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	end_writer(k, status);
	return err;
}

static void say_begin(const struct flight_keeper *k)
{
	const struct flight_settings *s = k->job.settings;
	char text[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < s->triggers.nr && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", or %s", s->triggers.v[i].text);
	note("the last %.0f s are kept in memory. They are written at: kill -USR1 %d%s",
	     (double)s->keep_ns / 1e9, getpid(), text);
}

static void say_end(const struct flight_keeper *k)
{
	note("%" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " too soon after the last one", k->triggers,
	     plural(k->triggers, "trigger", "triggers"), k->files,
	     plural(k->files, "file", "files"), k->too_soon);
	if (k->ring.early)
		note("%" PRIu64 " samples fell out of memory before their time. Try: a larger "
		     "--flight-memory", k->ring.early_samples);
}

int flight_keeper_run(struct flight_keeper *k, pid_t recorder, int *status)
{
	int err, end_err;

	k->recorder = recorder;
	shut(&k->job.link);
	output_guard_shed_rights();
	err = stop_signals_open(&k->stop, NULL);
	if (!err)
		say_begin(k);
	while (!err && k->recorder)
		err = turn(k);
	if (k->recorder) {
		shut(&k->link);		/* it ends by that */
		waitpid(k->recorder, &k->status, 0);
	}
	end_err = err ? err : finish(k);
	say_end(k);
	*status = k->status;
	return end_err ? end_err : k->err;
}
