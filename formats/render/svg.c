/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph in one file: a well-formed picture for every viewer, and an interactive page in a
 * browser, by the script assets/flame.js. It is drawn for a window of LAYOUT_WIDTH_PX. Boxes are
 * placed in percent of the inner svg#chart, so that the script only has to widen that one.
 *
 *	y	0	title, facts, warning (#head-text), legend (#legend)
 *		top	svg#chart: the script, then the boxes in rows of ROW_PX, root at the bottom
 *		below	room for the script's line of details
 *
 * One box:	<g class="f u3 w" data-x="0" data-w="12" data-d="1">
 *		<title>name, samples, file</title><rect .../><text ...>name</text></g>
 *
 * flame.js relies on the ids, the classes, the order of the children and ROW_PX.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/layout.h"
#include "formats/render/renderer.h"
#include "formats/render/svg_text.h"
#include "src/base/hash_index.h"
#include "src/profile/profile.h"
#include "src/profile/weight_text.h"

#define ROW_PX 18
#define MARGIN_PX 10
#define CHART_PX (LAYOUT_WIDTH_PX - 2 * MARGIN_PX)
/* Letters of 12 px that take the room of a bold line of 12 px. */
#define BOLD_PX (CHART_PX * 10 / 12)
#define TITLE_PX (BOLD_PX * 12 / 18)
#define TEXT_ROOM_PX 6			/* margins of a label, left and right together */
#define TEXT_MIN_PX 16			/* no label in less room */
#define GAP_MIN_PX 3			/* a gap would take too much of a narrower box */
#define FOOT_PX 31
#define SHADES 8
#define SCALE 1000000			/* positions are written in millionths: 12.3456% */

extern const char _binary_formats_render_assets_flame_js_start[];
extern const char _binary_formats_render_assets_flame_js_end[];
extern const char _binary_formats_render_assets_flame_css_start[];
extern const char _binary_formats_render_assets_flame_css_end[];

/* Colour families; the letter is the class in flame.css. */
enum family {
	FAMILY_USER, FAMILY_INLINED, FAMILY_KERNEL, FAMILY_JIT, FAMILY_BPF, FAMILY_NO_CODE,
	FAMILIES
};

static const struct {
	char letter;
	const char *legend;		/* text of the legend */
	const char *what;		/* text in the title of a box; NULL: it needs none */
} families[FAMILIES] = {
	[FAMILY_USER] = { 'u', "user", NULL },
	[FAMILY_INLINED] = { 'i', "user, inlined", NULL },
	[FAMILY_KERNEL] = { 'k', "kernel", "kernel" },
	[FAMILY_JIT] = { 'j', "JIT", "JIT code" },
	[FAMILY_BPF] = { 'b', "BPF", "BPF program" },
	[FAMILY_NO_CODE] = { 's', "process, thread, CPU", NULL },
};

struct picture {
	FILE *out;
	const struct profile *prof;
	const struct profile_facts *facts;
	struct layout layout;
	unsigned y;			/* place of the next line of the heading */
};

static enum family family_of(const struct node *nd)
{
	if ((nd->flags & NODE_SYNTHETIC) || nd->kind == FRAME_SYNTHETIC || nd->parent == NODE_NONE)
		return FAMILY_NO_CODE;
	if (nd->kind == FRAME_KERNEL)
		return FAMILY_KERNEL;
	if (nd->kind == FRAME_JIT)
		return FAMILY_JIT;
	if (nd->kind == FRAME_BPF)
		return FAMILY_BPF;
	return nd->flags & NODE_INLINED ? FAMILY_INLINED : FAMILY_USER;
}

static void put_xml(FILE *out, const char *s)
{
	escape_xml(out, s, strlen(s));
}

/* "31.2 ms, 3 samples"; only "3 samples" if each weighs 1. */
static void put_weight(const struct picture *pic, uint64_t weight, uint64_t samples)
{
	const struct profile_facts *f = pic->facts;
	bool counted = !strcmp(f->unit, "samples");
	char buf[WEIGHT_TEXT_MAX];

	put_xml(pic->out, weight_text_of(weight, f->unit, f->thing, buf));
	if (!counted)
		fputs(", ", pic->out);
	if (!counted)
		put_xml(pic->out, weight_text_of(samples, "samples", f->noun, buf));
}

static void put_position(FILE *out, const char *attribute, uint64_t millionths)
{
	unsigned whole = (unsigned)(millionths / (SCALE / 100));
	unsigned part = (unsigned)(millionths % (SCALE / 100));

	if (part)
		fprintf(out, " %s=\"%u.%04u%%\"", attribute, whole, part);
	else
		fprintf(out, " %s=\"%u%%\"", attribute, whole);
}

/* ---- Heading ---- */

/* room_px is in letters of 12 px that are not bold. */
static void put_line(struct picture *pic, const char *class, const char *text, unsigned advance_px,
		     unsigned room_px)
{
	pic->y += advance_px;
	fprintf(pic->out, "<text class=\"%s\" x=\"%d\" y=\"%u\">", class, MARGIN_PX, pic->y);
	text_put_cut(pic->out, text, room_px);
	fputs("</text>\n", pic->out);
}

/* A warning is never cut: it takes as many lines as it needs. */
static void put_warning_text(struct picture *pic, const char *text)
{
	size_t len;

	for (; *text; text += len + strspn(text + len, " ")) {
		len = text_fit_words(text, BOLD_PX);
		pic->y += 17;
		fprintf(pic->out, "<text class=\"warn\" x=\"%d\" y=\"%u\">", MARGIN_PX, pic->y);
		escape_xml(pic->out, text, len);
		fputs("</text>\n", pic->out);
	}
}

/* A line of the heading, which is filled with facts. */
struct line {
	char text[1024];
	unsigned px;
};

static void line_flush(struct picture *pic, struct line *ln)
{
	if (ln->text[0])
		put_line(pic, "s", ln->text, 17, CHART_PX);
	ln->text[0] = 0;
	ln->px = 0;
}

static void __attribute__((format(printf, 3, 4)))
line_add(struct picture *pic, struct line *ln, const char *fmt, ...)
{
	char piece[512];
	unsigned px;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);

	px = text_px(piece) + 20;
	if (ln->px + px > CHART_PX || strlen(ln->text) + strlen(piece) + 8 > sizeof(ln->text))
		line_flush(pic, ln);
	if (ln->text[0])
		strcat(ln->text, "  \xc2\xb7  ");
	strcat(ln->text, piece);
	ln->px += px;
}

static void put_origin(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	const char *said[] = { f->shown, f->host, f->kernel };
	time_t at = (time_t)(f->begin_real_ns / 1000000000);
	struct line ln = { "", 0 };
	struct tm tm;
	char date[64];

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (*said[i])
			line_add(pic, &ln, "%s", said[i]);
	if (at && gmtime_r(&at, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		line_add(pic, &ln, "%s", date);
	if (*f->tool)
		line_add(pic, &ln, "%s", f->tool);
	if (*f->argv)
		line_add(pic, &ln, "%s", f->argv);
	line_flush(pic, &ln);
}

static void put_figures(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	struct line ln = { "", 0 };
	char a[WEIGHT_TEXT_MAX];

	if (f->duration_ns)
		line_add(pic, &ln, "%s", text_seconds(f->duration_ns, a));
	line_add(pic, &ln, "%s", f->amount);
	if (f->samples_total > f->samples)
		line_add(pic, &ln, "filtered from %s samples", count_text(f->samples_total, a));
	line_add(pic, &ln, "%s lost", count_text(f->lost, a));
	if (f->frames)
		line_add(pic, &ln, "%s of frames without a name",
			 text_percent(f->frames_unnamed, f->frames, a));
	if (pic->layout.hidden)
		line_add(pic, &ln, "(%s narrow frame%s hidden)",
			 count_text(pic->layout.hidden, a), pic->layout.hidden == 1 ? "" : "s");
	line_flush(pic, &ln);
}

/* The rest goes to a second line, which is cut. */
static void put_two_lines(struct picture *pic, const char *s)
{
	size_t len;

	for (unsigned lines = 1; *s && lines <= 2; lines++) {
		char line[1024];

		len = lines == 2 ? strlen(s) : text_fit_words(s, CHART_PX);
		snprintf(line, sizeof(line), "%.*s", (int)len, s);
		put_line(pic, lines == 1 ? "s" : "s more", line, 17, CHART_PX);
		s += len + strspn(s + len, " ");
	}
}

/*
 * The quality of the user stacks. The causes of those that are not whole may take a second line,
 * and a third one is cut.
 */
static void put_stacks(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s%s", f->stacks, *f->not_whole ? ". Not whole: " : "",
		 f->not_whole);
	put_two_lines(pic, text);
}

/* The receipts of the scans. */
static void put_scans(struct picture *pic)
{
	put_two_lines(pic, pic->facts->scans);
}

static void put_warning(struct picture *pic)
{
	const struct profile_facts *f = pic->facts;
	char text[128], n[WEIGHT_TEXT_MAX];

	if (*f->warning) {
		put_warning_text(pic, f->warning);
		return;
	}
	if (f->lost) {
		snprintf(text, sizeof(text), "%.30s sample%s lost: what was lost is missing here.",
			 count_text(f->lost, n), f->lost == 1 ? " was" : "s were");
		put_warning_text(pic, text);
	}
	if (f->incomplete)
		put_warning_text(pic, "The recording was cut short or is damaged.");
}

/* The title of the picture, which is never empty. */
static void make_title(const struct picture *pic, const struct render_opts *opts, char *buf,
		       size_t size)
{
	if (opts->title && *opts->title)
		snprintf(buf, size, "%s", opts->title);
	else if (*pic->facts->title)
		snprintf(buf, size, "%s", pic->facts->title);
	else
		snprintf(buf, size, "Flame graph");
}

static void put_heading(struct picture *pic, const char *title)
{
	fputs("<g id=\"head-text\">\n", pic->out);
	put_line(pic, "t", title, 28, TITLE_PX);
	pic->y += 3;
	put_origin(pic);
	put_figures(pic);
	put_stacks(pic);
	put_scans(pic);
	put_warning(pic);
	fputs("</g>\n", pic->out);
}

static void put_legend(struct picture *pic)
{
	bool used[FAMILIES] = { false }, guessed = false;
	unsigned x = MARGIN_PX;

	for (size_t i = 0; i < pic->layout.nr; i++) {
		const struct node *nd = &pic->prof->nodes[pic->layout.v[i].node];

		used[family_of(nd)] = true;
		guessed |= nd->flags & NODE_GUESSED;
	}
	pic->y += 22;
	fputs("<g id=\"legend\">\n", pic->out);
	for (unsigned i = 0; i < FAMILIES; i++) {
		if (!used[i])
			continue;
		fprintf(pic->out,
			"<rect class=\"%c4\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\"/>"
			"<text class=\"s\" x=\"%u\" y=\"%u\">%s</text>\n",
			families[i].letter, x, pic->y - 10, x + 17, pic->y, families[i].legend);
		x += 17 + text_px(families[i].legend) + 14;
	}
	if (guessed)
		fprintf(pic->out,
			"<text class=\"s guess\" x=\"%u\" y=\"%u\">slanted: guessed caller"
			"</text>\n",
			x, pic->y);
	fputs("</g>\n", pic->out);
}

static void put_asset(FILE *out, const char *start, const char *end)
{
	fputs("<![CDATA[\n", out);
	fwrite(start, 1, (size_t)(end - start), out);
	fputs("]]>", out);
}

/* ---- Boxes ---- */

static void put_origin_of(const struct picture *pic, const struct node *nd)
{
	FILE *out = pic->out;

	if (nd->binary && nd->binary != nd->file) {
		putc('\n', out);
		put_xml(out, profile_name(pic->prof, nd->binary));
	}
	if (nd->file) {
		putc('\n', out);
		put_xml(out, profile_name(pic->prof, nd->file));
		if (nd->line)
			fprintf(out, ":%u", nd->line);
	}
}

static void put_marks(FILE *out, const struct node *nd)
{
	const char *marks[3 + NODE_MAX_TIERS];
	size_t nr = 0;

	if (families[family_of(nd)].what)
		marks[nr++] = families[family_of(nd)].what;
	nr += node_tiers(nd, marks + nr);
	if (nd->flags & NODE_INLINED)
		marks[nr++] = "inlined";
	if (nd->flags & NODE_GUESSED)
		marks[nr++] = "guessed caller (no unwind table here)";
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? ", " : "\n", marks[i]);
}

static void put_title(const struct picture *pic, const struct node *nd, const char *name)
{
	FILE *out = pic->out;
	char buf[32];

	fputs("<title>", out);
	put_xml(out, name);
	putc('\n', out);
	put_weight(pic, nd->total, nd->total_samples);
	fprintf(out, ", %s", text_percent(nd->total, pic->layout.total, buf));
	if (nd->self) {
		fputs("; self ", out);
		put_weight(pic, nd->self, nd->self_samples);
		fprintf(out, ", %s", text_percent(nd->self, pic->layout.total, buf));
	}
	put_origin_of(pic, nd);
	put_marks(out, nd);
	fputs("</title>", out);
}

static void put_box(const struct picture *pic, const struct box *b)
{
	const struct node *nd = &pic->prof->nodes[b->node];
	const char *name = profile_name(pic->prof, nd->name);
	enum family family = family_of(nd);
	uint64_t left = layout_share(b->x, pic->layout.total, SCALE);
	uint64_t right = layout_share(b->x + nd->total, pic->layout.total, SCALE);
	unsigned y = 1 + ROW_PX * (pic->layout.rows - 1 - nd->depth);
	unsigned px = (unsigned)((right - left) * CHART_PX / SCALE);
	FILE *out = pic->out;

	fprintf(out, "<g class=\"f %c%u%s%s\" data-x=\"%llu\" data-w=\"%llu\" data-d=\"%u\"%s>",
		families[family].letter,
		(unsigned)(hash_bytes(0, name, strlen(name)) >> 8) % SHADES,
		px >= GAP_MIN_PX ? " w" : "", nd->flags & NODE_GUESSED ? " g" : "",
		(unsigned long long)b->x, (unsigned long long)nd->total, nd->depth,
		family == FAMILY_NO_CODE ? " data-k=\"s\"" : "");
	put_title(pic, nd, name);
	fputs("<rect", out);
	put_position(out, "x", left);
	put_position(out, "width", right - left);
	fprintf(out, " y=\"%u\" height=\"%d\"/>", y, ROW_PX - 1);
	if (px >= TEXT_MIN_PX + TEXT_ROOM_PX) {
		fputs("<text", out);
		put_position(out, "x", left);
		fprintf(out, " y=\"%u\" dx=\"3\">", y + 13);
		(family == FAMILY_NO_CODE ? text_put_cut : text_put_name)(out, name,
									  px - TEXT_ROOM_PX);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void put_chart(const struct picture *pic)
{
	fprintf(pic->out,
		"<svg id=\"chart\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%u\">\n<script>",
		MARGIN_PX, pic->y + 10, CHART_PX, pic->layout.rows * ROW_PX + 2);
	put_asset(pic->out, _binary_formats_render_assets_flame_js_start,
		  _binary_formats_render_assets_flame_js_end);
	fputs("</script>\n", pic->out);
	for (size_t i = 0; i < pic->layout.nr && !ferror(pic->out); i++)
		put_box(pic, &pic->layout.v[i]);
	fputs("</svg>\n", pic->out);
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
	put_line(pic, "t", text, 28, TITLE_PX);
}

/* ---- The file ---- */

static void put_opening(const struct picture *pic, const char *title, unsigned height)
{
	FILE *out = pic->out;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" role=\"img\" "
		"aria-labelledby=\"title desc\" data-rows=\"%u\">\n"
		"<title id=\"title\">",
		LAYOUT_WIDTH_PX, height, LAYOUT_WIDTH_PX, height, pic->layout.rows);
	put_xml(out, title);
	fputs("</title>\n<desc id=\"desc\">Flame graph: each box is a function, its width its "
	      "share of all that was measured, what it called stands above it."
	      "</desc>\n<style>", out);
	put_asset(out, _binary_formats_render_assets_flame_css_start,
		  _binary_formats_render_assets_flame_css_end);
	fputs("</style>\n<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n", out);
}

/*
 * The heading and the legend, or a note that nothing is shown; the number of their lines decides
 * the height.
 */
static int make_heading(struct picture *pic, const char *title, char **text, size_t *len)
{
	FILE *out = pic->out;
	FILE *mem = open_memstream(text, len);
	bool bad;

	if (!mem)
		return -errno;
	pic->out = mem;
	put_heading(pic, title);
	if (pic->layout.nr)
		put_legend(pic);
	else
		put_empty(pic);
	pic->out = out;
	bad = ferror(mem);	/* without memory fclose() may succeed, with *text NULL */
	return fclose(mem) || bad || !*text ? -ENOMEM : 0;
}

static int put_picture(struct picture *pic, const char *title)
{
	char *heading = NULL;
	size_t len = 0;
	unsigned height;
	int err = make_heading(pic, title, &heading, &len);

	if (err)
		goto out;
	height = pic->y + 10 + pic->layout.rows * ROW_PX + 2 + FOOT_PX;
	put_opening(pic, title, height);
	fwrite(heading, 1, len, pic->out);
	if (pic->layout.nr)
		put_chart(pic);
	fputs("</svg>\n", pic->out);
	err = !ferror(pic->out) ? 0 : errno ? -errno : -EIO;
out:
	free(heading);
	return err;
}

static int svg_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct picture pic = { .out = out, .prof = prof, .facts = &prof->facts };
	char title[512];
	int err = layout_init(&pic.layout, prof, opts->min_percent, LAYOUT_MAX_BOXES);

	if (err)
		return err;
	make_title(&pic, opts, title, sizeof(title));
	err = put_picture(&pic, title);
	layout_release(&pic.layout);
	return err;
}

static bool made(const char *head)
{
	return !strncmp(head, "<?xml ", 6) && strstr(head, "aria-labelledby=\"title desc\"");
}

const struct renderer renderer_svg = {
	.name = "svg",
	.suffixes = ".svg",
	.made = made,
	.help = "flame graph for a browser, in one file: zoom, search, keyboard",
	.is_picture = true,
	.render = svg_render,
};
