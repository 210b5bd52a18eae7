/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of the agent's recorder. */
#pragma once

#include <stdint.h>

struct agent_config;

#define RECORDER_WORDS 64

struct recorder_words {
	char *v[RECORDER_WORDS + 1];
	int nr;
	char *options;			/* owned */
	char freq[24], scan[24], segment[64];
};

/* offset_ns: of the windows (agent_offset_ns()). 0, -ENOMEM, or -E2BIG, explained. */
int recorder_words_make(struct recorder_words *w, const struct agent_config *c,
			uint64_t offset_ns);
void recorder_words_release(struct recorder_words *w);

/*
 * How much later than the multiples of window_ns this machine's windows begin: each machine has its
 * own, the same after each start, so that thousands of agents do not send in the same second.
 */
uint64_t agent_offset_ns(uint64_t window_ns);
