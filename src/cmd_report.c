#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/command.h"
#include "src/output_list.h"
#include "src/profile/query.h"
#include "src/profile/report.h"

struct report_args {
	struct output_list outputs;
	struct render_opts render;
	struct query query;
	bool strict;
};

#define AT(field) offsetof(struct report_args, field)

static const struct opt report_opts[] = {
	{ 'p', "pid", "PIDS", "only these processes, comma-separated, with all their threads", opt_id_list,
	  AT(query.pids), NULL, "Samples", NULL },
	{ 't', "tid", "TIDS", "only these threads", opt_id_list, AT(query.tids), NULL, NULL, NULL },
	{ 0, "comm", "NAME", "only threads of this name; * and ? match anything; may be repeated", query_parse_comm,
	  AT(query), NULL, NULL, NULL },
	{ 0, "state", "STATES", "only threads in these states: R,S,D or RUNNING,SLEEP,DISK", query_parse_states,
	  AT(query.states), NULL, NULL, NULL },
	{ 0, "from", "TIME", "from then on: 10s, 200ms (after the first sample), HH:MM:SS or 'YYYY-MM-DD HH:MM:SS'",
	  query_parse_time, AT(query.from), NULL, NULL, NULL },
	{ 0, "to", "TIME", "until then", query_parse_time, AT(query.to), NULL, NULL, NULL },
	{ 0, "offsets", NULL, "function+0x12: a frame of its own for each address", opt_flag, AT(render.offsets), NULL,
	  "Appearance", NULL },
	{ 0, "title", "TEXT", "title of the picture and of the text", opt_string, AT(render.title), NULL, NULL, NULL },
	{ 0, "top", "N", "text: so many functions (default 40)", opt_u32, AT(render.top), NULL, NULL, NULL },
	{ 'r', "reverse-stack", NULL, "CSV: outermost function first", opt_flag, AT(render.reverse_stack), NULL, NULL,
	  NULL },
	{ 'q', "quiet", NULL, "say only what went wrong or is missing; CSV without its header", opt_flag,
	  AT(render.quiet), NULL, NULL, NULL },
	{ 0, "deep", NULL, "JSON: whole stacks beyond 120 frames, which many readers refuse", opt_flag,
	  AT(render.deep), NULL, NULL, NULL },
	{ 0, "strict", NULL, "exit with 3 when samples were lost or the trace is cut or damaged", opt_flag, AT(strict),
	  NULL, NULL, NULL },
};

static int run(struct report_args *args, const char *path)
{
	struct report *rep = NULL;
	int err, rc = EXIT_OK;

	if (!args->outputs.nr && output_list_add(&args->outputs, renderer_find("text"), NULL))
		return EXIT_FAILED;
	err = report_open(path, &args->query, &rep);
	if (!err)
		err = output_list_run(&args->outputs, rep, &args->render, path);
	if (err)
		rc = EXIT_FAILED;
	else if (args->strict && (report_has_loss(rep) || report_is_incomplete(rep)))
		rc = EXIT_LOSS;
	report_close(rep);
	return rc;
}

static int check_words(int nr, char **argv)
{
	if (!nr)
		return fail_why(-EINVAL, "report of what? Try: probee report trace.pbz");
	if (nr > 1)
		return fail_why(-EINVAL, "%s: one trace at a time. Try: probee report %s", argv[2], argv[1]);
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct report_args args = { 0 };
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[] = {
		{ rows, output_list_opts(AT(outputs), rows, OUTPUT_OPTS_MAX) },
		{ report_opts, sizeof(report_opts) / sizeof(report_opts[0]) },
	};
	int nr = opt_parse(lists, 2, argc, argv, &args, NULL), rc = EXIT_USAGE;

	if (args.render.quiet)
		fail_set_verbosity(-1);
	if (nr == OPT_HELP)
		rc = command_help("report", lists, 2);
	else if (nr >= 0 && !check_words(nr, argv))
		rc = run(&args, argv[1]);
	output_list_release(&args.outputs);
	query_release(&args.query);
	return rc;
}
