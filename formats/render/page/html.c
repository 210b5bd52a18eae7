/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page in one file, which needs no network: the facts and a table of functions, which are there
 * without a script, too; and what scripts draw (page_frame.h, page_message.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/function_list.h"
#include "formats/render/page/page_data.h"
#include "formats/render/page/page_frame.h"
#include "formats/render/renderer.h"
#include "formats/render/svg/svg_text.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/weight_text.h"

#define STATIC_FUNCTIONS 100

extern const struct renderer renderer_html;

struct page {
	FILE *out;
	struct page_data data;
	const struct profile_facts *facts;
	struct page_frame frame;
};

static const char *title_of(const struct page *p)
{
	const char *wanted = p->data.opts->title;

	if (wanted && *wanted)
		return wanted;
	return *p->facts->title ? p->facts->title : "Recording";
}

/* ---- What is there without a script ---- */

static void put_date(struct page *p)
{
	time_t at = (time_t)(p->facts->begin_real_ns / 1000000000);
	char date[64];
	struct tm tm;

	if (at && gmtime_r(&at, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		page_frame_fact(&p->frame, "Begun", date);
}

static void put_counts(struct page *p)
{
	const struct profile_facts *f = p->facts;
	char text[256], a[WEIGHT_TEXT_MAX];

	if (f->duration_ns)
		page_frame_fact(&p->frame, "Lasted", text_seconds(f->duration_ns, a));
	page_frame_fact(&p->frame, "Shown", f->amount);
	if (f->samples_total > f->samples) {
		snprintf(text, sizeof(text), "from %s samples", count_text(f->samples_total, a));
		page_frame_fact(&p->frame, "Filtered", text);
	}
	page_frame_fact(&p->frame, "Lost samples", count_text(f->lost, a));
	if (f->frames)
		page_frame_fact(&p->frame, "Frames without a name",
			 text_percent(f->frames_unnamed, f->frames, a));
}

/*
 * Where the time went: how much time there was and what is wrong for everyone to see, the programs
 * and what threads were doing among the facts.
 */
static bool is_for_head(const char *what)
{
	return answer_is_sum(what) || answer_is_finding(what);
}

static void put_answer(struct page *p)
{
	const struct answer_lines *a = &p->data.lines;

	for (size_t i = 0; i < a->nr; i++) {
		if (!is_for_head(a->what[i]))
			continue;
		fputs(answer_is_finding(a->what[i]) ? "<p class=\"answer wrong\">Finding: "
						    : "<p class=\"answer\">", p->out);
		page_frame_text(&p->frame, a->text[i]);
		fputs("</p>\n", p->out);
	}
}

static void put_shares(struct page *p)
{
	const struct answer_lines *a = &p->data.lines;

	for (size_t i = 0; i < a->nr; i++)
		if (!is_for_head(a->what[i]))
			page_frame_fact(&p->frame, *a->what[i] ? "Threads" : "Time",
					a->text[i] + strspn(a->text[i], " "));
}

static void put_facts(struct page *p)
{
	const struct profile_facts *f = p->facts;

	fputs("<details id=\"facts\"><summary>About this recording</summary><dl>\n", p->out);
	put_shares(p);
	page_frame_fact(&p->frame, "Event", f->shown);
	put_counts(p);
	page_frame_fact(&p->frame, "Stacks", f->stacks);
	page_frame_fact(&p->frame, "Not whole", f->not_whole);
	page_frame_fact(&p->frame, "Names", f->names ? f->names : "");
	page_frame_fact(&p->frame, "Snapshots", f->scans);
	put_date(p);
	page_frame_fact(&p->frame, "Host", f->host);
	page_frame_fact(&p->frame, "Kernel", f->kernel);
	page_frame_fact(&p->frame, "Recorded by", f->tool);
	page_frame_fact(&p->frame, "Command", f->argv);
	fputs("</dl></details>\n", p->out);
}

static void put_heading(struct page *p)
{
	fputs("<body>\n<header id=\"head\"><h1>", p->out);
	page_frame_text(&p->frame, title_of(p));
	fputs("</h1>\n", p->out);
	put_answer(p);
	page_frame_loss(&p->frame, p->facts->warning);
	if (p->facts->incomplete && !*p->facts->warning)
		page_frame_loss(&p->frame, "the recording was cut short or is damaged.");
	if (report_is_blurred(p->data.rep))
		page_frame_loss(&p->frame,
				   "some stacks are only counted, below \"[too many stacks]\": "
				   "there are more of them than a recording of this size holds.");
	put_facts(p);
	fputs("</header>\n", p->out);
}

static void put_weight_cells(struct page *p, uint64_t weight, uint64_t whole)
{
	char buf[WEIGHT_TEXT_MAX];

	fputs("<td>", p->out);
	page_frame_text(&p->frame, weight_text_of(weight, p->facts->unit, p->facts->thing, buf));
	fprintf(p->out, "</td><td>%s</td>", text_percent(weight, whole, buf));
}

static void put_function(struct page *p, const struct profile *prof,
			 const struct function_cost *f)
{
	uint64_t whole = prof->nodes[0].total;

	fputs("<tr>", p->out);
	put_weight_cells(p, f->self, whole);
	put_weight_cells(p, f->total, whole);
	fputs("<th scope=\"row\">", p->out);
	page_frame_text(&p->frame, profile_name(prof, f->name));
	fputs("</th><td>", p->out);
	page_frame_text(&p->frame, profile_name(prof, f->binary));
	fputs("</td></tr>\n", p->out);
}

/* --min-percent leaves out functions that have less, with all that they call. */
static bool is_large(const struct page *p, const struct profile *prof,
		     const struct function_cost *f)
{
	double least = p->data.opts->min_percent / 100 * (double)prof->nodes[0].total;

	return (double)f->total >= least;
}

/* The functions with most self weight, for browsers without scripts and for printing. */
static int put_static(struct page *p, const struct profile *prof)
{
	size_t most = p->data.opts->top ? p->data.opts->top : STATIC_FUNCTIONS, nr = 0;
	struct function_list l;
	int err = function_list_init(&l, prof);

	if (err)
		return err;
	for (size_t i = 0; i < l.nr; i++)
		if (is_large(p, prof, &l.v[i]))
			l.v[nr++] = l.v[i];
	most = most < nr ? most : nr;
	fprintf(p->out,
		"<section id=\"static\"><h2>Functions</h2>\n<p>%zu of %zu, by the weight of their "
		"own. With scripts allowed, this page shows flame graphs and time lines.</p>\n"
		"<table><thead><tr><th scope=\"col\" colspan=\"2\">Self</th><th scope=\"col\" "
		"colspan=\"2\">Total</th><th scope=\"col\">Function</th><th scope=\"col\">File</th>"
		"</tr></thead><tbody>\n",
		most, l.nr);
	for (size_t i = 0; i < most; i++)
		put_function(p, prof, &l.v[i]);
	fputs("</tbody></table></section>\n", p->out);
	function_list_release(&l);
	return 0;
}

static int put_data(struct page *p)
{
	struct page_pack *data = page_frame_data(&p->frame);
	int err = data ? page_data_encode(&p->data, data) : -ENOMEM;

	return err ? err : page_frame_end(&p->frame);
}

static int put_page(struct page *p)
{
	static const struct profile_facts none = { .title = "", .warning = "", .shown = "",
						   .stacks = "", .not_whole = "", .scans = "",
						   .host = "", .kernel = "", .tool = "",
						   .argv = "", .amount = "" };
	const struct profile *prof = page_data_profile(&p->data);
	int err = 0;

	p->facts = prof ? &prof->facts : &none;
	err = page_frame_begin(&p->frame, p->out, title_of(p));
	if (err)
		return err;
	put_heading(p);
	fputs("<main id=\"main\">\n", p->out);
	if (prof)
		err = put_static(p, prof);
	fputs("</main>\n", p->out);
	return err ? err : put_data(p);
}

static int html_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	struct page p = { .out = out };
	int err = page_data_read(rep, opts, &p.data);

	if (!err)
		err = put_page(&p);
	page_data_release(&p.data);
	page_frame_release(&p.frame);
	return err;
}

const struct renderer renderer_html = {
	.media_type = "text/html; charset=utf-8",
	.name = "html",
	.suffixes = ".html .htm",
	.is_picture = true,
	.stream = html_stream,
	.made = page_frame_made,
	.help = "a page to explore: flame graph, call tree, time line, functions, threads, waits",
};
