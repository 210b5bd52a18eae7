/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_pack.h"
#include "src/base/base64.h"
#include "src/base/sha256.h"

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

void page_frame_policy(const struct page_frame *f, FILE *out)
{
	fputs("default-src 'none'; base-uri 'none'; form-action 'none'; script-src ", out);
	put_hash(out, f->script.v, f->script.nr);
	fputs("; style-src ", out);
	put_hash(out, style.start, (size_t)(style.end - style.start));
	if (f->is_live)
		fputs("; connect-src 'self'", out);
}

static void put_policy(const struct page_frame *f)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"", f->out);
	page_frame_policy(f, f->out);
	fputs("\">\n", f->out);
}

int page_frame_init(struct page_frame *f, FILE *out, bool is_live)
{
	*f = (struct page_frame){ .out = out, .is_live = is_live };
	join_scripts(&f->script);
	return f->script.bad ? -ENOMEM : 0;
}

void page_frame_text(struct page_frame *f, const char *s)
{
	escape_xml(f->out, s, strlen(s));
}

int page_frame_begin(struct page_frame *f, FILE *out, const char *title)
{
	int err = page_frame_init(f, out, false);

	if (!err)
		page_frame_head(f, title);
	return err;
}

void page_frame_head(struct page_frame *f, const char *title)
{
	FILE *out = f->out;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	put_policy(f);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"probee\">\n<title>", out);
	page_frame_text(f, title);
	fputs("</title>\n<style>", out);
	fwrite(style.start, 1, (size_t)(style.end - style.start), out);
	fputs("</style>\n</head>\n", out);
}

void page_frame_fact(struct page_frame *f, const char *what, const char *fact)
{
	if (!*fact)
		return;
	fprintf(f->out, "<dt>%s</dt><dd>", what);
	page_frame_text(f, fact);
	fputs("</dd>\n", f->out);
}

void page_frame_loss(struct page_frame *f, const char *text)
{
	if (!text || !*text)
		return;
	fputs("<p class=\"warn\">Losses: ", f->out);
	page_frame_text(f, text);
	fputs("</p>\n", f->out);
}

static void put_piece(void *out, const void *data, size_t len)
{
	base64_put(out, data, len);
}

struct page_pack *page_frame_data(struct page_frame *f)
{
	f->data = page_pack_new(put_piece, f->out);
	fputs("<script type=\"application/octet-stream\" id=\"data\">", f->out);
	return f->data;
}

int page_frame_end(struct page_frame *f)
{
	int err = f->data ? page_pack_end(f->data) : 0;

	if (f->data)
		fputs("</script>\n", f->out);
	fputs("<script>", f->out);
	fwrite(f->script.v, 1, f->script.nr, f->out);
	fputs("</script>\n</body>\n</html>\n", f->out);
	return err ? err : ferror(f->out) ? -errno : 0;
}

void page_frame_release(struct page_frame *f)
{
	page_pack_free(f->data);
	bb_release(&f->script);
}

bool page_frame_made(const char *head)
{
	return strstr(head, "<meta name=\"generator\" content=\"probee\">");
}
