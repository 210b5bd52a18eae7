/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/recorder_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/crc32c.h"
#include "src/agent/agent_config.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/io.h"

static void add(struct recorder_words *w, char *word)
{
	if (w->nr < RECORDER_WORDS)
		w->v[w->nr] = word;
	w->nr++;
}

static void add_options(struct recorder_words *w)
{
	char *rest = w->options, *word;

	while ((word = strtok_r(rest, " \t", &rest)))
		add(w, word);
}

static void add_rates(struct recorder_words *w, const struct agent_config *c)
{
	snprintf(w->freq, sizeof(w->freq), "%.6g", c->freq_hz);
	snprintf(w->scan, sizeof(w->scan), "%.6g", c->scan_hz);
	add(w, "-F");
	add(w, w->freq);
	if (c->scan_hz > 0) {
		add(w, "--snap-freq");
		add(w, w->scan);
	}
	if (c->off_cpu)
		add(w, "--off-cpu");
}

int recorder_words_make(struct recorder_words *w, const struct agent_config *c, uint64_t offset_ns)
{
	*w = (struct recorder_words){ .options = strdup(c->options) };
	if (!w->options)
		return fail(-ENOMEM, "start a recorder");
	snprintf(w->segment, sizeof(w->segment), "%.9gs", (double)c->window_ns / 1e9);
	if (offset_ns)
		snprintf(w->segment, sizeof(w->segment), "%.9gs+%.9gs",
			 (double)c->window_ns / 1e9, (double)offset_ns / 1e9);
	add(w, c->scan_hz > 0 ? "record" : "sample");
	add_options(w);
	add(w, "-q");
	add(w, "-a");
	add_rates(w, c);
	add(w, "--segment-time");
	add(w, w->segment);
	add(w, "-o");
	add(w, "-");
	if (w->nr <= RECORDER_WORDS) {
		w->v[w->nr] = NULL;
		return 0;
	}
	recorder_words_release(w);
	return fail_why(-E2BIG, "[record] options: more than %d words", RECORDER_WORDS);
}

void recorder_words_release(struct recorder_words *w)
{
	free(w->options);
	w->options = NULL;
}

uint64_t agent_offset_ns(uint64_t window_ns)
{
	char *id = NULL, host[256] = "";
	ssize_t len = io_read_file("/etc/machine-id", &id, 4096);
	uint32_t hash;

	if (len > 0) {
		hash = crc32c(id, (size_t)len);
	} else {
		gethostname(host, sizeof(host) - 1);
		hash = crc32c(host, strlen(host));
	}
	free(id);
	/* Whole milliseconds: the value stands in the command line of each trace. */
	return hash % (window_ns / NSEC_PER_MSEC) * NSEC_PER_MSEC;
}
