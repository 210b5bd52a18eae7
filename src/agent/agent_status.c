/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file in the spool that says how an agent is: it writes that, and others read it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/agent/spool_names.h"
#include "src/agent/supervisor_parts.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/own_file.h"
#include "src/base/visible.h"

#define STATUS_FRESH_S 60

/* Whether all of it was written: the disk may be full. */
static bool put_status(struct supervisor *s, int fd)
{
	FILE *out = fdopen(fd, "w");

	if (!out) {
		close(fd);
		return false;
	}
	fprintf(out, "probee agent, process %d\n", (int)getpid());
	agent_state_text(s->state, out);
	return !fclose(out);
}

/* For people, so it need not survive a crash; a file that is half written is never seen. */
void agent_write_status(struct supervisor *s)
{
	int dir = spool_dir(s->spool);
	int fd;

	unlinkat(dir, SPOOL_STATUS_NAME ".new", 0);	/* of an agent that was killed */
	fd = openat(dir, SPOOL_STATUS_NAME ".new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	s->next_file_ns = now_ns() + AGENT_FILE_NS;
	if (fd >= 0 && put_status(s, fd))
		renameat(dir, SPOOL_STATUS_NAME ".new", dir, SPOOL_STATUS_NAME);
}

/* The agent may be another user's, so only what is no regular file is refused. */
static int read_status(const char *file, char **text, struct stat *st)
{
	int fd = open(file, O_RDONLY | OWN_FILE_FLAGS), err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, st) ? -errno : S_ISREG(st->st_mode) ? 0 : -EINVAL;
	if (!err)
		err = (int)io_read_all(fd, text, 1 << 20);
	close(fd);
	return err;
}

int agent_status(const char *path)
{
	struct agent_config c;
	struct stat st;
	char file[4096], *text = NULL;
	int err = agent_config_read(path, &c);
	int64_t age;

	if (err) {
		agent_config_release(&c);
		return err;
	}
	snprintf(file, sizeof(file), "%s/" SPOOL_STATUS_NAME, c.folder);
	agent_config_release(&c);
	if (read_status(file, &text, &st) < 0)
		return fail_why(-ENOENT, "%s cannot be read: no agent has run here, or you may not "
				"read it", file);
	age = (int64_t)time(NULL) - (int64_t)st.st_mtime;
	visible_put_lines(stdout, text, strlen(text));
	free(text);
	if (age <= STATUS_FRESH_S)
		return 0;
	return fail_why(-ESRCH, "no agent runs: this is of %" PRId64 " s ago", age);
}
