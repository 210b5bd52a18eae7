/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/live_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"

#define EVERY_NS (200 * NSEC_PER_MSEC)

void live_line_init(struct live_line *l, bool is_shown)
{
	*l = (struct live_line){ .is_terminal = is_shown, .begin_ns = now_ns() };
}

const char *human_bytes(uint64_t bytes, char buf[32])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	int u = 0;

	for (; v >= 1024 && u < 4; u++)
		v /= 1024;
	snprintf(buf, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
	return buf;
}

void live_line_update(struct live_line *l, const struct live_numbers *n)
{
	uint64_t now = now_ns();
	char line[160], size[32];
	size_t at;

	if (!l->is_terminal || now < l->next_ns)
		return;
	l->next_ns = now + EVERY_NS;
	at = (size_t)snprintf(line, sizeof(line), "%.1f s", (double)(now - l->begin_ns) / 1e9);
	if (n->samples_wanted)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "  %" PRIu64 " samples",
				       n->samples);
	if (n->scans_wanted)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "  %" PRIu64 " snapshots",
				       n->scans);
	if (n->lost)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "  %" PRIu64 " lost", n->lost);
	snprintf(line + at, sizeof(line) - at, "  %s  (Ctrl-C ends)",
		 human_bytes(n->file_bytes, size));
	note_status(line);
}

void live_line_clear(struct live_line *l)
{
	if (l->is_terminal)
		note_status(NULL);
}
