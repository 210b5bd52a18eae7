/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page in one file, which needs no network: the facts and a table of functions, which are there
 * without a script, too; the data of page_data.h, deflated and in base64; and the scripts of
 * assets/page, which draw them. The policy in its head names the hash of the one script and of the
 * one style sheet, so nothing else can run, whatever a name contains.
 *
 * The scripts are joined in the order of the list below and share one scope.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "formats/render/base64.h"
#include "formats/render/escape.h"
#include "formats/render/function_list.h"
#include "formats/render/page_data.h"
#include "formats/render/renderer.h"
#include "formats/render/sha256.h"
#include "formats/render/svg_text.h"
#include "src/base/bytes.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"
#include "src/profile/weight_text.h"

#define STATIC_FUNCTIONS 100
#define LEVEL 2				/* of zlib: 6 is 4 times as slow, for a tenth of the size */

extern const struct renderer renderer_html;

#define ASSET(symbol) \
	extern const char _binary_formats_render_assets_page_##symbol##_start[]; \
	extern const char _binary_formats_render_assets_page_##symbol##_end[];
#include "formats/render/page_assets.def"
#undef ASSET

struct asset {
	const char *start, *end;
};

#define ASSET(symbol) { _binary_formats_render_assets_page_##symbol##_start, \
			_binary_formats_render_assets_page_##symbol##_end },
static const struct asset style = {
	_binary_formats_render_assets_page_style_css_start,
	_binary_formats_render_assets_page_style_css_end,
};

/* The style sheet is the first of them. */
static const struct asset assets[] = {
#include "formats/render/page_assets.def"
};

struct page {
	FILE *out;
	struct page_data data;
	const struct profile_facts *facts;
	struct byte_buf script;
};

static void put_xml(FILE *out, const char *s)
{
	escape_xml(out, s, strlen(s));
}

/* ---- Head ---- */

static void join_scripts(struct byte_buf *b)
{
	static const char begin[] = "(() => {\n\"use strict\";\n", end[] = "})();\n";

	bb_bytes(b, begin, sizeof(begin) - 1);
	for (size_t i = 1; i < sizeof(assets) / sizeof(assets[0]); i++)
		bb_bytes(b, assets[i].start, (size_t)(assets[i].end - assets[i].start));
	bb_bytes(b, end, sizeof(end) - 1);
}

static void put_hash(FILE *out, const void *text, size_t len)
{
	uint8_t digest[SHA256_BYTES];

	sha256(text, len, digest);
	fputs("'sha256-", out);
	base64_put(out, digest, sizeof(digest));
	putc('\'', out);
}

static void put_policy(struct page *p)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; script-src ", p->out);
	put_hash(p->out, p->script.v, p->script.nr);
	fputs("; style-src ", p->out);
	put_hash(p->out, style.start, (size_t)(style.end - style.start));
	fputs("\">\n", p->out);
}

static const char *title_of(const struct page *p)
{
	const char *wanted = p->data.opts->title;

	if (wanted && *wanted)
		return wanted;
	return *p->facts->title ? p->facts->title : "Recording";
}

static void put_head(struct page *p)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", p->out);
	put_policy(p);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"probee\">\n<title>", p->out);
	put_xml(p->out, title_of(p));
	fputs("</title>\n<style>", p->out);
	fwrite(style.start, 1, (size_t)(style.end - style.start), p->out);
	fputs("</style>\n</head>\n", p->out);
}

/* ---- What is there without a script ---- */

static void put_fact(struct page *p, const char *what, const char *fact)
{
	if (!*fact)
		return;
	fprintf(p->out, "<dt>%s</dt><dd>", what);
	put_xml(p->out, fact);
	fputs("</dd>\n", p->out);
}

static void put_date(struct page *p)
{
	time_t at = (time_t)(p->facts->begin_real_ns / 1000000000);
	char date[64];
	struct tm tm;

	if (at && gmtime_r(&at, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		put_fact(p, "Begun", date);
}

static void put_counts(struct page *p)
{
	const struct profile_facts *f = p->facts;
	char text[256], a[WEIGHT_TEXT_MAX];

	if (f->duration_ns)
		put_fact(p, "Lasted", text_seconds(f->duration_ns, a));
	put_fact(p, "Shown", f->amount);
	if (f->samples_total > f->samples) {
		snprintf(text, sizeof(text), "from %s samples", count_text(f->samples_total, a));
		put_fact(p, "Filtered", text);
	}
	put_fact(p, "Lost samples", count_text(f->lost, a));
	if (f->frames)
		put_fact(p, "Frames without a name",
			 text_percent(f->frames_unnamed, f->frames, a));
}

static void put_facts(struct page *p)
{
	const struct profile_facts *f = p->facts;

	fputs("<details id=\"facts\"><summary>About this recording</summary><dl>\n", p->out);
	put_fact(p, "Event", f->shown);
	put_counts(p);
	put_fact(p, "Stacks", f->stacks);
	put_fact(p, "Not whole", f->not_whole);
	put_fact(p, "Names", f->names ? f->names : "");
	put_fact(p, "Snapshots", f->scans);
	put_date(p);
	put_fact(p, "Host", f->host);
	put_fact(p, "Kernel", f->kernel);
	put_fact(p, "Recorded by", f->tool);
	put_fact(p, "Command", f->argv);
	fputs("</dl></details>\n", p->out);
}

static void put_warning(struct page *p, const char *text)
{
	if (!text || !*text)
		return;
	fputs("<p class=\"warn\">", p->out);
	put_xml(p->out, text);
	fputs("</p>\n", p->out);
}

static void put_heading(struct page *p)
{
	fputs("<body>\n<header id=\"head\"><h1>", p->out);
	put_xml(p->out, title_of(p));
	fputs("</h1>\n", p->out);
	put_warning(p, p->facts->warning);
	if (p->facts->incomplete && !*p->facts->warning)
		put_warning(p, "The recording was cut short or is damaged.");
	if (report_is_blurred(p->data.rep))
		put_warning(p, "Some stacks are only counted, below \"[too many stacks]\": there "
			       "are more of them than a recording of this size holds.");
	put_facts(p);
	fputs("</header>\n", p->out);
}

static void put_weight_cells(struct page *p, uint64_t weight, uint64_t whole)
{
	char buf[WEIGHT_TEXT_MAX];

	fputs("<td>", p->out);
	put_xml(p->out, weight_text_of(weight, p->facts->unit, p->facts->thing, buf));
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
	put_xml(p->out, profile_name(prof, f->name));
	fputs("</th><td>", p->out);
	put_xml(p->out, profile_name(prof, f->binary));
	fputs("</td></tr>\n", p->out);
}

/* The functions with most self weight, for browsers without scripts and for printing. */
static int put_static(struct page *p, const struct profile *prof)
{
	struct function_list l;
	int err = function_list_init(&l, prof);

	if (err)
		return err;
	fprintf(p->out,
		"<section id=\"static\"><h2>Functions</h2>\n<p>%s of %zu, by the weight of their "
		"own. With scripts allowed, this page shows flame graphs and time lines.</p>\n"
		"<table><thead><tr><th scope=\"col\" colspan=\"2\">Self</th><th scope=\"col\" "
		"colspan=\"2\">Total</th><th scope=\"col\">Function</th><th scope=\"col\">File</th>"
		"</tr></thead><tbody>\n",
		l.nr > STATIC_FUNCTIONS ? "The first 100" : "All", l.nr);
	for (size_t i = 0; i < l.nr && i < STATIC_FUNCTIONS; i++)
		put_function(p, prof, &l.v[i]);
	fputs("</tbody></table></section>\n", p->out);
	function_list_release(&l);
	return 0;
}

/* ---- Data and scripts ---- */

static int deflate_bytes(const struct byte_buf *in, struct byte_buf *out)
{
	uLongf len = compressBound(in->nr);
	uint8_t *room = bb_room(out, len);

	if (!room || compress2(room, &len, in->v, in->nr, LEVEL) != Z_OK)
		return -ENOMEM;
	out->nr += len;
	return 0;
}

static int put_data(struct page *p)
{
	struct byte_buf bytes = { 0 }, packed = { 0 };
	int err = page_data_encode(&p->data, &bytes);

	if (!err)
		err = deflate_bytes(&bytes, &packed);
	if (!err) {
		fputs("<script type=\"application/octet-stream\" id=\"data\">", p->out);
		base64_put(p->out, packed.v, packed.nr);
		fputs("</script>\n", p->out);
	}
	bb_release(&bytes);
	bb_release(&packed);
	return err;
}

static void put_script(struct page *p)
{
	fputs("<script>", p->out);
	fwrite(p->script.v, 1, p->script.nr, p->out);
	fputs("</script>\n</body>\n</html>\n", p->out);
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
	join_scripts(&p->script);
	if (p->script.bad)
		return -ENOMEM;
	put_head(p);
	put_heading(p);
	fputs("<main id=\"main\">\n", p->out);
	if (prof)
		err = put_static(p, prof);
	fputs("</main>\n", p->out);
	if (!err)
		err = put_data(p);
	put_script(p);
	return err ? err : ferror(p->out) ? -errno : 0;
}

static int html_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	struct page p = { .out = out };
	int err = page_data_read(rep, opts, &p.data);

	if (!err)
		err = put_page(&p);
	page_data_release(&p.data);
	bb_release(&p.script);
	return err;
}

static bool made(const char *head)
{
	return strstr(head, "<meta name=\"generator\" content=\"probee\">");
}

const struct renderer renderer_html = {
	.name = "html",
	.suffixes = ".html .htm",
	.is_picture = true,
	.stream = html_stream,
	.made = made,
	.help = "a page to explore: flame graph, time line, functions, threads, waits",
};
