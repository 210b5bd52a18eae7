/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a command serves pages: probee serve, probee top --serve.
 *
 *	struct serve_args args = SERVE_ARGS;
 *	opt_parse(&serve_option_list, ...)	rows hold offsets in struct serve_args
 *	serve_options_fill(&args, &opts)	for serve_open()
 *	serve_args_release(&args)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/opt.h"

struct serve_options;

struct host_list {
	const char **v;			/* borrowed from argv; NULL behind the last */
	size_t nr, cap;
};

struct serve_args {
	const char *listen, *token_file;
	bool no_token;
	struct host_list hosts;
	uint32_t refresh_ms;
	bool until_end, idle;
};

extern const struct opt_list serve_option_list;

/* 0, or -EINVAL after saying what contradicts what. *opts borrows from args. */
int serve_options_fill(const struct serve_args *args, struct serve_options *opts);
void serve_args_release(struct serve_args *args);
