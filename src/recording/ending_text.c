/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/ending_text.h"

#include <stdio.h>
#include <string.h>

#include "src/base/line_text.h"
#include "src/base/plural.h"
#include "src/recording/live_line.h"
#include "src/report/weight_text.h"

static bool is_plain(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+,:@%=-";

	return *s && *s != '-' && !s[strspn(s, plain)];
}

/* Quotes it where a shell would not take it for one word. */
static void put_word(struct line_text *t, const char *s)
{
	if (is_plain(s)) {
		line_put(t, "%s", s);
		return;
	}
	line_put(t, "%s'", *s == '-' ? "./" : "");
	for (size_t i = 0; s[i]; i++)
		line_put(t, s[i] == '\'' ? "'\\''" : "%c", s[i]);
	line_put(t, "'");
}

static void put_count(struct line_text *t, uint64_t nr, const char *one, const char *many)
{
	char n[WEIGHT_TEXT_MAX];

	line_put(t, "%s %s", count_text(nr, n), plural(nr, one, many));
}

/* 100.0 only if all are. */
static double percent_whole(const struct ending *e)
{
	double percent = 100.0 * (double)e->whole / (double)e->user_stacks;

	return e->whole < e->user_stacks && percent > 99.9 ? 99.9 : percent;
}

void ending_text(const struct ending *e, char out[ENDING_TEXT_MAX])
{
	struct line_text t = { out, ENDING_TEXT_MAX, 0 };
	char size[32];

	out[0] = 0;
	if (e->has_samples)
		put_count(&t, e->samples, "sample", "samples");
	if (e->has_samples && e->scans)
		line_put(&t, " and ");
	if (!e->has_samples || e->scans)
		put_count(&t, e->scans, "snapshot", "snapshots");
	line_put(&t, " of ");
	put_count(&t, e->threads, "thread", "threads");
	line_put(&t, " in %.1f s, ", (double)e->ns / 1e9);
	if (e->user_stacks)
		line_put(&t, "%.1f %% of user stacks whole, ", percent_whole(e));
	line_put(&t, "%s in ", human_bytes(e->bytes, size));
	if (!e->path) {
		line_put(&t, "%s", e->place);
		return;
	}
	put_word(&t, e->path);
	if (e->has_reports)
		return;
	line_put(&t, "; next: probee report");
	if (!strcmp(e->path, "trace.pbz"))	/* it is looked for */
		return;
	line_put(&t, " ");
	put_word(&t, e->path);
}

bool ending_lost_text(uint64_t samples, const char *others, char out[LOST_TEXT_MAX])
{
	struct line_text t = { out, LOST_TEXT_MAX, 0 };

	out[0] = 0;
	if (samples)
		put_count(&t, samples, "sample lost", "samples lost");
	line_put(&t, "%s%s", samples && *others ? "; " : "", others);
	return t.len > 0;
}
