/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph in one file: a well-formed picture for every viewer, and an interactive page in a
 * browser, by the script assets/flame.js. It is drawn for a window of LAYOUT_WIDTH_PX. Boxes are
 * placed in percent of the inner svg#chart, so that the script only has to widen that one.
 *
 *	y	0	title, what is shown, warning (#head-text), legend (#legend)
 *		top	svg#chart: the script, then the boxes in rows of ROW_PX, root at the bottom
 *		below	facts (#facts), which stand before the chart in the file
 *
 * One box:	<g class="f u3 w" data-x="0" data-w="12" data-d="1">
 *		<title>name, samples, file</title><rect .../><text ...>name</text></g>
 *
 * Rows at the tips of a few deep stacks lie above the upper edge of the chart, which cuts them off
 * until the script is asked for them: one stack of 166 functions would make a picture of 3,000 px.
 *
 * flame.js relies on the ids, the classes, the order of the children, ROW_PX, ROWS_MIN and
 * TIP_PERMILLE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/layout.h"
#include "formats/render/renderer.h"
#include "formats/render/svg/svg_parts.h"
#include "src/profile/profile.h"

#define FOOT_PX 12

extern const char _binary_formats_render_assets_flame_js_start[];
extern const char _binary_formats_render_assets_flame_js_end[];
extern const char _binary_formats_render_assets_flame_css_start[];
extern const char _binary_formats_render_assets_flame_css_end[];

static void put_asset(FILE *out, const char *start, const char *end)
{
	fputs("<![CDATA[\n", out);
	fwrite(start, 1, (size_t)(end - start), out);
	fputs("]]>", out);
}

static void put_opening(const struct picture *pic, const char *title, unsigned height)
{
	static const char *const shapes[] = {
		"what it called stands above it",
		"those who called it stand above it",
	};
	FILE *out = pic->out;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" role=\"img\" "
		"aria-labelledby=\"title desc\" data-rows=\"%u\"%s>\n"
		"<title id=\"title\">",
		LAYOUT_WIDTH_PX, height, LAYOUT_WIDTH_PX, height, pic->rows,
		pic->prof->deltas ? " data-diff=\"1\"" : "");
	escape_xml(out, title, strlen(title));
	fprintf(out, "</title>\n<desc id=\"desc\">Flame graph: each box is a function, its width "
		"its share of %s, %s.</desc>\n<style>",
		pic->prof->deltas ? "two recordings together" : "all that was measured",
		shapes[pic->facts->is_inverted]);
	put_asset(out, _binary_formats_render_assets_flame_css_start,
		  _binary_formats_render_assets_flame_css_end);
	fputs("</style>\n<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n", out);
}

static void put_chart(const struct picture *pic, unsigned y)
{
	fprintf(pic->out,
		"<svg id=\"chart\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%u\" "
		"overflow=\"hidden\">\n<script>",
		MARGIN_PX, y, CHART_PX, chart_height(pic));
	put_asset(pic->out, _binary_formats_render_assets_flame_js_start,
		  _binary_formats_render_assets_flame_js_end);
	fputs("</script>\n", pic->out);
	svg_put_boxes(pic);
	fputs("</svg>\n", pic->out);
}

/* All text around the boxes; the number of its lines decides where these are. */
struct text_around {
	char *text;
	size_t len;
	unsigned chart_y, height;
};

static int make_text(struct picture *pic, const char *title, struct text_around *t)
{
	FILE *out = pic->out;
	FILE *mem = open_memstream(&t->text, &t->len);
	bool bad;

	if (!mem)
		return -errno;
	pic->out = mem;
	svg_put_heading(pic, title);
	t->chart_y = pic->y + 10;
	pic->y = t->chart_y + chart_height(pic) + 4;
	svg_put_facts(pic);
	t->height = pic->y + FOOT_PX;
	pic->out = out;
	bad = ferror(mem);	/* without memory fclose() may succeed, with the text NULL */
	return fclose(mem) || bad || !t->text ? -ENOMEM : 0;
}

static int put_picture(struct picture *pic, const char *title)
{
	struct text_around t = { NULL, 0, 0, 0 };
	int err = make_text(pic, title, &t);

	if (err)
		goto out;
	put_opening(pic, title, t.height);
	fwrite(t.text, 1, t.len, pic->out);
	if (pic->layout.nr)
		put_chart(pic, t.chart_y);
	fputs("</svg>\n", pic->out);
	err = !ferror(pic->out) ? 0 : errno ? -errno : -EIO;
out:
	free(t.text);
	return err;
}

static int svg_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct picture pic = { .out = out, .prof = prof, .facts = &prof->facts,
			       .full_names = opts->full_names };
	char title[512];
	int err = layout_init(&pic.layout, prof, opts->min_percent, LAYOUT_MAX_BOXES);

	if (err)
		return err;
	pic.rows = layout_rows(&pic.layout, ROWS_MIN, TIP_PERMILLE);
	svg_title(&pic, opts, title, sizeof(title));
	err = put_picture(&pic, title);
	layout_release(&pic.layout);
	return err;
}

static bool made(const char *head)
{
	return !strncmp(head, "<?xml ", 6) && strstr(head, "aria-labelledby=\"title desc\"");
}

const struct renderer renderer_svg = {
	.media_type = "image/svg+xml",
	.name = "svg",
	.suffixes = ".svg",
	.made = made,
	.help = "flame graph for a browser, in one file: zoom, search, keyboard",
	.is_picture = true,
	.render = svg_render,
};
