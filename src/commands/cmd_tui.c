/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee tui: a trace in the terminal; one that still grows is followed. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "formats/trace/trace_output.h"
#include "src/base/fail.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/shut_in.h"
#include "src/commands/tui_options.h"

static int give_up_rights(void)
{
	return shut_in(true);
}

static bool recorder_is_gone(void *fd)
{
	return !trace_output_is_open(*(const int *)fd);
}

static int show_file(const struct tui_args *args, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct tui_source source = { .name = path, .shut_in = give_up_rights };
	int lock_fd, code;

	if (fd < 0) {
		fail(-errno, "open %s", path);
		return EXIT_FAILED;
	}
	source.fd = fd;
	/* The view closes its own descriptor; a recorder's lock is asked for by another one. */
	lock_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	source.is_live = lock_fd >= 0 && trace_output_is_open(lock_fd);
	if (source.is_live) {
		source.is_over = recorder_is_gone;
		source.ctx = &lock_fd;
	}
	code = tui_show(args, &source);
	if (lock_fd >= 0)
		close(lock_fd);
	return code;
}

int cmd_tui(const struct command_table *all, int argc, char **argv)
{
	struct tui_args args = { .follow = false };
	int nr = opt_parse(&tui_option_list, 1, argc, argv, &args, NULL);
	const char *path;

	if (opt_is_help(nr))
		return command_help(all, "tui", nr, &tui_option_list, 1);
	if (nr < 0)
		return command_usage(all, "tui");
	if (nr > 1) {
		fail_why(-EINVAL, "tui shows one trace at a time");
		return command_usage(all, "tui");
	}
	path = command_trace(nr, argv);
	tui_options_finish(&args);
	return path ? show_file(&args, path) : EXIT_USAGE;
}
