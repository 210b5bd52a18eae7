/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be done, from the options, the environment and the files that they name.
 *
 *	push_settings_read(&options, getenv_fn, &s)	nothing secret
 *	push_settings_hide()		in a process that reads foreign bytes: overwrites what the
 *					environment has of secrets
 *	push_settings_read_headers(&options, getenv_fn, &s)	may be secret
 *	push_settings_release(&s)	overwrites secrets
 *
 * An option counts before the variables of OTLP (push_options.h), then the variable for profiles,
 * then the one for all. An empty variable is none. Headers of all sources go together; of two with
 * the same name that of the option counts, then that of a file.
 *
 * Source: the specification of the OTLP exporter, "Configuration Options" and "Specifying headers
 * via environment variables".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/push/push_encode_opts.h"
#include "src/push/push_headers.h"
#include "src/push/push_url.h"

struct push_options;

struct push_settings {
	struct push_url url;
	struct push_headers headers;
	const char *ca_file, *cert_file, *key_file;	/* borrowed */
	uint64_t timeout_ns;
	uint64_t give_up_ns;		/* 0: no second attempt */
	bool no_gzip, rebase_time;
	bool no_receiver;		/* a dry run without one */
	struct push_label labels[PUSH_MAX_LABELS];	/* names are owned, values are within */
	size_t nr_labels;
};

typedef const char *(*push_getenv_fn)(const char *name);

/* 0 or -errno, explained. get: NULL for getenv(3). *s must be released in any case. */
int push_settings_read(const struct push_options *o, push_getenv_fn get, struct push_settings *s);
int push_settings_read_headers(const struct push_options *o, push_getenv_fn get,
			       struct push_settings *s);
void push_settings_hide(void);
void push_settings_release(struct push_settings *s);
