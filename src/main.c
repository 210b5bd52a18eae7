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
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/base/nearest.h"
#include "src/base/plural.h"
#include "src/base/stack_room.h"
#include "src/commands/command.h"
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
	     "  -h, --help     show this and exit\n"
	     "      --version  show the version and those of the libraries\n\n"
	     "To begin with:\n"
	     "  probee sample -o app.pbz -- ./app       a program from its start to its end\n"
	     "  sudo probee sample -a -d 10             the whole machine for 10 seconds\n"
	     "  probee report trace.pbz --text          where the time went\n"
	     "  probee report trace.pbz --svg=x.svg     the same as a flame graph\n"
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

static int run_help(const char *name)
{
	const struct command *c = name ? command_find(&all_commands, name) : NULL;
	char first[64];
	char *argv[] = { first, (char[]){ "--help" }, NULL };

	if (!name)
		return print_help();
	if (!c)
		return unknown_command(name);
	snprintf(first, sizeof(first), "%s", name);
	return start(c, 2, argv);
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
	return c ? start(c, argc - 1, argv + 1) : unknown_command(word);
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
