/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/render/base64.h"
#include "formats/render/escape.h"
#include "formats/render/sha256.h"

#define LEVEL 2				/* of zlib: 6 is 4 times as slow, for a tenth of the size */

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

static void put_policy(struct page_frame *f)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; script-src ", f->out);
	put_hash(f->out, f->script.v, f->script.nr);
	fputs("; style-src ", f->out);
	put_hash(f->out, style.start, (size_t)(style.end - style.start));
	fputs("\">\n", f->out);
}

void page_frame_text(struct page_frame *f, const char *s)
{
	escape_xml(f->out, s, strlen(s));
}

int page_frame_begin(struct page_frame *f, FILE *out, const char *title)
{
	*f = (struct page_frame){ .out = out };
	join_scripts(&f->script);
	if (f->script.bad)
		return -ENOMEM;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	put_policy(f);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"probee\">\n<title>", out);
	page_frame_text(f, title);
	fputs("</title>\n<style>", out);
	fwrite(style.start, 1, (size_t)(style.end - style.start), out);
	fputs("</style>\n</head>\n", out);
	return 0;
}

void page_frame_fact(struct page_frame *f, const char *what, const char *fact)
{
	if (!*fact)
		return;
	fprintf(f->out, "<dt>%s</dt><dd>", what);
	page_frame_text(f, fact);
	fputs("</dd>\n", f->out);
}

void page_frame_warning(struct page_frame *f, const char *text)
{
	if (!text || !*text)
		return;
	fputs("<p class=\"warn\">", f->out);
	page_frame_text(f, text);
	fputs("</p>\n", f->out);
}

static int deflate_bytes(const struct byte_buf *in, struct byte_buf *out)
{
	uLongf len = compressBound(in->nr);
	uint8_t *room = bb_room(out, len);

	if (!room || compress2(room, &len, in->v, in->nr, LEVEL) != Z_OK)
		return -ENOMEM;
	out->nr += len;
	return 0;
}

static int put_data(struct page_frame *f, const struct byte_buf *data)
{
	struct byte_buf packed = { 0 };
	int err = deflate_bytes(data, &packed);

	if (!err) {
		fputs("<script type=\"application/octet-stream\" id=\"data\">", f->out);
		base64_put(f->out, packed.v, packed.nr);
		fputs("</script>\n", f->out);
	}
	bb_release(&packed);
	return err;
}

int page_frame_end(struct page_frame *f, const struct byte_buf *data)
{
	int err = put_data(f, data);

	fputs("<script>", f->out);
	fwrite(f->script.v, 1, f->script.nr, f->out);
	fputs("</script>\n</body>\n</html>\n", f->out);
	return err ? err : ferror(f->out) ? -errno : 0;
}

void page_frame_release(struct page_frame *f)
{
	bb_release(&f->script);
}

bool page_frame_made(const char *head)
{
	return strstr(head, "<meta name=\"generator\" content=\"probee\">");
}
