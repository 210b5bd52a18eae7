/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers from files that only their owner can read: tokens and passwords. Each function adds to
 * h; 0 or -errno, after a message that does not show the secret.
 */
#pragma once

struct push_headers;

int push_secret_bearer(struct push_headers *h, const char *path);	/* a token */
int push_secret_basic(struct push_headers *h, const char *path);	/* user:password */
int push_secret_headers(struct push_headers *h, const char *path);	/* lines of headers */
