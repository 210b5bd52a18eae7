#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "formats/render/svg_text.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/command.h"
#include "src/info_sections.h"
#include "src/model/tables.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"

struct info_args {
	bool sizes, strict;
};

#define AT(field) offsetof(struct info_args, field)

static const struct opt info_opts[] = {
	{ 0, "sizes", NULL, "also what takes how much room in the file", opt_flag, AT(sizes), NULL, NULL, NULL },
	{ 0, "strict", NULL, "exit with 3 when samples were lost or the trace is cut or damaged", opt_flag, AT(strict),
	  NULL, NULL, NULL },
};

static void put_meta(const struct report *rep, const char *key, const char *meta)
{
	const char *value = report_meta(rep, meta, NULL);

	info_line(key, "%s", value ? value : "");
}

static void put_time(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	time_t at = (time_t)(info->begin_real_ns / 1000000000);
	char date[64], buf[32];
	struct tm tm;

	if (at && localtime_r(&at, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm))
		info_line("began", "%s", date);
	if (info->nr_ended)
		info_line("lasted", "%s, until %s", text_seconds(info->duration_ns, buf),
			  end_reason_name(info->end.reason));
	else
		info_line("lasted", "%s, and was not finished", text_seconds(info->duration_ns, buf));
}

/* Sums over all recordings of the file. */
static uint64_t count_of(const struct report *rep, enum record_tag tag)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < report_info(rep)->nr_segments && report_tables(rep, i); i++)
		n += tables_count(report_tables(rep, i), tag);
	return n;
}

static void put_counts(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	char a[32], b[32], c[32];

	info_line("samples", "%s; threads %s; processes %s", text_count(info->samples, a),
		  text_count(count_of(rep, REC_THREAD), b), text_count(count_of(rep, REC_PROCESS), c));
	if (info->user_stacks)
		info_line("stacks", "%s of %s user stacks are whole; %s distinct calls",
			  text_percent(info->roots, info->user_stacks, a), text_count(info->user_stacks, b),
			  text_count(count_of(rep, REC_NODE), c));
	if (info->frames)
		info_line("names", "%s of %s addresses have one",
			  text_percent(info->frames - info->frames_unnamed, info->frames, a),
			  text_count(info->frames, b));
	if (info->guessed)
		info_line("guessed", "%s samples have a caller that only the frame pointer knew",
			  text_count(info->guessed, a));
	if (info->kernel_truncated)
		info_line("cut", "%s kernel stacks are deeper than the limit", text_count(info->kernel_truncated, a));
	if (info->late)
		info_line("late", "%s rows were taken after the visit of their walk", text_count(info->late, a));
	info_line("lost", "%s", text_count(info->lost_all, a));
}

static void put_summary(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	struct profile_facts facts = { 0 };
	char size[32];

	report_facts(rep, &facts);
	info_line("file", "%s, %s bytes", report_path(rep), text_count(info->status.file_bytes, size));
	if (info->nr_segments > 1)
		info_line("recordings", "%u", info->nr_segments);
	put_meta(rep, "recorder", "tool");
	put_meta(rep, "command", "argv");
	put_meta(rep, "mode", "mode");
	info_line("event", "%s", facts.event);
	put_meta(rep, "unwinding", "unwind");
	put_meta(rep, "host", "host");
	put_meta(rep, "kernel", "kernel.release");
	put_meta(rep, "machine", "arch");
	put_meta(rep, "CPUs", "cpus.online");
	put_time(rep);
	put_counts(rep);
	info_line("warning", "%s", report_warning(rep));
}

static int print_info(const struct report *rep, const struct info_args *args)
{
	int err;

	put_summary(rep);
	info_losses(rep);
	info_walks(rep);
	info_ends(rep);
	err = info_end_places(rep);
	if (!err)
		err = info_names(rep);
	info_notes(rep);
	if (args->sizes)
		info_sizes(rep);
	return err;
}

static int run(const struct info_args *args, const char *path)
{
	struct report *rep = NULL;
	int rc = EXIT_OK;

	if (report_open(path, NULL, &rep) || print_info(rep, args))
		rc = EXIT_FAILED;
	else if (args->strict && (report_has_loss(rep) || report_is_incomplete(rep)))
		rc = EXIT_LOSS;
	report_close(rep);
	return rc;
}

int cmd_info(int argc, char **argv)
{
	struct info_args args = { 0 };
	struct opt_list lists[] = { { info_opts, sizeof(info_opts) / sizeof(info_opts[0]) } };
	int nr = opt_parse(lists, 1, argc, argv, &args, NULL);

	if (nr == OPT_HELP)
		return command_help("info", lists, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (nr == 1)
		return run(&args, argv[1]);
	if (nr)
		fail_why(-EINVAL, "%s: one trace at a time. Try: probee info %s", argv[2], argv[1]);
	else
		fail_why(-EINVAL, "info about what? Try: probee info trace.pbz");
	return EXIT_USAGE;
}
