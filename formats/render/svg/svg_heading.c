/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a picture. What everyone must know stands above the boxes: what is shown, how much of
 * it, what is missing, and what the colours mean. All other facts stand below the boxes; the page
 * that flame.js makes shows them when asked, and on paper.
 *
 * Nothing is cut but the title: a line that is too long is broken between words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/svg/svg_parts.h"
#include "formats/render/svg/svg_text.h"
#include "src/base/plural.h"
#include "src/profile/profile_delta.h"
#include "src/report/weight_text.h"

#define LINE_PX 17
/* Letters of 12 px that take the room of a bold line of 12 px. */
#define BOLD_PX (CHART_PX * 10 / 12)
#define TITLE_PX (BOLD_PX * 12 / 18)
/* User stacks of which more is whole are no news for the heading. */
#define WHOLE_PERCENT 95

/* A bold line, cut where the picture ends. */
static void put_title_line(struct picture *pic, const char *text)
{
	pic->y += 28;
	fprintf(pic->out, "<text class=\"t\" x=\"%d\" y=\"%u\">", MARGIN_PX, pic->y);
	text_put_cut(pic->out, text, TITLE_PX);
	fputs("</text>\n", pic->out);
}

/* Writes as many lines as the text needs; those after the first have the class "more". */
static void put_lines(struct picture *pic, const char *class, const char *text, unsigned room_px)
{
	const char *more = "";
	size_t len;

	for (; *text; text += len + strspn(text + len, " ")) {
		len = text_fit_words(text, room_px);
		pic->y += LINE_PX;
		fprintf(pic->out, "<text class=\"%s%s\" x=\"%d\" y=\"%u\">", class, more, MARGIN_PX,
			pic->y);
		escape_xml(pic->out, text, len);
		fputs("</text>\n", pic->out);
		more = " more";
	}
}

/* Facts of one line, which is put when it is full. */
struct line {
	char text[4096];
	unsigned px;
};

static void line_flush(struct picture *pic, struct line *ln)
{
	put_lines(pic, "s", ln->text, CHART_PX);
	ln->text[0] = 0;
	ln->px = 0;
}

/* A fact that is "" is none. */
static void line_add(struct picture *pic, struct line *ln, const char *fact)
{
	unsigned px = text_px(fact) + 20;
	size_t len = strlen(ln->text);

	if (!*fact)
		return;
	if (len && (ln->px + px > CHART_PX || len + strlen(fact) + 8 > sizeof(ln->text)))
		line_flush(pic, ln);
	len = strlen(ln->text);
	snprintf(ln->text + len, sizeof(ln->text) - len, "%s%s", len ? "  \xc2\xb7  " : "", fact);
	ln->px += px;
}

static void __attribute__((format(printf, 3, 4)))
line_addf(struct picture *pic, struct line *ln, const char *fmt, ...)
{
	char fact[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fact, sizeof(fact), fmt, ap);
	va_end(ap);
	line_add(pic, ln, fact);
}

void svg_title(const struct picture *pic, const struct render_opts *opts, char *buf, size_t size)
{
	const char *given = opts->title && *opts->title ? opts->title : pic->facts->title;

	snprintf(buf, size, "%s", *given ? given : "Flame graph");
}

/* The lines of the first answer that everyone must see: how much time there was, what is wrong. */
static bool is_for_head(const struct answer_lines *a, size_t i)
{
	return answer_is_sum(a->what[i]) || answer_is_finding(a->what[i]);
}

/* What probee lost and what the machine suffers are told apart by their heads. */
static void put_headed(struct picture *pic, const char *class, const char *head, const char *text)
{
	char *line;

	if (asprintf(&line, "%s: %s", head, text) < 0)
		return;
	put_lines(pic, class, line, BOLD_PX);
	free(line);
}

/* The problems of the machine, and all other lines: where the time went. */
static void put_wrong(struct picture *pic)
{
	const struct answer_lines *a = &pic->facts->answer;

	for (size_t i = 0; i < a->nr; i++)
		if (answer_is_finding(a->what[i]))
			put_headed(pic, "s wrong", "Finding", a->text[i]);
}

static void put_answer(struct picture *pic)
{
	const struct answer_lines *a = &pic->facts->answer;

	for (size_t i = 0; i < a->nr; i++)
		if (!is_for_head(a, i))
			put_lines(pic, "s", a->text[i] + strspn(a->text[i], " "), CHART_PX);
}

/* Boxes that are not in the picture for being narrow, with their weight. */
static void add_hidden(struct picture *pic, struct line *ln)
{
	const struct layout *l = &pic->layout;
	char n[WEIGHT_TEXT_MAX], p[32];

	if (l->hidden)
		line_addf(pic, ln, "%s narrow %s hidden: %s of the weight",
			  count_text(l->hidden, n), plural(l->hidden, "frame", "frames"),
			  text_small_percent(l->hidden_weight, l->total, p));
}

/* Rows above the edge of the chart. The page takes this note away where it shows them. */
static void put_tips(struct picture *pic)
{
	const struct layout *l = &pic->layout;
	uint32_t rows = l->rows - pic->rows;
	char text[128], n[WEIGHT_TEXT_MAX], p[32];

	if (!rows)
		return;
	snprintf(text, sizeof(text), "%.30s narrow %s above not shown: %s of the weight",
		 count_text(rows, n), plural(rows, "row", "rows"),
		 text_small_percent(l->row_weight[pic->rows], l->total, p));
	put_lines(pic, "s tips", text, CHART_PX);
}

/* What came of a comparison. */
static void add_result(struct picture *pic, struct line *ln)
{
	char result[256];

	if (!pic->prof->deltas)
		return;
	svg_delta_result(pic, result, sizeof(result));
	line_add(pic, ln, result);
	line_add(pic, ln, "a box is as wide as before and after together");
}

static const char *answer_time(const struct profile_facts *f)
{
	for (size_t i = 0; i < f->answer.nr; i++)
		if (answer_is_sum(f->answer.what[i]))
			return f->answer.text[i];
	return "";
}

static void put_shown(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	struct line ln = { "", 0 };
	char a[WEIGHT_TEXT_MAX];

	add_result(pic, &ln);
	line_add(pic, &ln, f->shown);
	if (f->is_inverted)
		line_add(pic, &ln, "upside down: callers stand above what they call");
	line_add(pic, &ln, *answer_time(f) ? answer_time(f) : f->amount);
	if (f->samples_total > f->samples)
		line_addf(pic, &ln, "filtered from %s samples", count_text(f->samples_total, a));
	line_add(pic, &ln, f->hidden ? f->hidden : "");
	if (pic->prof->levels)
		line_add(pic, &ln, "recursion folded: \xc3\x97 says how many levels");
	if (*answer_time(f))
		line_addf(pic, &ln, "%s", weight_text_of(f->samples, "", f->noun, a));
	line_addf(pic, &ln, "%s lost", count_text(f->lost, a));
	if (f->roots <= f->user_stacks &&
	    layout_share(f->roots, f->user_stacks, 100) < WHOLE_PERCENT && f->user_stacks)
		line_addf(pic, &ln, "%s of user stacks are whole",
			  text_percent(f->roots, f->user_stacks, a));
	add_hidden(pic, &ln);
	line_flush(pic, &ln);
	put_tips(pic);
}

static void put_warning(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	static const char losses[] = "Losses";
	char text[128], n[WEIGHT_TEXT_MAX];

	if (*f->warning) {
		put_headed(pic, "warn", losses, f->warning);
		return;
	}
	if (f->lost) {
		snprintf(text, sizeof(text), "%.30s sample%s lost: what was lost is missing here.",
			 count_text(f->lost, n), f->lost == 1 ? " was" : "s were");
		put_headed(pic, "warn", losses, text);
	}
	if (f->incomplete)
		put_headed(pic, "warn", losses, "the recording was cut short or is damaged.");
}

/* Room for what the picture has of it, from the left to the right. */
static void put_legend(struct picture *pic)
{
	bool used[FAMILIES] = { false }, guessed = false;
	unsigned x = MARGIN_PX;

	for (size_t i = 0; i < pic->layout.nr; i++) {
		used[svg_colour(pic, pic->layout.v[i].node)] = true;
		guessed |= pic->prof->nodes[pic->layout.v[i].node].flags & NODE_GUESSED;
	}
	pic->y += 22;
	fputs("<g id=\"legend\">\n", pic->out);
	for (unsigned i = 0; i < FAMILIES; i++) {
		if (!used[i])
			continue;
		fprintf(pic->out,
			"<rect class=\"%c%u\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\"/>"
			"<text class=\"s\" x=\"%u\" y=\"%u\">%s</text>\n",
			svg_families[i].letter, svg_families[i].swatch, x, pic->y - 10, x + 17,
			pic->y, svg_families[i].legend);
		x += 17 + text_px(svg_families[i].legend) + 14;
	}
	if (guessed)
		fprintf(pic->out,
			"<text class=\"s guess\" x=\"%u\" y=\"%u\">slanted: guessed caller"
			"</text>\n",
			x, pic->y);
	fputs("</g>\n", pic->out);
}

static void put_empty(struct picture *pic)
{
	uint64_t total = pic->facts->samples_total;
	char text[160], n[WEIGHT_TEXT_MAX];

	if (total)
		snprintf(text, sizeof(text), "No samples to show: the filters left none of %.30s.",
			 count_text(total, n));
	else
		snprintf(text, sizeof(text), "No samples: nothing that was asked for ran.");
	pic->y += 20;
	put_title_line(pic, text);
}

void svg_put_heading(struct picture *pic, const char *title)
{
	fputs("<g id=\"head-text\">\n", pic->out);
	put_title_line(pic, title);
	pic->y += 3;
	put_shown(pic);
	put_wrong(pic);
	put_warning(pic);
	fputs("</g>\n", pic->out);
	if (pic->layout.nr)
		put_legend(pic);
	else
		put_empty(pic);
}

/* ---- Below the boxes ---- */

static void put_origin(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	time_t at = (time_t)(f->begin_real_ns / 1000000000);
	struct line ln = { "", 0 };
	struct tm tm;
	char date[64];

	line_add(pic, &ln, f->host);
	line_add(pic, &ln, f->kernel);
	if (at && gmtime_r(&at, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		line_add(pic, &ln, date);
	if (f->duration_ns)
		line_addf(pic, &ln, "%s from the first sample to the last one",
			  text_seconds(f->duration_ns, date));
	line_add(pic, &ln, f->tool);
	line_flush(pic, &ln);
	line_add(pic, &ln, f->argv);
	line_flush(pic, &ln);
}

/* What was compared, and how. */
static void put_comparison(struct picture *pic)
{
	const struct profile_delta *d = pic->prof->deltas;
	struct line ln = { "", 0 };

	if (!d)
		return;
	line_addf(pic, &ln, "before: %s", d->before);
	line_flush(pic, &ln);
	line_addf(pic, &ln, "after: %s", d->after);
	line_flush(pic, &ln);
	line_addf(pic, &ln, "scaled %s", d->scaled);
	line_addf(pic, &ln, "%s", d->method);
	line_flush(pic, &ln);
}

static void put_quality(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	struct line ln = { "", 0 };
	char a[WEIGHT_TEXT_MAX];

	line_add(pic, &ln, f->stacks);
	if (*f->not_whole)
		line_addf(pic, &ln, "not whole: %s", f->not_whole);
	if (f->frames)
		line_addf(pic, &ln, "%s of frames without a name",
			  text_percent(f->frames_unnamed, f->frames, a));
	line_add(pic, &ln, f->scans);
	line_flush(pic, &ln);
}

void svg_put_facts(struct picture *pic)
{
	fputs("<g id=\"facts\">\n", pic->out);
	put_answer(pic);
	put_comparison(pic);
	put_origin(pic);
	put_quality(pic);
	fputs("</g>\n", pic->out);
}
