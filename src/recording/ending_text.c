/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/ending_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/plural.h"
#include "src/recording/live_line.h"
#include "src/report/weight_text.h"

struct text {
	char *s;
	size_t size, len;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < t->size - t->len ? (size_t)n : t->size - t->len - 1;
}

static bool is_plain(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+,:@%=-";

	return *s && *s != '-' && !s[strspn(s, plain)];
}

/* Quotes it where a shell would not take it for one word. */
static void put_word(struct text *t, const char *s)
{
	if (is_plain(s)) {
		put(t, "%s", s);
		return;
	}
	put(t, "%s'", *s == '-' ? "./" : "");
	for (size_t i = 0; s[i]; i++)
		put(t, s[i] == '\'' ? "'\\''" : "%c", s[i]);
	put(t, "'");
}

static void put_count(struct text *t, uint64_t nr, const char *one, const char *many)
{
	char n[WEIGHT_TEXT_MAX];

	put(t, "%s %s", count_text(nr, n), plural(nr, one, many));
}

/* 100.0 only if all are. */
static double percent_whole(const struct ending *e)
{
	double percent = 100.0 * (double)e->whole / (double)e->user_stacks;

	return e->whole < e->user_stacks && percent > 99.9 ? 99.9 : percent;
}

void ending_text(const struct ending *e, char out[ENDING_TEXT_MAX])
{
	struct text t = { out, ENDING_TEXT_MAX, 0 };
	char size[32];

	out[0] = 0;
	if (e->has_samples)
		put_count(&t, e->samples, "sample", "samples");
	if (e->has_samples && e->scans)
		put(&t, " and ");
	if (!e->has_samples || e->scans)
		put_count(&t, e->scans, "snapshot", "snapshots");
	put(&t, " of ");
	put_count(&t, e->threads, "thread", "threads");
	put(&t, " in %.1f s, ", (double)e->ns / 1e9);
	if (e->user_stacks)
		put(&t, "%.1f %% of user stacks whole, ", percent_whole(e));
	put(&t, "%s in ", human_bytes(e->bytes, size));
	if (!e->path) {
		put(&t, "%s", e->place);
		return;
	}
	put_word(&t, e->path);
	if (e->has_reports)
		return;
	put(&t, "; next: probee report");
	if (!strcmp(e->path, "trace.pbz"))	/* it is looked for */
		return;
	put(&t, " ");
	put_word(&t, e->path);
}

bool ending_lost_text(uint64_t samples, const char *others, char out[LOST_TEXT_MAX])
{
	struct text t = { out, LOST_TEXT_MAX, 0 };

	out[0] = 0;
	if (samples)
		put_count(&t, samples, "sample", "samples");
	put(&t, "%s%s", samples && *others ? "; " : "", others);
	return t.len > 0;
}
