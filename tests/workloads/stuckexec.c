/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stuckexec FILE: opens FILE and becomes sleep(1), which closes it. If nobody answers that (hungfs flush), then this process
 * stays in the middle of exec() and keeps what the kernel locks meanwhile. "ready PID" comes before.
 */
#include <fcntl.h>

#include "ready.h"

int main(int argc, char **argv)
{
	if (argc < 2 || open(argv[1], O_RDWR | O_CLOEXEC) < 0) {
		perror("stuckexec");
		return 77;
	}
	say_ready();
	execl("/bin/sleep", "sleep", "300", (char *)NULL);
	return 1;
}
