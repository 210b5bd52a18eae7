/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/svg/svg_parts.h"
#include "src/base/plural.h"
#include "src/profile/profile_delta.h"

static const enum family family_of_verdict[] = {
	[DELTA_FEW] = FAMILY_FEW, [DELTA_SAME] = FAMILY_SAME,
	[DELTA_MORE] = FAMILY_MORE, [DELTA_LESS] = FAMILY_LESS,
};

static const char *const words_of_verdict[] = {
	[DELTA_FEW] = "too few samples to tell", [DELTA_SAME] = "no difference beyond chance",
	[DELTA_MORE] = "more than before", [DELTA_LESS] = "less than before",
};

static bool differs(const struct delta *d)
{
	return d->verdict == DELTA_MORE || d->verdict == DELTA_LESS;
}

enum family svg_delta_family(const struct picture *pic, uint32_t node)
{
	return family_of_verdict[pic->prof->deltas->nodes[node].total.verdict];
}

unsigned svg_delta_shade(const struct picture *pic, uint32_t node)
{
	return pic->prof->deltas->nodes[node].total.shade;
}

static void put_weight(const struct picture *pic, const char *before, uint64_t weight)
{
	char buf[WEIGHT_TEXT_MAX];
	const char *text = delta_weight_text(pic->prof, weight, buf);
	const char *unit = delta_unit_text(pic->prof);

	fputs(before, pic->out);
	escape_xml(pic->out, text, strlen(text));
	fputs(*unit ? " " : "", pic->out);
	escape_xml(pic->out, unit, strlen(unit));
}

void svg_put_delta(const struct picture *pic, uint32_t node)
{
	const struct node_delta *n = &pic->prof->deltas->nodes[node];
	const struct delta *d = &n->total;
	char change[WEIGHT_TEXT_MAX + 1], relative[WEIGHT_TEXT_MAX];
	const char *text = delta_change_text(pic->prof, d, change);

	put_weight(pic, "before ", d->before);
	put_weight(pic, ", after ", d->after);
	fputs(": ", pic->out);
	escape_xml(pic->out, text, strlen(text));
	if (d->verdict != DELTA_FEW)
		put_weight(pic, " \xc2\xb1 ", d->error);
	if (differs(d))
		fprintf(pic->out, ", %s", delta_relative_text(d, relative));
	fprintf(pic->out, "\n%s", words_of_verdict[d->verdict]);
	if (!n->before_self && !n->after_self)
		return;
	put_weight(pic, "; self before ", n->before_self);
	put_weight(pic, ", after ", n->after_self);
}

void svg_delta_result(const struct picture *pic, char *buf, size_t size)
{
	const struct profile_delta *d = pic->prof->deltas;

	if (!d->tested)
		snprintf(buf, size, "too few samples to compare");
	else
		snprintf(buf, size, "%s%zu of %zu %s in the tree differ by more than chance",
			 d->differing ? "" : "no significant difference: ", d->differing, d->tested,
			 plural(d->tested, "place", "places"));
}
