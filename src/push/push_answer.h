/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a receiver's answer means: delivered, refused, come again, or nothing gets in.
 *
 *	status		verdict
 *	2xx		PUSH_TAKEN; of OTLP perhaps in part, which is never sent again
 *	429 502 503 504	PUSH_AGAIN: after a while, or when the receiver says
 *	500		likewise, if it is no OTLP and the text says "Unavailable": Pyroscope while
 *			it starts. The specification of OTLP forbids it
 *	3xx 401 403	PUSH_NOT_HERE: no body would be taken. Redirections are not followed: they
 *	404 405 407	would carry headers with secrets to another host
 *	others		PUSH_REFUSED: this body would be refused again
 *
 * The text of an answer is foreign: at most PUSH_ANSWER_MAX bytes of it are looked at, and what
 * is shown of it is one line, escaped.
 *
 * Source: the OTLP specification, "OTLP/HTTP Response"; google/rpc/status.proto.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUSH_ANSWER_MAX (64u << 10)

enum push_verdict { PUSH_TAKEN, PUSH_AGAIN, PUSH_REFUSED, PUSH_NOT_HERE };

struct push_answer {
	enum push_verdict verdict;
	unsigned status;		/* of HTTP; 0: there was no answer */
	uint64_t wish_ns;		/* Retry-After; 0: none */
	bool is_partial;		/* a part was refused, or something is to be said */
	uint64_t rejected;		/* profiles that were refused in what was taken */
	bool is_too_large;		/* 413, or what gRPC servers say instead */
	char why[256];			/* "" or one line that can be printed */
};

/* Fills in verdict from status. */
enum push_verdict push_verdict_of(unsigned status);

/*
 * Looks into the text of an answer: for a 2xx with content_type of protobuf at partial_success,
 * otherwise at the message. is_otlp: the answers are messages of OTLP. .status is set; the rest is
 * filled in.
 */
void push_answer_read(struct push_answer *a, bool is_otlp, const char *content_type,
		      const void *text, size_t len);

/* The first line of a foreign text, escaped and cut to fit. */
void push_answer_line(char *buf, size_t size, const void *text, size_t len);
