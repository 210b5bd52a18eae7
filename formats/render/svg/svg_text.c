/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/svg/svg_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/decimal.h"
#include "src/profile/display_name.h"
#include "formats/render/escape.h"
#include "formats/render/layout.h"
#include "src/profile/short_name.h"

const char *text_percent(uint64_t part, uint64_t whole, char buf[32])
{
	uint64_t v = (layout_share(part, whole, 100000) + 5) / 10;
	char *p = buf + 31;

	*p = 0;
	*--p = '%';
	p = decimal_padded(p, v, 2);
	*--p = '.';
	return decimal_before(p, v / 100);
}

const char *text_small_percent(uint64_t part, uint64_t whole, char buf[32])
{
	if (part && layout_share(part, whole, 10000) < 1)
		return "< 0.01%";
	return text_percent(part, whole, buf);
}

const char *text_seconds(uint64_t ns, char buf[32])
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "\xc2\xb5s" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t milli = ns / (units[i].ns / 1000);

		if (ns < units[i].ns)
			continue;
		snprintf(buf, 32, "%llu.%03llu %s", (unsigned long long)(milli / 1000),
			 (unsigned long long)(milli % 1000), units[i].name);
		return buf;
	}
	snprintf(buf, 32, "%llu ns", (unsigned long long)ns);
	return buf;
}

/* Width in tenths of a pixel of the character at s, at 12 px; *len is its length in bytes. */
static unsigned glyph_width(const char *s, size_t *len)
{
	unsigned char c = (unsigned char)*s;
	size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

	*len = 1;
	if (c < 0x20 || c == 0x7f || (c >= 0x80 && want == 1))
		return 320;			/* escape_xml() makes it \x1b */
	if (c >= 0x80) {
		while (*len < want && ((unsigned char)s[*len] & 0xc0) == 0x80)
			++*len;
		return *len < want ? 320 * (unsigned)*len : want == 2 ? 90 : 130;
	}
	if (strchr("mwMW@%", c))
		return 118;
	if (strchr("ijl.,:;|!'[]() tfrI", c))
		return 50;
	return c >= 'A' && c <= 'Z' ? 86 : 78;
}

unsigned text_px(const char *s)
{
	unsigned width = 0;
	size_t len;

	for (; *s; s += len)
		width += glyph_width(s, &len);
	return width / 10;
}

/* Whether s is not wider than room_px; a longer one is not measured to its end. */
static bool fits(const char *s, unsigned room_px)
{
	unsigned width = 0;
	size_t len;

	for (; *s && width / 10 <= room_px; s += len)
		width += glyph_width(s, &len);
	return width / 10 <= room_px;
}

size_t text_fit_words(const char *s, unsigned room_px)
{
	size_t len, at = 0, word_end = 0;
	unsigned width = 0;

	for (; s[at]; at += len) {
		if (s[at] == ' ')
			word_end = at;
		width += glyph_width(s + at, &len);
		if (at && width > room_px * 10)
			return word_end ? word_end : at;
	}
	return at;
}

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_WIDTH 120
#define MIDDLE_MIN_PX 100		/* in less room two halves of a name would say nothing */

/* The number of bytes at the beginning of s that are not wider than room, in tenths of a pixel. */
static size_t head_that_fits(const char *s, unsigned room)
{
	unsigned width = 0;
	size_t len, end = 0;

	for (; s[end]; end += len) {
		width += glyph_width(s + end, &len);
		if (width > room)
			break;
	}
	return end;
}

/* Where the longest end of s begins that is not wider than room. */
static size_t tail_that_fits(const char *s, unsigned room)
{
	size_t from = 0, len;
	unsigned width = 0;

	for (size_t at = 0; s[at]; at += len)
		width += glyph_width(s + at, &len);
	for (; s[from] && width > room; from += len)
		width -= glyph_width(s + from, &len);
	return from;
}

void text_put_cut(FILE *out, const char *s, unsigned room_px)
{
	size_t len = strlen(s);

	if (!fits(s, room_px))
		len = room_px * 10 < ELLIPSIS_WIDTH
			      ? 0 : head_that_fits(s, room_px * 10 - ELLIPSIS_WIDTH);
	escape_xml(out, s, len);
	fputs(len && s[len] ? ELLIPSIS : "", out);
}

void text_put_middle_cut(FILE *out, const char *s, unsigned room_px)
{
	unsigned room = room_px * 10 - ELLIPSIS_WIDTH;
	size_t from;

	if (room_px < MIDDLE_MIN_PX || fits(s, room_px)) {
		text_put_cut(out, s, room_px);
		return;
	}
	from = tail_that_fits(s, room / 2);
	escape_xml(out, s, head_that_fits(s, room - room / 2));
	fputs(ELLIPSIS, out);
	escape_xml(out, s + from, strlen(s + from));
}

void text_put_name(FILE *out, const char *s, unsigned room_px)
{
	size_t len = strlen(s);
	const char *form = s;
	char *shorter = NULL;

	if (!fits(s, room_px))
		shorter = malloc(len + 1);
	for (unsigned i = 0; shorter && i < SHORT_FORMS_ALL && !fits(form, room_px); i++) {
		shorter[short_name(shorter, s, len, i)] = 0;
		form = shorter;
	}
	text_put_middle_cut(out, form, room_px);
	free(shorter);
}

char *text_shown_name(const char *s)
{
	size_t len = strlen(s);
	char *shown = malloc(len + 1);

	if (shown)
		shown[display_name(shown, s, len)] = 0;
	return shown;
}
