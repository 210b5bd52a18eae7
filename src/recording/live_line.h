/*
 * The one line that a terminal shows while recording, and the summary afterwards. Both go to
 * standard error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct live_line {
	bool is_terminal;
	bool shown;
	uint64_t begin_ns, next_ns;
};

struct live_numbers {
	uint64_t samples, lost, file_bytes;
	uint64_t scans;			/* 0: a sampler */
};

void live_line_init(struct live_line *l, bool quiet);
void live_line_update(struct live_line *l, const struct live_numbers *n);
void live_line_clear(struct live_line *l);

/* "43.1 KiB" */
const char *human_bytes(uint64_t bytes, char buf[32]);
