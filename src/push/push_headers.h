/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers of requests: from options, files and the environment.
 *
 *	push_headers_add(&h, ...) ...	all zero before
 *	push_headers_release(&h)	overwrites them: they may be secret
 */
#pragma once

#include <stddef.h>

#define PUSH_HEADERS_MAX 64
#define PUSH_HEADER_MAX 8192		/* bytes of one */

struct push_headers {
	char *v[PUSH_HEADERS_MAX];	/* "Name: value" */
	size_t nr;
};

/*
 * Adds "name: value" in place of an earlier one. what: where it is from, for messages, which never
 * show the value. 0, -EINVAL or -ENOMEM, explained.
 */
int push_headers_add(struct push_headers *h, const char *what, const char *name, size_t name_len,
		     const char *value, size_t value_len);
/* Adds those of "k=v,k2=v2", with %XX in the values: OTEL_EXPORTER_OTLP_HEADERS. */
int push_headers_of_variable(struct push_headers *h, const char *what, const char *text);
/* Adds those of lines "k=v" or "k: v". Empty lines and those that begin with # are skipped. */
int push_headers_of_lines(struct push_headers *h, const char *what, const char *text);
void push_headers_release(struct push_headers *h);
