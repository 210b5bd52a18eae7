/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends one body, once, and says what came back.
 *
 *	push_sender_open(&settings, &s)
 *	push_sender_send(s, &body, &answer)	as often as wanted; connections are kept
 *	push_sender_close(s)
 *
 * TLS is verified, redirections are not followed, proxies are those of the environment
 * (http_proxy, https_proxy, no_proxy: curl(1)). At most PUSH_ANSWER_MAX bytes of an answer
 * are read.
 */
#pragma once

#include <stdbool.h>

#include "src/push/push_answer.h"
#include "src/push/push_body.h"

struct push_sender;
struct push_settings;

struct push_stop {
	bool (*fn)(void *ctx);		/* NULL: never */
	void *ctx;
};

/* settings are borrowed until the end. 0 or -errno, explained. */
int push_sender_open(const struct push_settings *settings, struct push_sender **sp);
void push_sender_close(struct push_sender *s);		/* NULL is fine */

/*
 * 0: a says what came of it. -ECANCELED: stop said so. -EINVAL: the body's path is none; -ENOMEM.
 * Silent.
 */
int push_sender_send(struct push_sender *s, const struct push_body *b,
		     const struct push_stop *stop, struct push_answer *a);
