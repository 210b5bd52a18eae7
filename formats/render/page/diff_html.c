/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings compared, as a page to explore (page_frame.h). Its data are those of any page
 * (page_message.h) without processes and threads; what the scripts draw is in one more section at
 * the end:
 *
 *	delta	columns by node, in the order of the section "nodes": before, after, error, verdict
 *		(enum delta_verdict), shade, self before, self after; nr of functions; columns by
 *		function, the largest difference first: a node that it has, self before, self after,
 *		error, verdict, shade
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/diff_renderers.h"
#include "formats/render/json_writer.h"
#include "formats/render/page/page_data.h"
#include "formats/render/page/page_frame.h"
#include "formats/render/page/page_message.h"
#include "formats/render/page/page_pack.h"
#include "formats/render/renderer.h"
#include "src/base/bytes.h"
#include "src/base/plural.h"
#include "src/profile/profile.h"
#include "src/profile/profile_delta.h"

#define STATIC_FUNCTIONS 100

struct diff_page {
	const struct profile *p;
	const struct profile_delta *d;
	const struct render_opts *opts;
	struct page_data data;
	struct page_frame frame;
	FILE *out;
};

static const char *title_of(const struct diff_page *page)
{
	const char *wanted = page->opts->title;

	if (wanted && *wanted)
		return wanted;
	return *page->p->facts.title ? page->p->facts.title : "Difference";
}

static void result_text(const struct profile_delta *d, char *buf, size_t size)
{
	if (!d->tested && !d->functions_tested)
		snprintf(buf, size, "Too few samples to compare.");
	else
		snprintf(buf, size,
			 "%s%zu of %zu %s and %zu of %zu %s in the call tree differ by more than "
			 "chance.", d->differing || d->functions_differing
					    ? "" : "No significant difference: ",
			 d->functions_differing, d->functions_tested,
			 plural(d->functions_tested, "function", "functions"), d->differing,
			 d->tested, plural(d->tested, "place", "places"));
}

/* ---- What is there without a script ---- */

static void put_heading(struct diff_page *page)
{
	const struct profile_facts *f = &page->p->facts;
	struct page_frame *frame = &page->frame;
	char result[256];

	fputs("<body>\n<header id=\"head\"><h1>", page->out);
	page_frame_text(frame, title_of(page));
	fputs("</h1>\n", page->out);
	page_frame_loss(frame, f->warning);
	if (f->incomplete && !*f->warning)
		page_frame_loss(frame, "a recording was cut short or is damaged.");
	result_text(page->d, result, sizeof(result));
	fputs("<p id=\"result\">", page->out);
	page_frame_text(frame, result);
	fputs("</p>\n<dl id=\"sides\">\n", page->out);
	page_frame_fact(frame, "Before", page->d->before);
	page_frame_fact(frame, "After", page->d->after);
	fputs("</dl>\n<details id=\"facts\"><summary>About this comparison</summary><dl>\n",
	      page->out);
	page_frame_fact(frame, "Event", f->shown);
	page_frame_fact(frame, "Scaled", page->d->scaled);
	page_frame_fact(frame, "Method", page->d->method);
	page_frame_fact(frame, "Host", f->host);
	page_frame_fact(frame, "Kernel", f->kernel);
	page_frame_fact(frame, "Compared by", f->tool);
	fputs("</dl></details>\n</header>\n", page->out);
}

static void put_cell(struct diff_page *page, const char *text)
{
	fputs("<td>", page->out);
	page_frame_text(&page->frame, text);
	fputs("</td>", page->out);
}

static void put_function(struct diff_page *page, const struct function_delta *f)
{
	const struct node *n = &page->p->nodes[f->node];
	const struct delta *d = &f->self;
	char a[WEIGHT_TEXT_MAX + 1], both[2 * WEIGHT_TEXT_MAX + 8];

	fputs("<tr>", page->out);
	put_cell(page, delta_weight_text(page->p, d->before, a));
	put_cell(page, delta_weight_text(page->p, d->after, a));
	snprintf(both, sizeof(both), "%s", delta_change_text(page->p, d, a));
	if (d->verdict != DELTA_FEW)
		snprintf(both + strlen(both), sizeof(both) - strlen(both), " \xc2\xb1 %s",
			 delta_weight_text(page->p, d->error, a));
	put_cell(page, both);
	put_cell(page, delta_verdict_name(d->verdict));
	fputs("<th scope=\"row\">", page->out);
	page_frame_text(&page->frame, profile_name(page->p, n->name));
	fputs("</th><td>", page->out);
	page_frame_text(&page->frame, profile_name(page->p, n->binary));
	fputs("</td></tr>\n", page->out);
}

static void put_static(struct diff_page *page)
{
	const struct profile_delta *d = page->d;
	const char *unit = delta_unit_text(page->p);

	fprintf(page->out,
		"<section id=\"static\"><h2>Functions</h2>\n<p>%s of %zu, by the size of the "
		"difference%s%s. With scripts allowed, this page shows flame graphs.</p>\n"
		"<table><thead><tr><th scope=\"col\">Before</th><th scope=\"col\">After</th>"
		"<th scope=\"col\">Difference</th><th scope=\"col\">Verdict</th>"
		"<th scope=\"col\">Function</th><th scope=\"col\">File</th></tr></thead><tbody>\n",
		d->nr_functions > STATIC_FUNCTIONS ? "The first 100" : "All", d->nr_functions,
		*unit ? ", in " : "", unit);
	for (size_t i = 0; i < d->nr_functions && i < STATIC_FUNCTIONS; i++)
		put_function(page, &d->functions[i]);
	fputs("</tbody></table></section>\n", page->out);
}

/* ---- Data ---- */

static void put_event(struct json_writer *w, const struct diff_page *page)
{
	const struct profile_facts *f = &page->p->facts;

	json_begin(w, '{');
	json_put_text(w, "label", f->shown);
	json_put_text(w, "unit", f->unit);
	json_put_text(w, "name", f->noun);
	json_put_text(w, "title", title_of(page));
	json_put_u64(w, "usual", 1);
	json_end(w, '}');
}

static void put_scale(struct json_writer *w, const struct diff_page *page)
{
	struct delta_view v = delta_view(page->p);
	char result[256];

	result_text(page->d, result, sizeof(result));
	json_key(w, "delta");
	json_begin(w, '{');
	json_put_text(w, "unit", v.unit);
	json_put_u64(w, "times", v.times);
	json_put_u64(w, "of", v.of);
	json_put_u64(w, "digits", v.digits);
	json_put_text(w, "result", result);
	json_end(w, '}');
}

static void put_facts(struct json_writer *w, const void *diff_page)
{
	const struct diff_page *page = diff_page;

	json_begin(w, '{');
	json_key(w, "wishes");
	json_begin(w, '{');
	json_key(w, "by");
	json_begin(w, '[');
	json_end(w, ']');
	json_put_bool(w, "inverted", false);
	json_put_text(w, "part", "");
	json_put_bool(w, "folded", false);
	json_put_u64(w, "top", page->opts->top);
	json_put_number(w, "min_percent", page->opts->min_percent);
	json_end(w, '}');
	json_put_bool(w, "all_threads", true);
	json_key(w, "activities");
	json_begin(w, '[');
	json_end(w, ']');
	json_key(w, "events");
	json_begin(w, '[');
	put_event(w, page);
	json_end(w, ']');
	put_scale(w, page);
	json_end(w, '}');
}

/* Joins columns, which are released. */
static void put_columns(struct byte_buf *columns, size_t nr, struct byte_buf *out)
{
	for (size_t i = 0; i < nr; i++) {
		bb_bytes(out, columns[i].v, columns[i].nr);
		out->bad |= columns[i].bad;
		bb_release(&columns[i]);
	}
}

static void put_nodes(const struct diff_page *page, const uint32_t *node_at, struct byte_buf *out)
{
	struct byte_buf c[7] = { 0 };

	for (size_t i = 0; i < page->p->nr_nodes; i++) {
		const struct node_delta *n = &page->d->nodes[node_at[i]];

		bb_uv(&c[0], n->total.before);
		bb_uv(&c[1], n->total.after);
		bb_uv(&c[2], n->total.error);
		bb_uv(&c[3], n->total.verdict);
		bb_uv(&c[4], n->total.shade);
		bb_uv(&c[5], n->before_self);
		bb_uv(&c[6], n->after_self);
	}
	put_columns(c, sizeof(c) / sizeof(c[0]), out);
}

static void put_functions(const struct diff_page *page, const uint32_t *places,
			  struct byte_buf *out)
{
	struct byte_buf c[6] = { 0 };

	bb_uv(out, page->d->nr_functions);
	for (size_t i = 0; i < page->d->nr_functions; i++) {
		const struct function_delta *f = &page->d->functions[i];

		bb_uv(&c[0], places[f->node]);
		bb_uv(&c[1], f->self.before);
		bb_uv(&c[2], f->self.after);
		bb_uv(&c[3], f->self.error);
		bb_uv(&c[4], f->self.verdict);
		bb_uv(&c[5], f->self.shade);
	}
	put_columns(c, sizeof(c) / sizeof(c[0]), out);
}

/* places: by node of the profile, its place in the page. */
static int put_deltas(const struct diff_page *page, const uint32_t *places, struct byte_buf *out)
{
	size_t nr = page->p->nr_nodes;
	uint32_t *node_at = calloc(nr, sizeof(*node_at));
	struct byte_buf b = { 0 };

	if (!node_at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		node_at[places[i]] = (uint32_t)i;
	put_nodes(page, node_at, &b);
	put_functions(page, places, &b);
	page_message_section(out, "delta", &b);
	free(node_at);
	return 0;
}

static int put_sections(struct diff_page *page, struct byte_buf *out)
{
	static const struct page_rows none;
	struct byte_buf tree = { 0 };
	uint32_t *places = NULL;
	int err = page_tree_put(&page->data, page->p, 1, &tree, &places);

	page_message_state(out, PAGE_IS_ALL | PAGE_HAS_ENDED, 1);
	if (!err)
		err = page_message_json(out, "facts", put_facts, page);
	if (!err) {
		page_tables_put(&page->data.t, &page->data.functions, &none, out);
		bb_bytes(out, tree.v, tree.nr);
		err = put_deltas(page, places, out);
	}
	if (!err && (out->bad || tree.bad))
		err = -ENOMEM;
	bb_release(&tree);
	free(places);
	return err;
}

static int put_data(struct diff_page *page)
{
	struct page_pack *data = page_frame_data(&page->frame);
	struct byte_buf bytes = { 0 };
	int err = data ? put_sections(page, &bytes) : -ENOMEM;

	if (!err)
		page_pack_part(data, &bytes);
	bb_release(&bytes);
	return err;
}

static int put_page(struct diff_page *page)
{
	int err = page_frame_begin(&page->frame, page->out, title_of(page));

	if (err)
		return err;
	put_heading(page);
	fputs("<main id=\"main\">\n", page->out);
	put_static(page);
	fputs("</main>\n", page->out);
	err = put_data(page);
	return err ? err : page_frame_end(&page->frame);
}

static int diff_html_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct diff_page page = { .p = prof, .d = prof->deltas, .opts = opts, .out = out };
	int err = page_tables_init(&page.data.t);

	page.data.functions.strings = page.data.t.strings;
	if (!err)
		err = put_page(&page);
	page_functions_release(&page.data.functions);
	page_tables_release(&page.data.t);
	page_frame_release(&page.frame);
	return err;
}

const struct renderer diff_renderer_html = {
	.name = "html",
	.suffixes = ".html .htm",
	.is_picture = true,
	.render = diff_html_render,
	.made = page_frame_made,
	.help = "a page to explore: flame graph of both, functions, callers and callees",
};
