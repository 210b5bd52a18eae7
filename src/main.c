/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the command, runs it and turns its result into an exit code. A command that needs no rights
 * has none, unless root started it (src/commands/shut_in.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/habit.h"
#include "src/base/memory.h"
#include "src/base/nearest.h"
#include "src/base/plural.h"
#include "src/base/stack_room.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/rights/capabilities.h"

static int print_help(void)
{
	puts("usage: probee COMMAND [OPTIONS]\n\n"
	     "Samples the stacks of programs and of the kernel, and shows them.\n\n"
	     "Commands:");
	for (const struct command *c = NULL; (c = command_next(&all_commands, c));)
		if (c->summary)
			printf("  %-12s %s\n", c->name, c->summary);
	puts("  help         show the options of a command: probee help COMMAND\n\n"
	     "Help about (probee help WORD):");
	help_list_topics();
	puts("\n  -h, --help     show this and exit\n"
	     "      --version  show the version and those of the libraries\n\n"
	     "To begin with:\n"
	     "  probee record -o app.pbz -- ./app       a program from its start to its end\n"
	     "  sudo probee record -a -d 10             the whole machine for 10 seconds\n"
	     "  probee report                           where the time of trace.pbz went\n"
	     "  probee report --html=x.html             a page to explore\n"
	     "  sudo probee snapshot -a -i 1 --waits    who waits for whom, now\n"
	     "  sudo probee top                         watch it\n"
	     "  probee doctor                           what is missing when it cannot record\n\n"
	     "Exit codes: 0 success, 1 failure, 2 wrong command line, 3 loss under --strict,\n"
	     "4 verify found differences, 75 push has not delivered all and may try again,\n"
	     "77 this kernel or these rights cannot do it.");
	return EXIT_OK;
}

static int print_version(void)
{
	char version[64];

	printf("probee %s\n", PROBEE_VERSION);
	for (const struct command_set *const *s = all_commands.sets; *s; s++) {
		for (const struct library *l = (*s)->libraries; l->name; l++) {
			l->version(version, sizeof(version));
			printf("%s %s\n", l->name, version);
		}
	}
	return EXIT_OK;
}

static int unknown_command(const char *word)
{
	struct nearest n = nearest_to(word);

	for (const struct command *c = NULL; (c = command_next(&all_commands, c));)
		if (c->summary)
			nearest_offer(&n, c->name);
	nearest_offer(&n, "help");
	fail_why(-EINVAL, "unknown %s '%s'. Try: probee %s", word[0] == '-' ? "option" : "command",
		 word, n.best ? n.best : "--help");
	return EXIT_USAGE;
}

static int start(const struct command *c, int argc, char **argv)
{
	int err = c->needs_rights || rights_are_of_root() ? 0 : rights_drop_all();

	return err ? exit_code_of(fail(err, "give up rights")) : c->run(&all_commands, argc, argv);
}

static int run(int argc, char **argv);

enum { MEANT_WORDS = 4, MEANT_BYTES = 64 };

/* Runs the words of meant, and those of the command line from the one at first on. */
static int run_words(const char *meant, int first, int argc, char **argv)
{
	char **words = calloc((size_t)argc + MEANT_WORDS + 1, sizeof(*words));
	char buf[MEANT_BYTES], *rest = buf;
	int nr = 0, rc;

	if (!words)
		return exit_code_of(fail(-ENOMEM, "read the command line"));
	snprintf(buf, sizeof(buf), "%s", meant);
	words[nr++] = argv[0];
	for (char *word; nr <= MEANT_WORDS && (word = strsep(&rest, " "));)
		words[nr++] = word;
	memcpy(words + nr, argv + first, sizeof(*argv) * (size_t)(argc + 1 - first));
	rc = run(nr + argc - first, words);
	free(words);
	return rc;
}

static int refuse_habit(const char *word, const struct habit *h)
{
	fail_why(-EINVAL, "%s is no command of probee. %s", word, h->say);
	return EXIT_USAGE;
}

static bool is_trace_name(const char *word)
{
	size_t len = strlen(word);

	return len > 4 && !strcmp(word + len - 4, ".pbz");
}

static bool names_output(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strncmp(argv[i], "-o", 2) || !strncmp(argv[i], "--output", 8))
			return true;
	return false;
}

/* Does what is meant, without the output that it chooses if the user names one. */
static int run_meant(const struct habit *h, int argc, char **argv)
{
	const char *output = strstr(h->meant, " -o ");
	char words[64];

	if (!output || !names_output(argc, argv)) {
		if (h->say)
			note("%s", h->say);
		return run_words(h->meant, 2, argc, argv);
	}
	snprintf(words, sizeof(words), "%.*s", (int)(output - h->meant), h->meant);
	return run_words(words, 2, argc, argv);
}

/* A word of another profiler, or what can only be a process, a trace or a program. */
static int run_habit(int argc, char **argv)
{
	const char *word = argv[1];
	const struct habit *h = habit_of_command(word, argc > 2 ? argv[2] : NULL);

	if (h && !h->meant)
		return refuse_habit(word, h);
	if (h)
		return run_meant(h, argc, argv);
	if (*word && !word[strspn(word, "0123456789")])
		return run_words("-p", 1, argc, argv);
	if (is_trace_name(word) && !access(word, R_OK))
		return run_words("report", 1, argc, argv);
	return strchr(word, '/') && !access(word, X_OK) ? run_words("--", 1, argc, argv)
						       : unknown_command(word);
}

static int run_help(const char *name)
{
	const struct command *c = name ? command_find(&all_commands, name) : NULL;
	const struct habit *h = name && !c ? habit_of_command(name, NULL) : NULL;
	const char *topic;
	char first[64], option[HELP_OPTION_BYTES] = "--help";
	char *argv[] = { first, option, NULL };

	if (!name)
		return print_help();
	if (!c && help_topic(name, &topic, option)) {
		c = topic ? command_find(&all_commands, topic) : NULL;
		snprintf(first, sizeof(first), "%s", c ? c->name : "");
		return c ? start(c, 2, argv) : topic ? unknown_command(name) : EXIT_OK;
	}
	if (h && !h->meant)
		return refuse_habit(name, h);
	snprintf(first, sizeof(first), "%.*s", h ? (int)strcspn(h->meant, " ") : 63,
		 h ? h->meant : name);
	if (h)
		note("%s is here: probee %s", name, h->meant);
	c = command_find(&all_commands, first);
	return c ? start(c, 2, argv) : unknown_command(name);
}

static int run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *c;
	int rc;

	if (word && (!strcmp(word, "--help") || !strcmp(word, "-h")))
		return print_help();
	if (word && (!strcmp(word, "--version") || !strcmp(word, "-V")))
		return print_version();
	rc = run_without_command(argc, argv);
	if (rc >= 0)
		return rc;
	if (!word)
		return print_help();
	if (!strcmp(word, "help"))
		return run_help(argc > 2 ? argv[2] : NULL);
	c = command_find(&all_commands, word);
	return c ? start(c, argc - 1, argv + 1) : run_habit(argc, argv);
}

/*
 * If the caller closed descriptor 0, 1 or 2, the next open() would return that number, and messages
 * would go into the trace. So /dev/null takes the number; it is opened for the wrong direction, so
 * that using the descriptor is still an error.
 */
static void occupy_std_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}

/* `probee report x | head`: a reader that closes the pipe has had enough; that is no failure. */
static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

static int flush_stdout(int rc)
{
	int bad = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !bad)
		return rc;
	if (reader_is_gone())
		return rc == EXIT_FAILED ? EXIT_OK : rc;
	fail(errno ? -errno : -EIO, "write to standard output");
	return rc ? rc : EXIT_FAILED;
}

/* A command may succeed with less than it should have: what refused memory would have held. */
static int say_refusals(int rc)
{
	unsigned long nr = memory_refusals();

	if (nr)
		fail_if_silent(-ENOMEM, "%lu %s failed, so something may be missing", nr,
			       plural(nr, "request", "requests"));
	return rc;
}

static int run_all(int argc, char **argv)
{
	occupy_std_fds();
	signal(SIGPIPE, SIG_IGN);	/* writes fail with EPIPE instead */
	signal(SIGXFSZ, SIG_IGN);	/* writes fail with EFBIG instead */
	return flush_stdout(say_refusals(run(argc, argv)));
}

int main(int argc, char **argv)
{
	return stack_room_run(run_all, argc, argv);
}
