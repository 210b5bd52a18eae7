/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/trace_output.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/helper_deaths.h"
#include "src/base/io.h"
#include "src/base/opt.h"
#include "src/base/worker.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/shut_in.h"
#include "src/commands/symbolize_summary.h"
#include "src/foreign/debug_server.h"
#include "src/foreign/file_opener.h"
#include "src/helpers/helper.h"
#include "src/late_names/late_copy.h"
#include "src/late_names/late_files.h"
#include "src/late_names/late_lookup.h"
#include "src/late_names/late_names.h"
#include "src/output/output_files.h"
#include "src/rights/capabilities.h"
#include "src/symbolize/kernel_hidden.h"
#include "src/symbolize/kernel_symbols.h"

#define THREADS 2
#define MAX_KALLSYMS 16

struct symbolize_args {
	const char *output;
	struct late_dirs binary_dirs, debug_dirs;
	const char *kallsyms[MAX_KALLSYMS];
	unsigned nr_kallsyms;
	const char *debug_urls;		/* NULL: no server is asked */
	bool again, trust_paths, strict, force, no_limits, quiet;
};

/* All that is open while names are looked up. */
struct symbolizing {
	const struct symbolize_args *args;
	const char *path;
	struct output_files *files;
	struct helper_deaths *deaths;
	struct helper_keeper *keeper;
	struct late_files late;
	struct worker_pool *pool;
	struct kernel_files kernel, given_files[MAX_KALLSYMS];
	struct kernel_hidden hidden;	/* with the rights that they were opened with */
	struct kernel_symbols *here, *given[MAX_KALLSYMS];
	char boot_id[64];
	struct trace_reader *reader;
	struct late_names *names;
};

/* ---- before anything foreign is read ---- */

static int open_output(struct symbolizing *s)
{
	int err;

	s->files = output_files_new(s->args->force);
	if (!s->files)
		return fail(-ENOMEM, "%s", s->args->output);
	if (!strcmp(s->args->output, "-"))
		return 0;
	err = output_files_add(s->files, s->args->output, &trace_output_kind,
			       strcmp(s->path, "-") ? s->path : NULL);
	return err < 0 ? err : output_files_guard(s->files);
}

/* The files that a trace names are the user's affair, and not that of a capability. */
static void begin_keeper(void)
{
	rights_drop_all();
}

static int open_helpers(struct symbolizing *s)
{
	static const struct helper_kind *const kinds[] = {
		&file_opener_kind, &table_parser_kind, &name_parser_kind, &line_parser_kind,
	};
	struct helper_keeper_options opts = {
		.kinds = kinds,
		.nr_kinds = sizeof(kinds) / sizeof(kinds[0]),
		.begin = begin_keeper,
		.no_signals = true,
	};
	int err;

	s->deaths = opts.deaths = helper_deaths_new();
	err = s->deaths ? helper_keeper_new(&opts, &s->keeper) : -ENOMEM;

	if (!err)
		err = file_opener_new(s->keeper, &s->late.opener);
	if (!err)
		err = parsers_new(s->keeper, s->late.opener, THREADS, &s->late.parsers);
	if (err)
		return fail(err, "start helper processes");
	if (s->args->debug_urls)
		err = debug_server_new(s->args->debug_urls, s->deaths, &s->late.server);
	parsers_ask_server(s->late.parsers, s->late.server);
	if (s->args->no_limits)
		parsers_take_time(s->late.parsers);
	return err;
}

static int open_dirs(struct late_dirs *dirs)
{
	for (size_t i = 0; i < dirs->nr; i++) {
		dirs->v[i].fd = open(dirs->v[i].path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dirs->v[i].fd < 0)
			return fail(-errno, "%s", dirs->v[i].path);
	}
	return 0;
}

/* A user who may not see the kernel's addresses reads zeros. */
static int open_kernel(struct symbolizing *s)
{
	char *text;

	kernel_files_open(&s->kernel);
	kernel_hidden_look(&s->hidden);
	if (io_read_file("/proc/sys/kernel/random/boot_id", &text, 4096) >= 0) {
		snprintf(s->boot_id, sizeof(s->boot_id), "%.*s", (int)strcspn(text, "\n"), text);
		free(text);
	}
	for (unsigned i = 0; i < s->args->nr_kallsyms; i++) {
		int fd = open(s->args->kallsyms[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		if (fd < 0)
			return fail(-errno, "%s", s->args->kallsyms[i]);
		s->given_files[i] = (struct kernel_files){ fd, -1 };
	}
	return 0;
}

/* ---- names ---- */

static int read_kernel(struct symbolizing *s)
{
	for (unsigned i = 0; i < s->args->nr_kallsyms; i++) {
		int err = kernel_symbols_read(&s->given_files[i], &s->given[i]);

		if (err == -EACCES)
			err = fail_why(-EINVAL, "%s has no addresses. Try: a copy of "
				       "/proc/kallsyms that root has made",
				       s->args->kallsyms[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Those of here are read only if a trace has frames of a kernel: there are 200,000. */
static void read_own_kernel(struct symbolizing *s)
{
	bool is_wanted = false;

	for (size_t i = 0; i < s->names->nr_binaries; i++) {
		uint8_t kind = s->names->binaries[i].kind;

		is_wanted |= s->names->binaries[i].first &&
			     (kind == BINARY_KERNEL || kind == BINARY_MODULE);
	}
	if (is_wanted)
		kernel_symbols_read(&s->kernel, &s->here);
}

static int read_trace(struct symbolizing *s)
{
	const struct trace_status *st = trace_reader_status(s->reader);
	struct record rec;
	int err = 0, more = 0;

	while (!err && (more = trace_reader_next(s->reader, &rec)) > 0)
		err = late_names_record(s->names, st->segment, &rec);
	if (!err && !more && st->refused_bytes)
		err = fail_why(-EMSGSIZE, "%s stands for more than a recording of its size holds. "
			       "Try: --no-limits", s->path);
	if (!err && !more)
		err = late_names_ask(s->names);
	return err ? err : more;
}

static int look_up(struct symbolizing *s)
{
	struct late_sources src = { .files = &s->late };
	int err;

	s->pool = worker_pool_new(THREADS);
	if (!s->pool)
		return fail(-ENOMEM, "start worker threads");
	err = read_kernel(s);
	if (err)
		return err;
	read_own_kernel(s);
	src.pool = s->pool;
	src.kernel = (struct late_kernel){
		.here = s->here && !kernel_symbols_hidden(s->here) ? s->here : NULL,
		.is_hidden = s->here && kernel_symbols_hidden(s->here),
		.boot_id = s->boot_id, .given = s->given, .nr_given = s->args->nr_kallsyms,
	};
	return late_lookup(s->names, &src);
}

static int write_trace(struct symbolizing *s)
{
	struct trace_writer_options opts = { .whole = true };
	struct trace_writer *w;
	struct trace_output out;
	bool is_stdout = !strcmp(s->args->output, "-");
	int err = is_stdout ? trace_output_open("-", &out)
			    : trace_output_open_in(s->files, 0, &out);

	if (err)
		return err;
	opts.output = &out;
	err = trace_writer_open(s->args->output, &opts, &w);
	if (err)
		return err;
	err = late_copy(s->names, s->reader, w);
	if (!err)
		return trace_writer_close(w);
	trace_writer_abandon(w);
	return err;
}

static int symbolize(struct symbolizing *s, int fd)
{
	const struct trace_reader_options opts = { .max_table_bytes = UINT64_MAX / 2,
						   .max_work = UINT64_MAX / 2 };
	const struct trace_reader_options *limits = s->args->no_limits ? &opts : NULL;
	int err = fd >= 0 ? trace_reader_open_fd(fd, s->path, limits, &s->reader)
			  : trace_reader_open(s->path, limits, &s->reader);

	if (err)
		return err;
	s->names = late_names_new(s->args->again);
	if (!s->names)
		return -ENOMEM;
	trace_reader_give_repeats(s->reader, true);
	err = trace_reader_rewind(s->reader);
	if (!err)
		err = read_trace(s);
	if (!err)
		err = look_up(s);
	return err ? err : write_trace(s);
}

static bool is_incomplete(const struct symbolizing *s)
{
	const struct trace_status *st = trace_reader_status(s->reader);

	return s->names->nr_named < s->names->nr_nameless || s->names->nr_lines_lost ||
	       st->bad_chunks || st->truncated;
}

/* What is missing in the original is missing in the copy, too. */
static void say_damage(const struct symbolizing *s)
{
	const struct trace_status *st = trace_reader_status(s->reader);

	if (st->bad_chunks)
		note("%s: %llu chunks are damaged and not in the copy", s->path,
		     (unsigned long long)st->bad_chunks);
	if (st->truncated)
		note("%s was cut short: the copy has what is there", s->path);
}

static void close_dirs(const struct late_dirs *dirs)
{
	for (size_t i = 0; i < dirs->nr; i++)
		if (dirs->v[i].fd >= 0)
			close(dirs->v[i].fd);
}

static void close_all(struct symbolizing *s)
{
	worker_pool_free(s->pool);
	late_names_free(s->names);
	trace_reader_close(s->reader);
	parsers_free(s->late.parsers);
	debug_server_free(s->late.server);
	file_opener_free(s->late.opener);
	helper_keeper_free(s->keeper);
	helper_deaths_free(s->deaths);
	kernel_symbols_free(s->here);
	kernel_files_close(&s->kernel);
	for (unsigned i = 0; i < s->args->nr_kallsyms; i++) {
		kernel_symbols_free(s->given[i]);
		kernel_files_close(&s->given_files[i]);
	}
	close_dirs(&s->late.binary_dirs);
	close_dirs(&s->late.debug_dirs);
	output_files_free(s->files);
}

static int run(const struct symbolize_args *args, const char *path)
{
	struct symbolizing s = {
		.args = args, .path = path, .kernel = { -ENOENT, -1 },
		.late = { .binary_dirs = args->binary_dirs, .debug_dirs = args->debug_dirs,
			  .trust_paths = args->trust_paths },
	};
	int fd, err, rc = EXIT_FAILED;

	for (unsigned i = 0; i < args->nr_kallsyms; i++)
		s.given_files[i] = (struct kernel_files){ -ENOENT, -1 };
	if (args->quiet)
		fail_set_verbosity(-1);
	fd = shut_in_open(path);
	err = open_output(&s);
	if (!err)
		err = open_helpers(&s);
	if (!err)
		err = open_dirs(&s.late.binary_dirs) ?: open_dirs(&s.late.debug_dirs);
	if (!err)
		err = open_kernel(&s);
	if (!err)
		err = shut_in_asking();
	if (err && fd >= 0)
		close(fd);
	if (!err)
		err = symbolize(&s, fd);
	if (err)
		fail_if_silent(err, "symbolize %s", path);
	else
		rc = args->strict && is_incomplete(&s) ? EXIT_LOSS : EXIT_OK;
	if (!err)
		symbolize_say(s.names, args->output, &s.hidden);
	if (!err)
		say_damage(&s);
	close_all(&s);
	return rc;
}

/* ---- the command line ---- */

static int add_dir(const struct opt *o, const char *value, void *dst)
{
	struct late_dirs *dirs = dst;
	struct late_dir *d = array_push(&dirs->v, &dirs->nr, &dirs->cap);

	if (!d)
		return fail(-ENOMEM, "--%s", o->name);
	*d = (struct late_dir){ .path = value, .fd = -1 };
	return 0;
}

static int add_kallsyms(const struct opt *o, const char *value, void *dst)
{
	struct symbolize_args *args = dst;

	if (args->nr_kallsyms == MAX_KALLSYMS)
		return fail_why(-EINVAL, "--%s: %d files at most", o->name, MAX_KALLSYMS);
	args->kallsyms[args->nr_kallsyms++] = value;
	return 0;
}

#define AT(field) offsetof(struct symbolize_args, field)

static const struct opt symbolize_opts[] = {
	{ 0, "binary-dir", "DIR",
	  "where programs and libraries are: as DIR/PATH, with the path that the process saw, or "
	  "as DIR/NAME; only files with the build-id that was recorded count; / is this machine; "
	  "give it again for more",
	  add_dir, AT(binary_dirs), NULL, "Files", NULL },
	{ 0, "debug-dir", "DIR",
	  "where debug files are, as DIR/.build-id/xx/yyy.debug, and of kernels as "
	  "DIR/boot/vmlinux-RELEASE (default /usr/lib/debug); give it again for more",
	  add_dir, AT(debug_dirs), NULL, NULL, NULL },
	{ 0, "debuginfod", "[=URLS]",
	  "ask these servers (default: $DEBUGINFOD_URLS) for debug files that this machine does "
	  "not have; they are sent the build-ids of the trace; 10 s a file, 60 s in all",
	  opt_servers, AT(debug_urls), NULL, NULL, NULL },
	{ 0, "kallsyms", "FILE",
	  "a copy of /proc/kallsyms of the machine and the boot that were recorded, for functions "
	  "of the kernel; without it they are named on the kernel that was recorded",
	  add_kallsyms, 0, NULL, NULL, NULL },
	{ 0, "trust-paths", NULL,
	  "also take files of the same path for binaries that have no build-id, whatever their "
	  "time; otherwise size and time must be those of the recording",
	  opt_flag, AT(trust_paths), NULL, NULL, NULL },
	{ 0, "again", NULL, "look frames up that have a name, too", opt_flag, AT(again), NULL,
	  "Options", NULL },
	{ 'o', "output", "FILE", "where the new trace goes; - is standard output", opt_string,
	  AT(output), NULL, NULL, NULL },
	{ 0, "force", NULL, "replace a file that is no earlier trace, too", opt_flag, AT(force),
	  NULL, NULL, NULL },
	{ 0, "strict", NULL,
	  "exit with 3 when frames are still without a name, or the trace is damaged", opt_flag,
	  AT(strict), NULL, NULL, NULL },
	{ 0, "no-limits", NULL,
	  "read a trace of any content, whatever time and memory that takes, and source lines of "
	  "other users' files, whatever time these take", opt_flag,
	  AT(no_limits), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "say only what went wrong", opt_flag, AT(quiet), NULL, NULL, NULL },
};

static int check(const struct symbolize_args *args, int nr)
{
	if (nr != 1)
		return fail_why(-EINVAL, nr ? "symbolize adds names to one trace at a time"
					    : "symbolize needs a trace");
	return args->output ? 0 : fail_why(-EINVAL, "symbolize needs -o: where the new trace goes");
}

int cmd_symbolize(const struct command_table *all, int argc, char **argv)
{
	static const struct late_dir usual = { "/usr/lib/debug", -1 };
	struct opt_list list = { symbolize_opts,
				 sizeof(symbolize_opts) / sizeof(symbolize_opts[0]), NULL };
	struct symbolize_args args = { 0 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL), rc = EXIT_USAGE;

	if (opt_is_help(nr))
		rc = command_help(all, "symbolize", nr, &list, 1);
	else if (nr >= 0 && check(&args, nr))
		rc = command_usage(all, "symbolize");
	else if (nr >= 0) {
		if (!access(usual.path, F_OK))
			add_dir(&symbolize_opts[1], usual.path, &args.debug_dirs);
		rc = run(&args, argv[1]);
	}
	free(args.binary_dirs.v);
	free(args.debug_dirs.v);
	return rc;
}
