#include "src/info_sections.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/svg_text.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/model/tables.h"
#include "src/profile/report.h"

#define KEY_COLUMNS 11
#define LINE_COLUMNS 100
#define ROWS_MAX 20

static void put_text(const char *s)
{
	escape_text(stdout, s, strlen(s));
}

void info_line(const char *key, const char *fmt, ...)
{
	char value[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	if (!*value)
		return;
	printf("%-*s ", KEY_COLUMNS, key);
	put_text(value);
	putchar('\n');
}

/* The digits of v, grouped, as an argument of one printf(). */
#define count(v) text_count(v, (char[32]){ 0 })

static void put_share(uint64_t part, uint64_t whole)
{
	char buf[32];

	printf("%14s %8s  ", count(part), text_percent(part, whole, buf));
}

/* Words of our own, so every byte is a column. */
static void put_wrapped(const char *s, unsigned indent)
{
	unsigned column = indent;

	while (*s) {
		unsigned n = (unsigned)strcspn(s, " ");

		if (column > indent && column + 1 + n > LINE_COLUMNS) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		}
		column += (unsigned)printf("%s%.*s", column > indent ? " " : "", (int)n, s);
		s += n;
		s += strspn(s, " ");
	}
	putchar('\n');
}

void info_losses(const struct report *rep)
{
	const struct report_info *info = report_info(rep);

	if (!info->lost_all)
		return;
	printf("\nLost\n");
	for (unsigned i = 0; i <= LOSS_CAUSES; i++) {
		if (info->lost[i])
			printf("%14s  %s%s\n", count(info->lost[i]),
			       i < LOSS_CAUSES ? loss_cause_name(i) : "for causes unknown to this version",
			       i < LOSS_CAUSES && loss_is_samples(i) ? " (samples)" : "");
	}
}

void info_walks(const struct report *rep)
{
	const struct report_walks *w = &report_info(rep)->walks;
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ w->tasks_seen, "tasks seen" },
		{ w->rows, "rows" },
		{ w->skipped_idle_kthreads, "idle kernel threads left out" },
		{ w->filtered, "of others, left out" },
		{ w->on_cpu, "running: no user stack" },
		{ w->torn, "ran while they were read: no user stack" },
		{ w->vanished, "vanished meanwhile" },
		{ w->read_faults, "stack reads that failed" },
	};
	char mean[32], longest[32];

	if (!w->count)
		return;
	printf("\nWalks over all tasks: %s, mean %s, longest %s\n", count(w->count),
	       text_seconds(w->duration_ns / w->count, mean), text_seconds(w->longest_ns, longest));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].n)
			printf("%14s  %s\n", count(rows[i].n), rows[i].what);
}

/* The most frequent first. */
static void order_ends(const uint64_t *counts, unsigned order[STACK_ENDS + 1])
{
	for (unsigned i = 0; i <= STACK_ENDS; i++) {
		unsigned at = i;

		for (; at && counts[order[at - 1]] < counts[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

void info_ends(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	unsigned order[STACK_ENDS + 1];

	if (!info->samples)
		return;
	order_ends(info->ends, order);
	printf("\nEnds of user stacks\n");
	for (unsigned i = 0; i <= STACK_ENDS; i++) {
		unsigned end = order[i];

		if (!info->ends[end])
			continue;
		put_share(info->ends[end], info->samples);
		printf("%-11s ", stack_end_name(end));
		put_wrapped(stack_end_help(end), 37);
	}
}

static const char *binary_path(const struct report *rep, uint32_t segment, uint32_t id)
{
	const struct tables *t = report_tables(rep, segment);
	const struct rec_binary *b = t ? tables_find_binary(t, id) : NULL;

	if (!id)
		return "(in no binary)";
	return b ? tables_string(t, b->path, NULL) : "[missing]";
}

static int by_count(const void *va, const void *vb, void *rep)
{
	const struct report_end_place *a = va, *b = vb;
	int order;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	order = strcmp(binary_path(rep, a->segment, a->binary), binary_path(rep, b->segment, b->binary));
	return order ? order : a->end - b->end;
}

int info_end_places(const struct report *rep)
{
	size_t nr;
	const struct report_end_place *places = report_end_places(rep, &nr);
	struct report_end_place *v;

	if (!nr)
		return 0;
	v = malloc(nr * sizeof(*v));
	if (!v)
		return fail(-ENOMEM, "list of binaries");
	memcpy(v, places, nr * sizeof(*v));
	qsort_r(v, nr, sizeof(*v), by_count, (void *)rep);
	printf("\nStacks that are not whole, by the file they ended in\n");
	for (size_t i = 0; i < nr && i < ROWS_MAX; i++) {
		put_share(v[i].count, report_info(rep)->samples);
		printf("%-11s ", stack_end_name(v[i].end));
		put_text(binary_path(rep, v[i].segment, v[i].binary));
		putchar('\n');
	}
	if (nr > ROWS_MAX)
		printf("%25s... and %s more\n", "", count(nr - ROWS_MAX));
	free(v);
	return 0;
}

/* ---- Names ---- */

struct naming {
	uint32_t segment, binary;
	uint32_t frames, unnamed;
	uint32_t why[SYMBOL_STATUSES + 1];	/* of the unnamed, by status; the last: nobody looked */
};

struct namings {
	struct naming *v;
	size_t nr, cap;
};

/* Counts the frames of a segment; the namings of its binaries start at l->v[first + id]. */
static int count_names(const struct report *rep, uint32_t segment, struct namings *l)
{
	const struct tables *t = report_tables(rep, segment);
	uint32_t nr_binaries = tables_id_end(t, REC_BINARY), end = tables_id_end(t, REC_FRAME);
	size_t first = l->nr, nr = nr_binaries ? nr_binaries : 1;

	if (array_reserve(&l->v, &l->cap, first + nr))
		return fail(-ENOMEM, "list of binaries");
	memset(l->v + first, 0, nr * sizeof(*l->v));
	l->nr += nr;
	for (uint32_t i = 0; i < nr; i++) {
		l->v[first + i].segment = segment;
		l->v[first + i].binary = i;
	}
	for (uint32_t id = 1; id < end; id++) {
		const struct rec_frame *f = tables_find_frame(t, id);
		const struct table_symbol *s = tables_find_symbol(t, id);
		struct naming *n;

		if (!f)
			continue;
		n = &l->v[first + (f->binary < nr ? f->binary : 0)];
		n->frames++;
		if (s && s->nr_lines)
			continue;
		n->unnamed++;
		n->why[s && s->status < SYMBOL_STATUSES ? s->status : SYMBOL_STATUSES]++;
	}
	return 0;
}

static int by_unnamed(const void *va, const void *vb, void *rep)
{
	const struct naming *a = va, *b = vb;

	if (a->unnamed != b->unnamed)
		return a->unnamed > b->unnamed ? -1 : 1;
	return strcmp(binary_path(rep, a->segment, a->binary), binary_path(rep, b->segment, b->binary));
}

static void put_naming(const struct report *rep, const struct naming *n)
{
	const char *sep = "";

	printf("%14s", count(n->unnamed));
	printf(" of %-7s ", count(n->frames));
	put_text(binary_path(rep, n->segment, n->binary));
	printf(" (");
	for (unsigned i = 0; i <= SYMBOL_STATUSES; i++) {
		if (!n->why[i])
			continue;
		printf("%s%s", sep, i < SYMBOL_STATUSES ? symbol_status_name(i) : "not looked up");
		sep = ", ";
	}
	printf(")\n");
}

int info_names(const struct report *rep)
{
	uint32_t nr_segments = report_info(rep)->nr_segments;
	struct namings l = { 0 };
	size_t shown = 0, more = 0;
	int err = 0;

	for (uint32_t i = 0; i < nr_segments && !err && report_tables(rep, i); i++)
		err = count_names(rep, i, &l);
	if (!err && l.nr)
		qsort_r(l.v, l.nr, sizeof(*l.v), by_unnamed, (void *)rep);
	for (size_t i = 0; i < l.nr && l.v[i].unnamed && !err; i++) {
		if (shown == ROWS_MAX) {
			more++;
			continue;
		}
		if (!shown++)
			printf("\nAddresses without a name, by file\n");
		put_naming(rep, &l.v[i]);
	}
	if (more)
		printf("%25s... and %s more\n", "", count(more));
	free(l.v);
	return err;
}

/* ---- The rest ---- */

void info_notes(const struct report *rep)
{
	static const char *const severities[] = { "note", "warning", "error" };
	size_t nr;
	const struct report_note *notes = report_notes(rep, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!i)
			printf("\nMessages of the recording\n");
		printf("  %-8s ", severities[notes[i].severity < 3 ? notes[i].severity : 2]);
		escape_text(stdout, notes[i].text, notes[i].len);
		putchar('\n');
	}
}

void info_sizes(const struct report *rep)
{
	const struct trace_status *st = &report_info(rep)->status;
	uint64_t all = 0;

	for (unsigned i = 0; i < 32; i++)
		all += st->record_bytes[i];
	printf("\nSizes: %s bytes in %s chunks", count(st->file_bytes), count(st->chunks));
	printf(", %s uncompressed\n", count(st->raw_bytes));
	for (unsigned i = 0; i < 32; i++) {
		if (!st->record_count[i])
			continue;
		put_share(st->record_bytes[i], all);
		printf("%-9s %14s records\n", record_name((enum record_tag)i), count(st->record_count[i]));
	}
}
