/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/shut_in.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/rights/sandbox.h"

int shut_in_open(const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int enter(const struct sandbox_rules *rules)
{
	int parts;

	tzset();
	parts = sandbox_enter(rules);
	return parts < 0 ? fail(parts, "give up rights") : 0;
}

int shut_in(bool opens_nothing)
{
	return enter(&(struct sandbox_rules){ .kind = SANDBOX_REPORT,
					      .opens_nothing = opens_nothing });
}

int shut_in_serving(void)
{
	return enter(&(struct sandbox_rules){ .kind = SANDBOX_REPORT,
					      .opens_nothing = true,
					      .serves = true,
					      .forks = true });
}

int shut_in_asking(void)
{
	return enter(&(struct sandbox_rules){ .kind = SANDBOX_REPORT, .asks_helpers = true });
}

int shut_in_with(uint64_t kept, bool sees_processes)
{
	return enter(&(struct sandbox_rules){ .kind = SANDBOX_REPORT,
					      .sees_processes = sees_processes,
					      .kept = kept });
}
