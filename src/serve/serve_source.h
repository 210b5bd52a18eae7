/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a server shows, to whom, and how: what serve_open() and serve_add() are told (serve.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_CLIENTS 256
#define SERVE_STRANGERS 64
#define SERVE_CHILDREN 2
#define SERVE_REPORT_S 120

struct renderer;

/* A report that a client asks for. It is made in a child process of its own. */
struct serve_report {
	const struct renderer *renderer;
	int trace_fd;			/* to be closed */
	const char *name;		/* of the trace, for people */
	/* The words of the query, "--from=10s" for ?from=10s; only those of serve_options.words. */
	char **words;
	int nr_words;
	bool may_come;			/* the recording goes on */
};

struct serve_source {
	int fd;				/* of the trace, a regular file: the server closes it */
	const char *name;		/* for people: "trace.pbz", "this machine" */
	bool is_live;			/* a recorder writes it now */
	/* The trace is in memory: so much of it is kept, in bytes. 0: it is a file. */
	uint64_t kept_bytes;
	/* Tells whether the recorder is gone. NULL: it is not known. */
	bool (*is_over)(void *ctx);
	/* The recorder's last words, "" without; NULL: none. */
	const char *(*message)(void *ctx);
	void *ctx;
};

struct serve_options {
	const char *listen;		/* listen_address.h; NULL: 127.0.0.1:8000 */
	const char *token_file;		/* NULL: a token is made */
	bool no_token;
	const char *const *hosts;	/* access.h; may be NULL */
	uint32_t refresh_ms;		/* 0: 1000 */
	bool until_end;			/* it ends when all traces have */
	bool shows_idle;		/* live_page_show_idle() */
	const char *title;		/* of the pages; NULL: the trace's name */
	/* Query words that a report may have: "from", "pid", ...; NULL ends them. */
	const char *const *words;
	/*
	 * Writes a report to standard output, in a child; 0 or an exit code. A client whose report
	 * cannot be made is sent what this prints on standard error.
	 */
	int (*report)(const struct serve_report *r);
	/* Gives up all rights, once all is open; NULL: nothing. */
	int (*shut_in)(void);
	/* Called once clients are answered; NULL: nothing is. */
	void (*ready)(const char *url);
	/* Besides a stop signal, the end of this descriptor ends the server; -1: none. */
	int lifeline;
};
