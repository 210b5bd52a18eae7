/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/render/columns.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/terminal.h"
#include "src/rights/capabilities.h"

#define NOT_FOUND 127			/* exit status of a shell that does not find the command */

/* What was printed, in a file in memory. */
struct printed {
	int fd;
	char *v;
	size_t len;
};

/* Makes standard output the terminal again; *out is what was printed. False: nothing was. */
static bool take_back(struct pager *p, struct printed *out)
{
	off_t len;

	fflush(stdout);
	out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(p->terminal, STDOUT_FILENO);
	close(p->terminal);
	p->terminal = -1;
	len = out->fd < 0 ? 0 : lseek(out->fd, 0, SEEK_END);
	out->len = len > 0 ? (size_t)len : 0;
	out->v = out->len ? mmap(NULL, out->len, PROT_READ, MAP_PRIVATE, out->fd, 0) : MAP_FAILED;
	return out->v != MAP_FAILED;
}

static void release(struct printed *out)
{
	if (out->v != MAP_FAILED)
		munmap(out->v, out->len);
	if (out->fd >= 0)
		close(out->fd);
}

/*
 * Replaces the text by one whose lines are broken at columns. It stays in the same file, because
 * that is the one that the pager has.
 */
static void wrap(struct printed *out, unsigned columns)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	columns_wrap(f, out->v, out->len, columns);
	if (!fclose(f) && len && !ftruncate(out->fd, 0) && lseek(out->fd, 0, SEEK_SET) == 0 &&
	    !io_write(out->fd, text, len, NULL)) {
		munmap(out->v, out->len);
		out->len = len;
		out->v = mmap(NULL, len, PROT_READ, MAP_PRIVATE, out->fd, 0);
	}
	free(text);
}

/* Whether the text fits the screen, with one line left free for the shell's prompt. */
static bool fits(const struct printed *out, unsigned columns, unsigned rows)
{
	size_t nr = 1;

	for (const char *p = out->v, *end = p + out->len, *next; p < end && nr <= rows; p = next) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t width;

		next = newline ? newline + 1 : end;
		width = columns_of(p, (size_t)(next - p) - (newline != NULL));
		nr += width ? (width + columns - 1) / columns : 1;
	}
	return nr <= rows;
}

/* Whether this program may have more rights than its user, who then must not choose the pager. */
static bool is_secure(void)
{
	return getauxval(AT_SECURE) || getuid() != geteuid() ||
	       (geteuid() == 0 && getenv("SUDO_UID"));
}

/* The pager that the user has chosen; NULL: less. */
static const char *chosen_pager(void)
{
	const char *pager = getenv("PROBEE_PAGER");

	if (is_secure())
		return NULL;
	return pager ? pager : getenv("PAGER");
}

static bool is_paging(const struct pager *p)
{
	const char *term = getenv("TERM"), *pager = chosen_pager();

	return !(p->flags & PAGER_NONE) && term && strcmp(term, "dumb") &&
	       !(pager && (!*pager || !strcmp(pager, "cat")));
}

static _Noreturn void become_pager(int text)
{
	const char *pager = chosen_pager();

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setenv("LESS", "FRX", 0);
	if (is_secure()) {
		setenv("LESSSECURE", "1", 1);
		unsetenv("LESSOPEN");
		unsetenv("LESSCLOSE");
	}
	lseek(text, 0, SEEK_SET);
	if (dup2(text, STDIN_FILENO) == STDIN_FILENO) {
		if (pager)
			execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		else
			execlp("less", "less", (char *)NULL);
	}
	_exit(NOT_FOUND);
}

/* Waits for the word to go. The end of the pipe means that no pager is needed. */
static _Noreturn void wait_in_child(const struct pager *p, int go)
{
	int text = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	ssize_t n;
	char c;

	if (rights_drop_all())
		_exit(NOT_FOUND);
	do
		n = read(go, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0);
	if (text < 0 || dup2(p->terminal, STDOUT_FILENO) < 0)
		_exit(NOT_FOUND);
	become_pager(text);
}

/* Forks the process that may become the pager. Without it the text is written to the terminal. */
static void prepare_pager(struct pager *p)
{
	int go[2];

	if (pipe2(go, O_CLOEXEC))
		return;
	p->pid = fork();
	if (!p->pid) {
		close(go[1]);
		wait_in_child(p, go[0]);
	}
	close(go[0]);
	if (p->pid > 0)
		p->go = go[1];
	else
		close(go[1]);
}

void pager_begin(struct pager *p, unsigned flags)
{
	struct terminal t = terminal_of(STDOUT_FILENO);
	int memory;

	*p = (struct pager){ .columns = t.columns, .rows = t.rows, .flags = flags,
			     .terminal = -1, .go = -1 };
	fflush(stdout);
	if (!t.columns)
		return;
	memory = memfd_create("probee-output", MFD_CLOEXEC);
	p->terminal = memory < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (p->terminal >= 0)
		dup2(memory, STDOUT_FILENO);
	if (memory >= 0)
		close(memory);
	if (p->terminal >= 0 && is_paging(p))
		prepare_pager(p);
}

/*
 * Lets the pager go, or not, and waits for its end. False: there is none, or it could not be
 * started. Ctrl-C reaches both the pager and this program. The pager goes on, so this program must
 * wait: otherwise the pager and the shell would both read the keyboard.
 */
static bool end_pager(struct pager *p, bool is_wanted)
{
	void (*on_int)(int) = signal(SIGINT, SIG_IGN), (*on_quit)(int) = signal(SIGQUIT, SIG_IGN);
	bool goes = is_wanted && p->go >= 0 && write(p->go, "g", 1) == 1;
	int status = 0;

	if (p->go >= 0)
		close(p->go);
	while (p->go >= 0 && waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	p->go = -1;
	signal(SIGINT, on_int);
	signal(SIGQUIT, on_quit);
	return goes && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

int pager_end(struct pager *p)
{
	struct printed out;
	bool is_shown;
	int err = 0;

	if (p->terminal < 0)
		return 0;
	if (take_back(p, &out)) {
		if (p->flags & PAGER_WRAP)
			wrap(&out, p->columns);
		is_shown = end_pager(p, out.v != MAP_FAILED && !fits(&out, p->columns, p->rows));
		if (!is_shown && out.v != MAP_FAILED)
			err = io_write(STDOUT_FILENO, out.v, out.len, NULL);
	} else {
		end_pager(p, false);
	}
	release(&out);
	return err ? fail(err, "write to standard output") : 0;
}
