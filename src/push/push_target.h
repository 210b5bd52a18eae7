/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a target (push.h) consists of: for push.c and its tests. */
#pragma once

#include "src/push/push.h"
#include "src/push/push_pace.h"
#include "src/push/push_reader.h"
#include "src/push/push_retry.h"
#include "src/push/push_sender.h"
#include "src/push/push_settings.h"

struct push_target {
	struct push_settings settings;
	struct push_reader reader;
	struct push_sender *sender;	/* NULL: for a dry run */
	struct push_retry retry;
	uint64_t too_large;		/* a body of this length was not taken; 0: none */
	struct push_pace pace;
	char address[2 * PUSH_URL_MAX];
};

/* Opens a target like push_target_open(), with another encoder. */
int push_target_open_with(const struct push_options *o, push_make_fn make,
			  struct push_target **tp);
