/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers from files that only their owner can read: tokens and passwords. Each function adds to
 * the settings; 0 or -errno, after a message that does not show the secret.
 */
#pragma once

struct push_settings;

int push_secret_bearer(struct push_settings *s, const char *path);	/* a token */
int push_secret_basic(struct push_settings *s, const char *path);	/* user:password */
int push_secret_headers(struct push_settings *s, const char *path);	/* lines of headers */

void push_secret_free(char *s);		/* overwrites it; NULL is fine */
