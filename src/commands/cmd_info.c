/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "formats/render/escape.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/info_commands.h"
#include "src/commands/info_flight.h"
#include "src/commands/info_health.h"
#include "src/commands/info_json.h"
#include "src/commands/info_names.h"
#include "src/commands/pager.h"
#include "src/commands/shut_in.h"
#include "src/model/definition_store.h"
#include "src/report/cpu_check.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/stack_cause.h"
#include "src/report/trace_events.h"
#include "src/report/weight_text.h"

struct info_args {
	struct query query;
	bool sizes, json, strict, no_pager;
};

static void put_foreign(const char *what, const char *s, size_t len)
{
	if (!s || !len)
		return;
	printf("%-9s ", what);
	escape_text(stdout, s, len);
	putchar('\n');
}

static void put_meta(const char *what, const struct report *rep, const char *key)
{
	size_t len;
	const char *value = report_meta(rep, key, &len);

	put_foreign(what, value, len);
}

static __attribute__((format(printf, 2, 3))) void put_line(const char *what, const char *fmt, ...)
{
	va_list ap;

	printf("%-9s ", what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_when(const struct report_info *info)
{
	time_t begin = (time_t)(info->begin_real_ns / NSEC_PER_SEC);
	struct tm tm = { 0 };
	char date[64];

	if (!info->begin_real_ns)
		return;
	localtime_r(&begin, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm);
	put_line("when", "%s, for %.3f s", date, (double)info->duration_ns / 1e9);
}

static void put_machine(const struct report *rep)
{
	static const char *const keys[] = { "kernel.release", "kernel.version", "arch",
					    "cpus.online", "cpu.model" };
	const char *sep = "";

	put_meta("host", rep, "host");
	if (!report_meta(rep, keys[0], NULL))
		return;
	printf("%-9s ", "kernel");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len;
		const char *value = report_meta(rep, keys[i], &len);

		if (!value)
			continue;
		printf("%s%s", sep, !strcmp(keys[i], "cpus.online") ? "CPUs " : "");
		escape_text(stdout, value, len);
		sep = ", ";
	}
	putchar('\n');
}

static void put_ended(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	int status = info->end.target_status;

	if (info->nr_segments > 1)
		put_line("parts", "%u recordings in one file, %u of them finished",
			 info->nr_segments, info->nr_ended);
	if (!info->nr_ended) {
		put_line("ended", "not properly: what was written until then is here");
		return;
	}
	if (info->end.reason == ENDED_CONTINUED) {
		put_line("ended", "here, with a part of a recording that goes on in another file");
		return;
	}
	printf("%-9s by %s", "ended", end_reason_name(info->end.reason));
	if (status != -1 && WIFEXITED(status))
		printf(", the command's exit code was %d", WEXITSTATUS(status));
	else if (status != -1 && WIFSIGNALED(status))
		printf(", the command was killed by signal %d", WTERMSIG(status));
	printf("; probee itself used %.3f s of CPU time\n", (double)info->end.cpu_time_ns / 1e9);
}

static void put_tasks(const struct report *rep)
{
	static const struct {
		enum record_tag tag;
		const char *one, *many;
	} rows[] = {
		{ REC_PROCESS, "process", "processes" }, { REC_THREAD, "thread", "threads" },
		{ REC_BINARY, "binary", "binaries" },
	};
	const struct definition_store *t;

	printf("%-9s ", "tasks");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t n = 0;

		for (uint32_t at = 0; (t = report_tables(rep, at)); at++)
			n += tables_count(t, rows[i].tag);
		printf("%s%" PRIu64 " %s", i ? ", " : "", n, plural(n, rows[i].one, rows[i].many));
	}
	putchar('\n');
}

static void put_facts(const struct report *rep)
{
	const struct report_info *info = report_info(rep);

	put_foreign("file", report_path(rep), strlen(report_path(rep)));
	put_line("size", "%" PRIu64 " bytes (%" PRIu64 " unpacked), %.1f bytes a sample",
		 info->status.file_bytes, info->status.raw_bytes,
		 info->samples ? (double)info->status.file_bytes / (double)info->samples : 0);
	put_meta("tool", rep, "tool");
	put_machine(rep);
	put_when(info);
	put_meta("command", rep, "argv");
	put_meta("mode", rep, "mode");
	put_meta("unwind", rep, "unwind");
	put_meta("symbols", rep, "symbolize");
	put_ended(rep);
	info_put_flight(rep);
	put_tasks(rep);
}

/* The sum of the receipts of snapshots, and who could not be seen from here. */
static void put_scans(const struct report *rep)
{
	char text[768];

	report_scan_sums_text(&report_info(rep)->scans, text, sizeof(text));
	if (*text)
		put_line("snapshots", "%s", text);
	report_outside_text(report_meta(rep, "pid_namespace.outside", NULL), text, sizeof(text));
	if (*text)
		put_line("seen", "%s", text);
}

/* How busy the CPUs were, measured in up to three ways that should agree. */
static void put_cpu_share(const struct report *rep)
{
	char text[256];

	cpu_check_text(report_cpus(rep), text, sizeof(text));
	if (*text)
		put_line("cpus", "busy for %s of their time", text);
	cpu_check_warning(report_cpus(rep), text, sizeof(text));
	if (*text)
		put_line("", "warning: %s", text);
}

static void put_samples(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	char stacks[256];

	put_line("samples", "%" PRIu64, info->samples);
	put_scans(rep);
	put_cpu_share(rep);
	report_stacks_text(report_health(rep), stacks, sizeof(stacks));
	put_line("stacks", "%s", stacks);
	if (info->kernel_truncated)
		put_line("", "%" PRIu64 " kernel %s cut", info->kernel_truncated,
			 plural(info->kernel_truncated, "stack", "stacks"));
	put_line("frames", "%" PRIu64 ", %" PRIu64 " of them without a name (%.1f %%)",
		 info->frames, info->frames_unnamed, percent(info->frames_unnamed, info->frames));
	info_put_name_shares(rep);
}

static void put_damage(const struct report_info *info)
{
	const struct trace_status *st = &info->status;

	if (st->refused_bytes)
		printf("  %" PRIu64 " of the file's %" PRIu64 " bytes were not read, because they "
		       "stand for more than a recording\n  of that size holds. Try: --no-limits\n",
		       st->refused_bytes, st->file_bytes);
	if (st->truncated)
		puts("  the file was cut short: what comes before the cut is here");
	if (st->bad_chunks)
		printf("  %" PRIu64 " of the file's chunks %s damaged; %s samples and names are "
		       "missing\n",
		       st->bad_chunks, plural(st->bad_chunks, "is", "are"),
		       plural(st->bad_chunks, "its", "their"));
	if (st->lost_repeats)
		printf("  %" PRIu64 " %s like ones in those chunks %s missing as well\n",
		       st->lost_repeats,
		       plural(st->lost_repeats, "sample that is", "samples that are"),
		       plural(st->lost_repeats, "is", "are"));
	if (st->skipped_bytes)
		printf("  %" PRIu64 " %s skipped\n", st->skipped_bytes,
		       plural(st->skipped_bytes, "byte was", "bytes were"));
	if (st->skipped_records)
		printf("  %" PRIu64 " %s that this version does not know %s skipped\n",
		       st->skipped_records,
		       plural(st->skipped_records, "record of a kind", "records of kinds"),
		       plural(st->skipped_records, "was", "were"));
	if (info->refused)
		printf("  %" PRIu64 " impossible %s refused\n", info->refused,
		       plural(info->refused, "definition was", "definitions were"));
	if (info->nr_ended < info->nr_segments)
		printf("  %u of %u recordings have no END record\n",
		       info->nr_segments - info->nr_ended, info->nr_segments);
}

/* The width of the name column. */
static int widest_label(const struct trace_events *events)
{
	char label[EVENT_LABEL_MAX];
	size_t width = strlen("event");

	for (size_t i = 0; i < events->nr; i++) {
		size_t len = strlen(trace_event_label(&events->v[i], label));

		width = len > width ? len : width;
	}
	return (int)width;
}

/* Prints foreign text in a column; width < 0 aligns it right. */
static void put_padded(const char *s, int width)
{
	int missing = abs(width) - (int)strlen(s);

	printf("%*s", width < 0 && missing > 0 ? missing : 0, "");
	escape_text(stdout, s, strlen(s));
	printf("%*s  ", width > 0 && missing > 0 ? missing : 0, "");
}

static void put_event(const struct trace_event *e, int width)
{
	char text[EVENT_LABEL_MAX], rate[128], weight[WEIGHT_TEXT_MAX];
	const char *label = trace_event_label(e, text);

	printf("%10" PRIu64 "  ", e->samples);
	put_padded(weight_text(e->weight, e->unit, weight), -13);
	put_padded(label, width);
	printf("%-10s  ", e->kind < EVENT_KINDS ? event_kind_name(e->kind) : "unknown");
	escape_text(stdout, e->unit, strlen(e->unit));
	report_rate_text(e, rate, sizeof(rate));
	if (*rate)
		fputs(", ", stdout);
	escape_text(stdout, rate, strlen(rate));
	putchar('\n');
}

static void put_events(const struct report *rep)
{
	const struct trace_events *events = report_events(rep);
	int width = widest_label(events);

	if (events->nr)
		printf("\nevents\n%10s  %13s  %-*s  %-10s  %s\n", "samples", "weight", width,
		       "event", "kind", "unit and rate");
	for (size_t i = 0; i < events->nr; i++)
		put_event(&events->v[i], width);
}

static void put_losses(const struct report *rep)
{
	const struct report_info *info = report_info(rep);

	puts("\nlosses");
	if (!info->lost_all)
		puts("  none lost");
	for (unsigned cause = 0; cause <= LOSS_CAUSES; cause++) {
		if (info->lost[cause])
			printf("%10" PRIu64 "  %s\n", info->lost[cause],
			       cause < LOSS_CAUSES ? loss_cause_name(cause)
						   : "for reasons this version does not know");
	}
	put_damage(info);
}

/* A share is relative to the stacks that should have been there, as in the other lists. */
static void put_ends(const struct report_info *info)
{
	char share[SHARE_MAX];

	puts("\nhow user stacks ended");
	for (unsigned end = 0; end <= STACK_ENDS; end++) {
		if (!info->ends[end])
			continue;
		if (stack_end_has_stack(end))
			report_share_text(info->ends[end], info->user_stacks, share);
		else
			strcpy(share, "- %");
		printf("%10" PRIu64 "  %7s  %-10s  %s", info->ends[end], share, stack_end_name(end),
		       stack_cause_text(end));
		if (*stack_cause_remedy(end))
			printf("; %s", stack_cause_remedy(end));
		putchar('\n');
	}
}

static void put_notes(const struct report *rep)
{
	static const char *const severities[] = { "note", "warning", "error" };
	size_t nr;
	const struct report_note *notes = report_notes(rep, &nr);

	if (nr)
		puts("\nmessages while recording");
	for (size_t i = 0; i < nr; i++) {
		printf("  %s: ", severities[notes[i].severity < 3 ? notes[i].severity : 2]);
		escape_text(stdout, notes[i].text, notes[i].len);
		putchar('\n');
	}
}

static bool was_shown(const char *key)
{
	static const char *const shown[] = {
		"tool",	     "host", "kernel.release", "kernel.version", "arch",      "cpus.online",
		"cpu.model", "argv", "mode",	       "unwind",	 "symbolize",
	};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (!strcmp(shown[i], key))
			return true;
	}
	return false;
}

static void put_other_metas(const struct report *rep)
{
	const char *heading = "\nmore about the recording\n";
	size_t nr;
	const struct report_meta_item *metas = report_metas(rep, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (metas[i].segment || was_shown(metas[i].key))
			continue;
		printf("%s  ", heading);
		heading = "";
		escape_text(stdout, metas[i].key, strlen(metas[i].key));
		fputs(" = ", stdout);
		escape_text(stdout, metas[i].value, metas[i].len);
		putchar('\n');
	}
}

static void put_sizes(const struct trace_status *st)
{
	puts("\nrecords by type, and their bytes before compression");
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++) {
		if (st->record_count[tag])
			printf("%10" PRIu64 "  %12" PRIu64 "  %s\n", st->record_count[tag],
			       st->record_bytes[tag], record_name((enum record_tag)tag));
	}
}

static int show(const struct report *rep, const struct info_args *args)
{
	int err;

	put_facts(rep);
	put_samples(rep);
	put_events(rep);
	put_losses(rep);
	put_ends(report_info(rep));
	info_put_health(rep);
	info_put_nameless(rep);
	err = info_put_commands(rep);
	put_notes(rep);
	put_other_metas(rep);
	if (args->sizes)
		put_sizes(&report_info(rep)->status);
	return err;
}

static int tell(const struct info_args *args, const struct report *rep)
{
	int err = args->json ? info_json(stdout, rep, args->sizes) : show(rep, args);

	return err ? fail(err, "%s", report_path(rep)) : 0;
}

/* The pager is there before rights are given up, because it is a program that must be started. */
static int run(const struct info_args *args, const char *path)
{
	struct report *rep = NULL;
	struct pager pager;
	int fd = shut_in_open(path), err, rc;

	pager_begin(&pager,
		    (args->json ? 0 : PAGER_WRAP) | (args->no_pager ? PAGER_NONE : 0));
	err = shut_in(fd >= 0);
	if (!err)
		err = fd >= 0 ? report_open_fd(fd, path, &args->query, &rep)
			      : report_open(path, &args->query, &rep);
	if (!err)
		err = tell(args, rep);
	err = pager_end(&pager) ?: err;
	if (err)
		fail_if_silent(err, "info %s", path);
	rc = err ? EXIT_FAILED : args->strict && report_has_loss(rep) ? EXIT_LOSS : EXIT_OK;
	report_close(rep);
	return rc;
}

#define AT(field) offsetof(struct info_args, field)

static const struct opt info_opts[] = {
	{ 0, "sizes", NULL, "also the number and size of each type of record", opt_flag, AT(sizes),
	  NULL, "Options", NULL },
	{ 0, "json", NULL, "the same as JSON for scripts, all lists whole", opt_flag, AT(json),
	  NULL, NULL, NULL },
	{ 0, "strict", NULL, "exit with 3 when the trace says that anything was lost", opt_flag,
	  AT(strict), NULL, NULL, NULL },
	{ 0, "no-limits", NULL,
	  "read a trace of any content, whatever time and memory that takes", opt_flag,
	  AT(query.no_limits), NULL, NULL, NULL },
	{ 0, "no-pager", NULL, "never show it in a pager", opt_flag, AT(no_pager), NULL, NULL,
	  NULL },
};

int cmd_info(const struct command_table *all, int argc, char **argv)
{
	struct opt_list list = { info_opts, sizeof(info_opts) / sizeof(info_opts[0]), NULL };
	struct info_args args = { 0 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);
	const char *path;

	if (opt_is_help(nr))
		return command_help(all, "info", nr, &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (nr > 1) {
		fail_why(-EINVAL, "info tells about one trace at a time");
		return command_usage(all, "info");
	}
	path = command_trace(nr, argv);
	return path ? run(&args, path) : EXIT_USAGE;
}
