#include "src/recording/live_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"

#define EVERY_NS (200 * NSEC_PER_MSEC)

void live_line_init(struct live_line *l, bool quiet)
{
	memset(l, 0, sizeof(*l));
	l->is_terminal = !quiet && isatty(STDERR_FILENO);
	l->begin_ns = now_ns();
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
	char size[32];

	if (!l->is_terminal || now < l->next_ns)
		return;
	l->next_ns = now + EVERY_NS;
	l->shown = true;
	fprintf(stderr, "\r\033[K%7.1f s  ", (double)(now - l->begin_ns) / 1e9);
	if (n->scans)
		fprintf(stderr, "%" PRIu64 " walks  %" PRIu64 " rows", n->scans, n->samples);
	else
		fprintf(stderr, "%" PRIu64 " samples", n->samples);
	fprintf(stderr, "  %" PRIu64 " lost  %s   (Ctrl-C ends)", n->lost,
		human_bytes(n->file_bytes, size));
	fflush(stderr);
}

void live_line_clear(struct live_line *l)
{
	if (l->shown)
		fprintf(stderr, "\r\033[K");
	l->shown = false;
}
