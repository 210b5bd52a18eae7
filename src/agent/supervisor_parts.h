/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a supervisor. Only its own files include this. Each of them calls those below it:
 *
 *	supervisor.c		keeps all going
 *	agent_reload.c		takes another configuration
 *	agent_children.c	starts and ends the other processes
 *	agent_windows.c		turns what the recorder writes into windows
 *	agent_status.c		tells how it is
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/agent/agent_config.h"
#include "src/agent/agent_state.h"
#include "src/agent/rate_budget.h"
#include "src/agent/recorder_words.h"
#include "src/agent/sd_notify.h"
#include "src/agent/spool.h"
#include "src/agent/supervisor.h"
#include "src/agent/window_cutter.h"
#include "src/base/clock.h"

#define AGENT_TICK_NS NSEC_PER_SEC
#define AGENT_LINE_NS (60 * NSEC_PER_SEC)	/* a line in the log */
#define AGENT_FILE_NS (10 * NSEC_PER_SEC)	/* the file for agent_status() */

enum {
	RECORDER_START_S = 60,		/* until the first chunk of a trace */
	RECORDER_SLACK_S = 5,		/* besides two windows, without a chunk */
	SENDER_SILENCE_S = 60,
	STOP_RECORDER_S = 15,		/* its end, with names that are still looked up */
	STOP_SEND_S = 5,		/* what is left is sent */
	STOP_SENDER_S = 10,
	MOST_BACKOFF_S = 60,
};

struct child {
	pid_t pid;			/* 0: not running */
	int lifeline;			/* closing it tells the child to end; -1 */
	uint64_t started_ns, progress_ns;
	uint64_t restart_ns;		/* not before this */
	unsigned failures;		/* ended soon after its start, in a row */
	bool is_wanted;
	bool was_killed;		/* because it made no progress */
	bool ends_for_reload;		/* its end is no failure, and another one begins at once */
};

struct supervisor {
	const struct agent_hooks *hooks;
	const char *path;		/* of the configuration */
	struct agent_config config;
	char *folder;			/* of the spool: it stays while the agent runs */
	struct agent_state *state;
	struct spool *spool;
	struct spool_use use;
	struct spool_range busy[AGENT_TARGETS];
	struct sd_notify notify;
	int signals;			/* signalfd */
	uint64_t offset_ns;		/* of the windows */
	uint64_t batch_offset_ns[AGENT_TARGETS];
	uint64_t batch[AGENT_TARGETS];	/* that windows belong to by now */
	struct child recorder, metrics, senders[AGENT_TARGETS];
	int listen_fd;			/* of /metrics; -1 */
	/* What the recorder writes. */
	int trace;			/* the read end of its pipe; -1: ended */
	struct window_cutter cutter;
	bool is_discarding;		/* it was no trace: the rest is ignored */
	struct rate_budget budget;
	bool is_ready;			/* systemd was told so */
	bool is_stopping, has_failed;
	int code;			/* of a recorder that ended before it recorded anything */
	int told_error;			/* of the spool, that the log has */
	uint64_t next_watchdog_ns, next_line_ns, next_file_ns;
};

/* ---- agent_reload.c ---- */

void agent_reload(struct supervisor *s);

/* ---- agent_children.c ---- */

/* Senders of all targets of the configuration are to run; none runs now. */
void agent_want_senders(struct supervisor *s);
/* Listens, if the configuration says so; then a server of /metrics is to run. */
int agent_open_metrics(struct supervisor *s);
/* Starts what is wanted, does not run, and may run again by now. */
void agent_start_due(struct supervisor *s);
/* Takes the ends of children. */
void agent_reap(struct supervisor *s);
/* Kills what makes no progress. False: something made none for too long, and is still there. */
bool agent_check_progress(struct supervisor *s);
/* Tells a child to end by its lifeline, waits, and kills it if it does not. */
void agent_end_child(struct supervisor *s, struct child *c, unsigned wait_s);
void agent_end_senders(struct supervisor *s);

/* ---- agent_windows.c ---- */

/* Reads what has come from the recorder. */
void agent_take_trace(struct supervisor *s);
/* The recorder is gone: the open window ends. */
void agent_end_trace(struct supervisor *s);
/* Brings the shared page up to date with the spool. */
void agent_show_spool(struct supervisor *s);
void agent_show_config(struct supervisor *s);
/* All complete windows are to be sent, without waiting for the end of a batch. */
void agent_send_all(struct supervisor *s);
/* The batches of the targets are counted from this moment on. */
void agent_begin_batches(struct supervisor *s);

/* ---- agent_status.c ---- */

void agent_write_status(struct supervisor *s);
