/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/weight_text.h"

#include <string.h>

#include "src/base/decimal.h"
#include "src/base/visible.h"
#include "src/report/event_name.h"

#define NAME_BYTES 41			/* of a unit or a name, with its NUL */

struct scale {
	uint64_t size;			/* of one of it, in the smallest unit */
	const char *name;
};

static const struct scale times[] = {
	{ 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" }, { 0, NULL },
};

static const struct scale sizes[] = {
	{ 1, "B" },	     { 1000, "kB" },	     { 1000000, "MB" },
	{ 1000000000, "GB" }, { 1000000000000, "TB" }, { 0, NULL },
};

static const struct scale counts[] = {
	{ 1, "" },	     { 1000, "k " },	     { 1000000, "M " },
	{ 1000000000, "G " }, { 1000000000000, "T " }, { 0, NULL },
};

const char *count_text(uint64_t n, char buf[WEIGHT_TEXT_MAX])
{
	char *p = buf + WEIGHT_TEXT_MAX - 1;

	*p = 0;
	for (int digits = 1;; digits++) {
		*--p = (char)('0' + n % 10);
		n /= 10;
		if (!n)
			return p;
		if (digits % 3 == 0)
			*--p = ',';
	}
}

static uint64_t rounded(uint64_t v, uint64_t size)
{
	return v / size + (v % size >= size - size / 2);
}

/* The scale in which a value has at most three digits before the point, or the largest. */
static const struct scale *fitting(const struct scale *s, uint64_t v)
{
	if (!v && s == times)
		return &times[3];	/* 0 is "0 s" */
	while (s[1].name && rounded(v, s->size) >= 1000)
		s++;
	return s;
}

/* Puts texts behind each other, cut to WEIGHT_TEXT_MAX. */
static const char *joined(char buf[WEIGHT_TEXT_MAX], const char *const texts[], size_t nr)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t len = strnlen(texts[i], WEIGHT_TEXT_MAX - 1 - n);

		memcpy(buf + n, texts[i], len);
		n += len;
	}
	buf[n] = 0;
	return buf;
}

/* "12.3" */
static const char *tenths_text(uint64_t tenths, char number[WEIGHT_TEXT_MAX])
{
	char *p = number + WEIGHT_TEXT_MAX - 1;

	*p = 0;
	p = decimal_padded(p, tenths, 1);
	*--p = '.';
	return decimal_before(p, tenths / 10);
}

static const char *scaled_text(const struct scale *scales, uint64_t v, const char *unit,
			       char buf[WEIGHT_TEXT_MAX])
{
	const struct scale *s = fitting(scales, v);
	uint64_t tenths = s->size >= 10 ? rounded(v, s->size / 10) : 0;
	char number[WEIGHT_TEXT_MAX], shown[NAME_BYTES];
	const char *texts[] = {
		v && s->size >= 10 && tenths < 1000 ? tenths_text(tenths, number)
						    : count_text(rounded(v, s->size), number),
		" ", s->name, shown,
	};

	visible_copy(shown, sizeof(shown), unit, strlen(unit));
	return joined(buf, texts, 4);
}

/* Length of the singular within a plural: "branches" 6, "page-faults" 10, "misses" 4. */
static size_t singular_len(const char *name)
{
	size_t len = strlen(name);

	if (strchr(name, ':'))		/* that of a probe is no plural */
		return len;
	if (len > 4 && (!strcmp(name + len - 4, "ches") || !strcmp(name + len - 4, "sses")))
		return len - 2;
	if (len > 1 && name[len - 1] == 's' && name[len - 2] != 's')
		return len - 1;
	return len;
}

static int is_plain_count(const char *unit)
{
	return !*unit || !strcmp(unit, "count") || !strcmp(unit, "samples");
}

const char *weight_text_of(uint64_t weight, const char *unit, const char *name,
			   char buf[WEIGHT_TEXT_MAX])
{
	char number[WEIGHT_TEXT_MAX], shown[NAME_BYTES], cut[NAME_BYTES];
	size_t len;

	if (!strcmp(unit, "ns"))
		return scaled_text(times, weight, "", buf);
	if (!strcmp(unit, "bytes"))
		return scaled_text(sizes, weight, "", buf);
	if (!is_plain_count(unit))
		return scaled_text(counts, weight, unit, buf);
	len = weight == 1 ? singular_len(name) : strlen(name);
	if (!len)
		return count_text(weight, buf);
	event_name_cut(name, len, NAME_BYTES - 1, cut);
	visible_copy(shown, sizeof(shown), cut, strlen(cut));
	return joined(buf, (const char *const[]){ count_text(weight, number), " ", shown }, 3);
}

const char *weight_text(uint64_t weight, const char *unit, char buf[WEIGHT_TEXT_MAX])
{
	return weight_text_of(weight, unit, "", buf);
}
