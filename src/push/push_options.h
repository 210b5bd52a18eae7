/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where traces are sent and how: what the command line says of it. The rows are shared by `probee
 * push`, `sample|record --push` and `probee agent`.
 *
 *	struct my_args { ...; struct push_options push; };
 *	nr = push_option_rows(rows, offsetof(struct my_args, push))
 *	opt_parse(...)				fills it; strings are borrowed from argv
 *	push_target_open(&args.push, &target)	push.h
 *	push_options_release(&args.push)
 *
 * All zero means: nothing was said. A program that has a file of settings fills in the fields
 * itself, or gives the rows' parsers the words of its file.
 *
 * What the command line leaves open is taken from the environment, as the specification of the OTLP
 * exporter has it, if the protocol is OTLP: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT,
 * _COMPRESSION, _CERTIFICATE, _CLIENT_CERTIFICATE, _CLIENT_KEY, and each of them with PROFILES_
 * before its last part, which counts first.
 *
 * Secrets are never words of a command line, which every user of the machine can read. They come
 * from files that only their owner can read, or from the environment.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/push/push_encode_opts.h"

struct opt;

/* "k=v" words in the order in which they were given; each is borrowed. */
struct push_words {
	const char **v;
	size_t nr, cap;
};

struct push_options {
	const char *to;			/* URL of the receiver; NULL: of the environment */
	const char *protocol;		/* "otlp", "pyroscope", "ingest"; NULL: of the URL */
	const char *service;		/* service name of all; NULL: of each process */
	const char *tenant;		/* X-Scope-OrgID */
	struct push_words labels;	/* "k=v" */
	struct push_words headers;	/* "k=v", nothing secret */
	const char *header_file;	/* lines of "k=v" or "k: v" */
	const char *bearer_file;	/* a token */
	const char *basic_file;		/* user:password */
	const char *ca_file;		/* PEM; NULL: those of the system */
	const char *cert_file, *key_file;	/* of this client, PEM */
	uint64_t timeout_ns;		/* of one request; 0: 30 s */
	uint64_t give_up_ns;		/* after so long without a delivery; 0: 5 min */
	uint64_t window_ns;		/* that one profile covers at most; 0: 10 s */
	uint64_t body_bytes;		/* of one request before compression; 0: 16 MiB */
	uint64_t pace_bytes;		/* a second, as push_body.cost; 0: see push_pace.h */
	bool no_gzip;			/* bodies are not compressed */
	enum push_threads threads;	/* fewer samples and series with fewer of them */
	bool shares_all;		/* all windows of a trace share requests, if they fit */
	bool addresses;			/* OTLP: also of frames that have names */
	bool rebase_time;		/* times are moved so that the trace ends now */
	bool no_wait;			/* one attempt at each body: the caller tries again */
	bool dry_run;			/* for push_dry_run() alone: no secrets, no libcurl */
};

#define PUSH_OPTS_MAX 24

/* Fills rows, which have room for PUSH_OPTS_MAX, for push_options at offset. How many there are. */
size_t push_option_rows(struct opt *rows, size_t offset);

/* "id", "name", "none". */
bool push_threads_parse(const char *word, enum push_threads *threads);

void push_options_release(struct push_options *o);
