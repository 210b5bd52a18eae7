/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/info_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "formats/render/escape.h"
#include "src/base/plural.h"
#include "src/report/name_health.h"
#include "src/report/report.h"
#include "src/report/report_text.h"

#define TOP 10
#define INDENT 21		/* columns in front of what helps */

static void put_share(const struct name_count *n, const struct name_health *h, const char *what)
{
	char share[SHARE_MAX];

	printf("%s %s", report_share_text(n->times, h->all.times, share), what);
}

void info_put_name_shares(const struct report *rep)
{
	const struct name_health *h = report_names(rep);

	if (!h->all.times)
		return;
	printf("%-9s frames as often as sampled: ", "names");
	put_share(&h->named, h, "named, ");
	put_share(&h->with_lines, h, "with source lines, ");
	put_share(&h->in_file, h, "file and offset, ");
	put_share(&h->unknown, h, "neither\n");
}

static void put_row(const struct name_health *h, const struct name_row *row, bool is_first)
{
	char share[SHARE_MAX];
	size_t len;
	const char *path = name_health_path(h, row, &len);

	printf("%10" PRIu64 "  of %-8" PRIu64 " %10" PRIu64 "  %7s  %-10s ", row->n.frames,
	       row->all, row->n.times, report_share_text(row->n.times, h->all.times, share),
	       name_cause_name(row->cause));
	escape_text(stdout, path, len);
	putchar('\n');
	if (is_first && *name_cause_remedy(row->cause))
		printf("%*s%s. Try: %s\n", INDENT, "", name_cause_text(row->cause),
		       name_cause_remedy(row->cause));
	else if (is_first)
		printf("%*s%s\n", INDENT, "", name_cause_text(row->cause));
}

void info_put_nameless(const struct report *rep)
{
	const struct name_health *h = report_names(rep);
	bool said[NAME_CAUSES] = { false };

	if (h->nr_rows)
		puts("\nframes without a name, by binary and cause\n"
		     "    frames  of binary    sampled    share  cause      binary");
	for (size_t i = 0; i < h->nr_rows && i < TOP; i++) {
		put_row(h, &h->rows[i], !said[h->rows[i].cause]);
		said[h->rows[i].cause] = true;
	}
	if (h->nr_rows > TOP)
		printf("            ... and %zu more %s\n", h->nr_rows - TOP,
		       plural(h->nr_rows - TOP, "row", "rows"));
}
