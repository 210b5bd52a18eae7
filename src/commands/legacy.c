/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines without a subcommand, in the grammar of profile-bee:
 *
 *	probee --svg a.svg --frequency 9999 --time 2000 --group-by-cpu
 *
 * They are turned into command lines of today, and --dry-run shows these:
 *
 *	probee sample -o TMP/trace.pbz -F 9999 -q -d 2000ms --include-idle
 *	probee report TMP/trace.pbz --by cpu --kernel-suffix _k --svg=a.svg
 *
 * Both run as processes of their own, the second one when the first has ended. The trace is thrown
 * away, because those who write such lines expect no other files than they name.
 *
 * With --tui the words go to `probee top` instead, which shows them live and writes no files, and
 * with --serve to `probee serve`; with both, `probee top --serve` does both. They end after --time,
 * or when the user has them end. Outputs beside --serve are made then.
 *
 * Differences: -t is in milliseconds, -f a frequency, -c and -s name files; CPUs that have nothing
 * to do are recorded unless --skip-idle is given; recordings end after 10 s. Stacks are unwound by
 * tables, as ever, unless --dwarf=false asks for frame pointers.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/visible.h"
#include "src/commands/command.h"
#include "src/commands/legacy.h"
#include "src/recording/target_command.h"

#define WORDS_MAX 1024
#define DEFAULT_MS 10000

enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

struct words {
	char *v[WORDS_MAX];		/* owned; NULL behind the last */
	size_t nr;
};

struct legacy {
	const struct command_table *all;
	struct words sample, report, probes, view;
	bool skip_idle, dry_run, is_tui, is_served, has_outputs, off_cpu, lists_probes;
	bool self_profile;
	uint32_t time_ms;
	bool has_time;
	const char *command;		/* --cmd */
	const char *program;		/* of what is behind --; NULL: nothing is */
};

static int add(struct words *w, const char *format, const char *value)
{
	if (w->nr == WORDS_MAX - 1)
		return fail_why(-E2BIG, "more than %d words", WORDS_MAX - 1);
	if (asprintf(&w->v[w->nr], format, value) < 0) {
		w->v[w->nr] = NULL;
		return fail(-ENOMEM, "read the command line");
	}
	w->nr++;
	return 0;
}

static void release(struct words *w)
{
	while (w->nr)
		free(w->v[--w->nr]);
}

/* ---- options ---- */

/* Options whose value goes on as it is, behind another word: old name, which list, new word. */
static const struct passed {
	const char *name, *format, *behind;	/* behind: a word of its own, or NULL */
	enum { TO_SAMPLE, TO_REPORT, TO_VIEW } to;
} passed[] = {
	{ "collapse", "--collapse=%s", NULL, TO_REPORT },
	{ "svg", "--svg=%s", NULL, TO_REPORT },
	{ "html", "--html=%s", NULL, TO_REPORT },
	{ "json", "--json=%s", NULL, TO_REPORT },
	{ "tui-refresh-ms", "--refresh-ms=%s", NULL, TO_VIEW },
	{ "update-mode", "--update-mode=%s", NULL, TO_VIEW },
	{ "no-tui-mouse", "%s", "--no-mouse", TO_VIEW },
	{ "frequency", "%s", "-F", TO_SAMPLE },
	{ "pid", "%s", "-p", TO_SAMPLE },
	{ "uprobe-pid", "%s", "-p", TO_SAMPLE },
	{ "cpu", "%s", "-C", TO_SAMPLE },
	{ "kprobe", "kprobe:%s", "-e", TO_SAMPLE },
	{ "uprobe", "uprobe:%s", "-e", TO_SAMPLE },
	{ "tracepoint", "tracepoint:%s", "-e", TO_SAMPLE },
	{ "event", "%s", "-e", TO_SAMPLE },
	{ "min-block-time", "%sus", "--min-block-time", TO_SAMPLE },
	{ "max-block-time", "%sus", "--max-block-time", TO_SAMPLE },
};

static int pass(const struct opt *o, const char *value, void *dst)
{
	struct legacy *l = dst;

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		const struct passed *p = &passed[i];
		struct words *w = p->to == TO_REPORT ? &l->report
				  : p->to == TO_VIEW ? &l->view
						     : &l->sample;

		if (strcmp(p->name, o->name))
			continue;
		l->has_outputs |= p->to == TO_REPORT;
		if (p->behind && add(w, "%s", p->behind))
			return -EINVAL;
		return value && add(w, p->format, value) ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* Endings of files as the ancestor knows them, and the reports of today. */
static const struct {
	const char *ending, *format;
} outputs[] = {
	{ ".svg", "--svg=%s" },		{ ".html", "--html=%s" },
	{ ".htm", "--html=%s" },	{ ".json", "--json=%s" },
	{ ".folded", "--collapse=%s" }, { ".collapsed", "--collapse=%s" },
	{ ".collapse", "--collapse=%s" }, { ".txt", "--text=%s" },
	{ ".pb.gz", "--pprof=%s" },	{ ".pprof", "--pprof=%s" },
};

static int pass_output(const struct opt *o, const char *value, void *dst)
{
	struct legacy *l = dst;
	size_t len = strlen(value);

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		size_t n = strlen(outputs[i].ending);

		if (len <= n || strcmp(value + len - n, outputs[i].ending))
			continue;
		l->has_outputs = true;
		return add(&l->report, outputs[i].format, value) ? -EINVAL : 0;
	}
	return fail_why(-EINVAL, "--%s %s: what format is that? Try: .svg, .html, .json, .folded, "
			".collapse, .txt, .pb.gz or .pprof", o->name, value);
}

static int set_time(const struct opt *o, const char *value, void *dst)
{
	struct legacy *l = dst;

	l->has_time = true;
	return opt_u32(o, value, &l->time_ms);
}

static int set_dwarf(const struct opt *o, const char *value, void *dst)
{
	struct legacy *l = dst;
	bool no = value && !strcmp(value, "false");

	if (value && *value && strcmp(value, "true") && !no)
		return fail_why(-EINVAL, "--%s=%s: true or false", o->name, value);
	return add(&l->sample, "%s", "--unwind") || add(&l->sample, "%s", no ? "fp" : "auto")
		       ? -EINVAL
		       : 0;
}

static int set_group(const struct opt *o, const char *value, void *dst)
{
	struct legacy *l = dst;

	(void)value;
	return add(&l->report, "%s", "--by") ||
			       add(&l->report, "%s", strstr(o->name, "cpu") ? "cpu" : "process")
		       ? -EINVAL
		       : 0;
}

static int set_list(const struct opt *o, const char *value, void *dst)
{
	struct legacy *l = dst;

	(void)o;
	l->lists_probes = true;
	return add(&l->probes, "%s", value) ? -EINVAL : 0;
}

/* What has no meaning here, or is what happens anyway. */
static int ignore(const struct opt *o, const char *value, void *dst)
{
	(void)o;
	(void)value;
	(void)dst;
	return 0;
}

#define AT(field) offsetof(struct legacy, field)

static const struct opt options[] = {
	{ 'c', "collapse", "FILE", "folded stacks", pass, 0, NULL, "Outputs", NULL },
	{ 's', "svg", "FILE", "flame graph", pass, 0, NULL, NULL, NULL },
	{ 0, "html", "FILE", "a page to explore", pass, 0, NULL, NULL, NULL },
	{ 0, "json", "FILE", "the call tree", pass, 0, NULL, NULL, NULL },
	{ 'o', "output", "FILE", "any of these, by its ending", pass_output, 0, NULL, NULL, NULL },
	{ 0, "tui", NULL, "in the terminal, live", opt_flag, AT(is_tui), NULL, NULL, NULL },
	{ 0, "serve", NULL, "in the browser, live", opt_flag, AT(is_served), NULL, NULL, NULL },
	{ 0, "tui-refresh-ms", "MS", "of --tui: a new picture every MS milliseconds", pass, 0,
	  NULL, NULL, NULL },
	{ 0, "update-mode", "MODE", "of --tui: reset, accumulate or decay", pass, 0, NULL, NULL,
	  NULL },
	{ 0, "no-tui-mouse", NULL, "of --tui: leave the mouse alone", pass, 0, NULL, NULL, NULL },
	{ 't', "time", "MS", "how long (default 10000; 0: until Ctrl-C)", set_time, 0, NULL,
	  "Recording", NULL },
	{ 'f', "frequency", "HZ", "samples a second (default 99)", pass, 0, NULL, NULL, NULL },
	{ 'p', "pid", "PID", "this process", pass, 0, NULL, NULL, NULL },
	{ 0, "cpu", "N", "this CPU", pass, 0, NULL, NULL, NULL },
	{ 0, "cmd", "COMMAND", "this command, from its start to its end", opt_string, AT(command),
	  NULL, NULL, NULL },
	{ 0, "skip-idle", NULL, "not the CPUs that have nothing to do", opt_flag, AT(skip_idle),
	  NULL, NULL, NULL },
	{ 0, "self-profile", NULL, "probee itself, too", opt_flag, AT(self_profile), NULL, NULL,
	  NULL },
	{ 0, "group-by-cpu", NULL, "CPUs as roots", set_group, 0, NULL, NULL, NULL },
	{ 0, "group-by-process", NULL, "processes as roots", set_group, 0, NULL, NULL, NULL },
	{ 0, "dwarf", "[=BOOL]", "false: by frame pointers", set_dwarf, 0, NULL, NULL, NULL },
	{ 0, "stream-mode", "N", "no meaning any more", ignore, 0, NULL, NULL, NULL },
	{ 'e', "event", "SPEC", "as of probee sample", pass, 0, NULL, "Events", NULL },
	{ 0, "kprobe", "FUNCTION", "entries of a function of the kernel", pass, 0, NULL, NULL,
	  NULL },
	{ 0, "uprobe", "SPEC", "entries of a function", pass, 0, NULL, NULL, NULL },
	{ 0, "uprobe-pid", "PID", "in this process", pass, 0, NULL, NULL, NULL },
	{ 0, "tracepoint", "CATEGORY:NAME", "a tracepoint", pass, 0, NULL, NULL, NULL },
	{ 0, "list-probes", "SPEC", "say where a probe would be put", set_list, 0, NULL, NULL,
	  NULL },
	{ 0, "off-cpu", NULL, "time off the CPU", opt_flag, AT(off_cpu), NULL, NULL, NULL },
	{ 0, "min-block-time", "US", "of at least so many microseconds", pass, 0, NULL, NULL,
	  NULL },
	{ 0, "max-block-time", "US", "and at most", pass, 0, NULL, NULL, NULL },
	{ 0, "dry-run", NULL, "only show the commands of today", opt_flag, AT(dry_run), NULL,
	  NULL, NULL },
};

/* ---- the two command lines ---- */

static int complete_sample(struct legacy *l, int argc, char **argv, int command)
{
	struct words *w = &l->sample;
	char time[32];
	int err = 0;

	/* What the recording says of its trace would be of no use: that is thrown away. */
	if (add(w, "%s", "-q"))
		return -EINVAL;
	if (!l->has_time)	/* a live view ends when the user leaves it */
		l->time_ms = l->is_tui || l->is_served ? 0 : DEFAULT_MS;
	snprintf(time, sizeof(time), "%ums", l->time_ms);
	if (l->time_ms)
		err = add(w, "%s", "-d") || add(w, "%s", time);
	if (!err && l->time_ms && (l->is_tui || l->is_served))
		err = add(w, "%s", "--until-end");
	if (!err && !l->skip_idle)
		err = add(w, "%s", "--include-idle");
	if (!err && l->self_profile)
		err = add(w, "%s", "--self-profile");
	if (!err && l->off_cpu)
		err = add(w, "%s", "--off-cpu");
	if (!err && l->command)
		err = add(w, "%s", "--") || add(w, "%s", "sh") || add(w, "%s", "-c") ||
		      add(w, "exec %s", l->command);
	if (!err && !l->command && command < argc)
		err = add(w, "%s", "--");
	l->program = !l->command && command < argc ? argv[command] : NULL;
	for (int i = command; i < argc && !err && !l->command; i++)
		err = add(w, "%s", argv[i]);
	return err ? -EINVAL : 0;
}

static void show(const struct words *w)
{
	printf("probee");
	for (size_t i = 1; i < w->nr; i++) {
		const char *quote = strpbrk(w->v[i], " *?[]'\"$&|;<>()") ? "'" : "";

		printf(" %s", quote);
		visible_put(stdout, w->v[i]);
		fputs(quote, stdout);
	}
	putchar('\n');
}

/* ---- running them ---- */

/* Waits for the child. A signal to this process alone is passed on to it. */
static int wait_for(pid_t child, int signals)
{
	int pidfd = (int)syscall(SYS_pidfd_open, child, 0), status = 0;
	struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };

	while (pidfd >= 0 && poll(fds, 2, -1) >= 0 && !fds[0].revents) {
		struct signalfd_siginfo s;

		/* What a terminal sends goes to the child by itself. */
		if (read(signals, &s, sizeof(s)) == sizeof(s) && s.ssi_code <= 0)
			kill(child, (int)s.ssi_signo);
	}
	if (pidfd >= 0)
		close(pidfd);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_words(const struct words *w, int signals, const sigset_t *before)
{
	pid_t child = fork();

	if (child < 0) {
		fail(-errno, "start probee %s", w->v[1]);
		return EXIT_FAILED;
	}
	if (!child) {
		sigprocmask(SIG_SETMASK, before, NULL);
		execv("/proc/self/exe", w->v);
		fail(-errno, "start probee %s", w->v[1]);
		_exit(EXIT_FAILED);
	}
	return wait_for(child, signals);
}

static int run_both(const struct legacy *l)
{
	sigset_t set, before;
	int signals, rc;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &before);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	rc = run_words(&l->sample, signals, &before);
	if (!rc && l->has_outputs)
		rc = run_words(&l->report, signals, &before);
	if (signals >= 0)
		close(signals);
	return rc;
}

static int in_directory(struct legacy *l)
{
	char dir[] = "/tmp/probee.XXXXXX", *path = NULL;
	int rc = EXIT_FAILED;

	if (!mkdtemp(dir) || asprintf(&path, "%s/trace.pbz", dir) < 0) {
		fail(-errno, "make %s", dir);
		return EXIT_FAILED;
	}
	free(l->sample.v[3]);
	free(l->report.v[2]);
	l->sample.v[3] = strdup(path);
	l->report.v[2] = strdup(path);
	if (l->sample.v[3] && l->report.v[2])
		rc = run_both(l);
	unlink(path);
	rmdir(dir);
	free(path);
	return rc;
}

/* The processes that were named are those whose files are looked into. */
static int list_probes(struct legacy *l)
{
	for (size_t i = 1; i + 1 < l->sample.nr; i++)
		if (!strcmp(l->sample.v[i], "-p") &&
		    add(&l->probes, "--pid=%s", l->sample.v[i + 1]))
			return EXIT_FAILED;
	return cmd_probes(l->all, (int)l->probes.nr - 1, l->probes.v + 1);
}

/* Words about the terminal mean nothing to it. */
static int name_server(struct words *w)
{
	while (w->nr > 2)
		free(w->v[--w->nr]);
	w->v[w->nr] = NULL;
	free(w->v[1]);
	w->v[1] = strdup("serve");
	return w->v[1] ? 0 : fail(-ENOMEM, "read the command line");
}

/* The recording is served while it goes on, and the outputs are made of its trace afterwards. */
static int serve_before(struct legacy *l)
{
	free(l->sample.v[1]);
	l->sample.v[1] = strdup("serve");
	return l->sample.v[1] ? 0 : fail(-ENOMEM, "read the command line");
}

/* probee top or serve: words about the view, and those of the recording behind its trace. */
static int run_view(struct legacy *l)
{
	if (l->has_outputs)
		note("--tui writes no files: these outputs are left out");
	if (l->is_tui ? l->is_served && add(&l->view, "%s", "--serve") : name_server(&l->view))
		return EXIT_FAILED;
	for (size_t i = 4; i < l->sample.nr; i++)
		if (add(&l->view, "%s", l->sample.v[i]))
			return EXIT_FAILED;
	if (l->dry_run) {
		show(&l->view);
		return EXIT_OK;
	}
	return (l->is_tui ? cmd_top : cmd_serve)(l->all, (int)l->view.nr - 1, l->view.v + 1);
}

/*
 * The program that a shell would run for these words, in buf; NULL: what they begin with means
 * something to the shell, which then says itself what is wrong.
 */
static const char *first_word(const char *words, char *buf, size_t size)
{
	size_t blank = strspn(words, " \t"), len = strcspn(words + blank, " \t\n;&|<>()");

	if (!len || len >= size)
		return NULL;
	memcpy(buf, words + blank, len);
	buf[len] = 0;
	return strpbrk(buf, "$`\"'\\*?[]~#{}") ? NULL : buf;
}

/* A command that cannot be run ends as a shell, env or nice end then: 127, it is not there; 126. */
static int check_command(const struct legacy *l)
{
	char buf[PATH_MAX];
	const char *name = l->command ? first_word(l->command, buf, sizeof(buf)) : l->program;
	int err = name ? target_command_find(name) : 0;

	return !err ? 0 : err == -ENOENT || err == -ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

static int run(struct legacy *l)
{
	int code = l->dry_run ? 0 : check_command(l);

	if (code)
		return code;
	if (l->lists_probes)
		return list_probes(l);
	if (l->is_tui || (l->is_served && !l->has_outputs))
		return run_view(l);
	if (l->is_served && serve_before(l))
		return EXIT_FAILED;
	if (!l->has_outputs && add(&l->report, "%s", "--text"))
		return EXIT_FAILED;
	l->has_outputs = true;
	if (!l->dry_run)
		return in_directory(l);
	show(&l->sample);
	show(&l->report);
	return EXIT_OK;
}

static int show_help(const struct opt_list *list)
{
	const struct opt_selection all = { NULL, NULL, NULL };

	printf("usage: probee OPTIONS [-- CMD ARGS]\n\n"
	       "A line without a command, as of profile-bee. Commands: probee --help\n\n");
	opt_print_help(list, 1, &all, 80, stdout);
	return EXIT_OK;
}

int legacy_run(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]), NULL };
	struct legacy *l = calloc(1, sizeof(*l));
	int command = argc, nr = -1, rc = EXIT_USAGE;
	char name[] = "probee";		/* for messages, and for habits.def */

	argv[0] = name;
	if (!l) {
		fail(-ENOMEM, "read the command line");
		return EXIT_FAILED;
	}
	l->all = all;
	if (!add(&l->sample, "%s", "probee") && !add(&l->sample, "%s", "sample") &&
	    !add(&l->sample, "%s", "-o") && !add(&l->sample, "%s", "TMP/trace.pbz") &&
	    !add(&l->report, "%s", "probee") && !add(&l->report, "%s", "report") &&
	    !add(&l->report, "%s", "TMP/trace.pbz") &&
	    !add(&l->report, "%s", "--kernel-suffix=_k") && !add(&l->probes, "%s", "probee") &&
	    !add(&l->probes, "%s", "probes") && !add(&l->view, "%s", "probee") &&
	    !add(&l->view, "%s", "top"))
		nr = opt_parse(&list, 1, argc, argv, l, &command);
	if (opt_is_help(nr))
		rc = show_help(&list);
	else if (nr > 0)
		fail_why(-EINVAL, "%s: what is that? Try: probee %s %s", argv[1],
			 argv[1][strspn(argv[1], "0123456789,")] ? "--" : "-p", argv[1]);
	else if (!nr && !complete_sample(l, argc, argv, command))
		rc = run(l);
	release(&l->sample);
	release(&l->report);
	release(&l->probes);
	release(&l->view);
	free(l);
	return rc;
}
