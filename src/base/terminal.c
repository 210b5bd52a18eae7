/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

struct terminal terminal_of(int fd)
{
	struct winsize size = { 0 };

	if (!isatty(fd))
		return (struct terminal){ 0, 0 };
	ioctl(fd, TIOCGWINSZ, &size);
	return (struct terminal){ size.ws_col ? size.ws_col : 80, size.ws_row ? size.ws_row : 24 };
}
