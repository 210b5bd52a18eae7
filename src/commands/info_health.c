/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/info_health.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/escape.h"
#include "src/base/plural.h"
#include "src/model/definition_store.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/stack_cause.h"
#include "src/report/stack_health.h"

#define TOP 10
#define INDENT 21		/* columns that a count and a share take */

static void put_row_start(uint64_t count, uint64_t all)
{
	char share[SHARE_MAX];

	printf("%10" PRIu64 "  %7s  ", count, report_share_text(count, all, share));
}

static void put_path(const struct stack_health *h, const struct health_row *row)
{
	size_t len;
	const char *path = stack_health_path(h, row, &len);

	escape_text(stdout, path, len);
	if (row->has_addr)
		printf(" at 0x%" PRIx64, row->addr);
}

static bool is_file(const struct stack_health *h, const struct health_row *row)
{
	return stack_health_path(h, row, NULL)[0] == '/';
}

/* Prints a word of a command to paste, in single quotes if the shell needs them. */
static void put_word(const char *s, size_t len)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
	bool quote = strspn(s, harmless) != len;

	for (size_t i = 0; quote && i < len; i++) {
		if (s[i] == '\'') {
			escape_text(stdout, s, len);	/* this cannot be pasted */
			return;
		}
	}
	fputs(quote ? "'" : "", stdout);
	escape_text(stdout, s, len);
	fputs(quote ? "'" : "", stdout);
}

static void put_remedy(const struct stack_health *h, const struct health_row *row,
		       const char *remedy)
{
	bool has_rule = row->has_addr && stack_cause_has_rule(row->end) && is_file(h, row);
	size_t len;
	const char *path = stack_health_path(h, row, &len);

	if (!*remedy && !has_rule)
		return;
	printf("%*sTry: ", INDENT, "");
	if (*remedy)
		printf("%s%s", remedy, has_rule ? "; look at " : "");
	if (has_rule) {
		fputs("probee unwind-info ", stdout);
		put_word(path, len);
		printf(" 0x%" PRIx64, row->addr);
	}
	putchar('\n');
}

/* Whether row i is the last to be shown; prints how many more there are. */
static bool is_last(size_t i, size_t nr)
{
	if (i + 1 == TOP && nr > TOP)
		printf("            ... and %zu more %s\n", nr - TOP,
		       plural(nr - TOP, "row", "rows"));
	return i + 1 == TOP;
}

static void put_broken(const struct stack_health *h)
{
	if (h->nr_broken)
		puts("\nuser stacks that are not whole, by cause and by the binary that unwinding "
		     "ended in");
	for (size_t i = 0; i < h->nr_broken; i++) {
		const struct health_row *row = &h->broken[i];

		put_row_start(row->samples, h->all.stacks);
		printf("%-10s  ", stack_end_name(row->end));
		put_path(h, row);
		printf("%s%s\n", *stack_health_path(h, row, NULL) ? ": " : "",
		       stack_cause_text(row->end));
		put_remedy(h, row, stack_cause_remedy(row->end));
		if (is_last(i, h->nr_broken))
			break;
	}
}

/* The remedies differ: a file can be built in another way, code made at run time cannot. */
static void put_guess_remedies(const struct stack_health *h)
{
	bool files = false, others = false;

	for (size_t i = 0; i < h->nr_guesses; i++) {
		if (is_file(h, &h->guesses[i]))
			files = true;
		else
			others = true;
	}
	if (files)
		printf("%*sTry: %s\n", INDENT, "", stack_cause_remedy(END_NO_FDE));
	if (others)
		printf("%*sTry: %s\n", INDENT, "", stack_cause_remedy(END_JIT));
}

static void put_guesses(const struct stack_health *h)
{
	char share[SHARE_MAX];

	if (!h->nr_guesses)
		return;
	printf("\nuser stacks with a guessed frame (%" PRIu64
	       ", %s), by the binary without unwind information whose "
	       "caller was guessed\n",
	       h->guessed, report_share_text(h->guessed, h->all.stacks, share));
	for (size_t i = 0; i < h->nr_guesses; i++) {
		const struct health_row *row = &h->guesses[i];

		put_row_start(row->samples, h->all.stacks);
		printf("%10" PRIu64 " %-6s  ", row->frames, plural(row->frames, "frame", "frames"));
		put_path(h, row);
		putchar('\n');
		if (is_last(i, h->nr_guesses))
			break;
	}
	put_guess_remedies(h);
}

static void put_process_name(const struct report *rep, const struct health_process *p)
{
	const struct definition_store *t = report_tables(rep, p->segment);
	const struct rec_process *rec = definition_store_find_process(t, p->process);
	const char *comm;
	size_t len;

	if (!rec) {
		fputs("(not known)", stdout);
		return;
	}
	comm = definition_store_string(t, rec->comm, &len);
	escape_text(stdout, comm, len);
	printf(" (%" PRIu32 ")", rec->tgid);
}

static void put_processes(const struct report *rep, const struct stack_health *h)
{
	char whole[SHARE_MAX], guessed[SHARE_MAX];

	if (h->nr_processes)
		puts("\nprocesses with user stacks that are not whole\n"
		     " not whole   of stacks     whole  guessed  process");
	for (size_t i = 0; i < h->nr_processes; i++) {
		const struct tally_process *n = &h->processes[i].n;

		printf("%10" PRIu64 "  %10" PRIu64 "  %8s %8s  ", n->stacks - n->whole, n->stacks,
		       report_share_text(n->whole, n->stacks, whole),
		       report_share_text(n->whole_guessed, n->stacks, guessed));
		put_process_name(rep, &h->processes[i]);
		putchar('\n');
		if (is_last(i, h->nr_processes))
			break;
	}
}

static void put_frames(const struct health_frames *f)
{
	uint64_t all = f->exact + f->return_address + f->guessed;

	if (!all)
		return;
	puts("\nframes of user stacks, each as often as it was sampled");
	put_row_start(f->exact, all);
	puts("exact: where the thread was, or was interrupted by a signal");
	put_row_start(f->return_address, all);
	puts("return addresses found by unwind rules");
	put_row_start(f->guessed, all);
	puts("return addresses that were guessed");
}

void info_put_health(const struct report *rep)
{
	const struct stack_health *h = report_health(rep);

	put_broken(h);
	put_guesses(h);
	put_processes(rep, h);
	put_frames(&h->frames);
}
