/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee unwind-info: what probee knows about unwinding a binary, or all binaries of a process. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/shut_in.h"
#include "src/inspect/find_binary.h"
#include "src/inspect/mapped_binaries.h"
#include "src/inspect/unwind_facts.h"
#include "src/rights/capabilities.h"
#include "src/rights/recording_rights.h"
#include "src/commands/unwind_info.h"

#define MAX_SAME_NAME 16

struct places {
	struct unwind_place *v;
	size_t nr, cap;
};

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fail(-errno, "%s", path);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return fail_why(-EINVAL, "%s is not a regular file", path);
}

static int say_why(int err, const char *path, const char *refusal)
{
	if (err == -ENOTSUP && refusal)
		return fail_why(err, "%s: %s", path, refusal);
	if (err == -ENOEXEC)
		return fail_why(err, "%s is not an ELF file", path);
	if (err == -EBADMSG)
		return fail_why(err, "%s is a damaged or incomplete ELF file", path);
	if (err == -E2BIG)
		return fail_why(err, "%s: its table is larger than probee can use", path);
	return fail(err, "%s", path);
}

static int open_facts(const char *path, int fd, struct unwind_facts **f)
{
	const char *refusal = NULL;
	int err = unwind_facts_refusal_of(fd, &refusal);

	if (!err && refusal)
		err = -ENOTSUP;
	if (err)
		close(fd);
	else
		err = unwind_facts_open(fd, f);
	return err ? say_why(err, path, refusal) : 0;
}

static int add_place(struct places *l, const struct unwind_facts *f, const char *path,
		     uint64_t addr, uint64_t vaddr)
{
	struct unwind_place *p = array_push(&l->v, &l->nr, &l->cap);

	if (!p)
		return fail(-ENOMEM, "unwind-info");
	*p = (struct unwind_place){ f, path, addr, vaddr };
	return 0;
}

/* ---- A file ---- */

static int add_word(struct places *l, const struct unwind_facts *f, const char *path,
		    const char *word)
{
	uint64_t at[MAX_SAME_NAME];
	size_t nr = unwind_facts_places(f, word, at, MAX_SAME_NAME);
	int err = 0;

	if (!nr)
		return fail_why(
			-ENOENT, "%s: no function '%s'%s", path, word,
			f->has_symtab
				? ""
				: " among those with names; others are only known by address");
	for (size_t i = 0; !err && i < nr && i < MAX_SAME_NAME; i++) {
		if (unwind_facts_is_code(f, at[i]))
			err = add_place(l, f, NULL, at[i], at[i]);
		else
			err = fail_why(-ERANGE, "%s: 0x%" PRIx64 " is outside its code", path,
				       at[i]);
	}
	return err;
}

/* Closes fd. */
static int show_file(const char *path, int fd, char **words, int nr,
		     const struct unwind_info_args *args)
{
	struct unwind_facts *f = NULL;
	struct places l = { 0 };
	int err = open_facts(path, fd, &f), bad = 0;

	for (int i = 0; !err && i < nr; i++) {
		int one = add_word(&l, f, path, words[i]);

		if (one)
			bad = one;
	}
	if (!err && args->json)
		unwind_json(path, f, 0, NULL, l.v, l.nr, args);
	else if (!err && (!nr || args->rows))
		unwind_text_file(path, f, args);
	if (!err && !args->json)
		unwind_text_places(l.v, l.nr);
	if (!err && !f->rows.nr)
		bad = fail_why(
			-ENODATA,
			"%s has no unwind tables. Try: build it with -fasynchronous-unwind-tables",
			path);
	unwind_facts_close(f);
	free(l.v);
	return err ? err : bad;
}

/* ---- A process ---- */

static int add_address(struct places *l, const struct mapped_binaries *m, pid_t pid, uint64_t addr)
{
	uint64_t vaddr;
	const struct mapped_binary *b = mapped_binaries_find(m, addr, &vaddr);

	if (!b)
		return fail_why(-ERANGE, "process %d: 0x%" PRIx64 " is in no executable mapping",
				pid, addr);
	if (!b->facts)
		return fail_why(-ENODATA, "process %d: 0x%" PRIx64 " is in %s: %s", pid, addr,
				b->path, unwind_info_why(b));
	return add_place(l, b->facts, b->path, addr, vaddr);
}

/* Adds the functions of this name in all binaries. */
static int add_names(struct places *l, const struct mapped_binaries *m, pid_t pid, const char *word)
{
	size_t before = l->nr;
	int err = 0;

	for (size_t i = 0; !err && i < m->nr; i++) {
		const struct mapped_binary *b = &m->v[i];
		uint64_t at[MAX_SAME_NAME];
		size_t nr = b->facts ? unwind_facts_named(b->facts, word, at, MAX_SAME_NAME) : 0;

		for (size_t k = 0; !err && k < nr && k < MAX_SAME_NAME; k++)
			err = add_place(l, b->facts, b->path, mapped_binaries_addr(m, b, at[k]),
					at[k]);
	}
	if (!err && l->nr == before)
		err = fail_why(-ENOENT, "process %d: no function '%s' in its binaries", pid, word);
	return err;
}

static int add_process_word(struct places *l, const struct mapped_binaries *m, pid_t pid,
			    const char *word)
{
	uint64_t addr;

	if (!strncasecmp(word, "0x", 2) && parse_hex(word, &addr))
		return add_address(l, m, pid, addr);
	return add_names(l, m, pid, word);
}

static int open_process(pid_t pid, struct mapped_binaries *m)
{
	int err = mapped_binaries_read(pid, m);

	if (err == -ESRCH)
		return fail_why(err, "there is no process %d", pid);
	if (err == -EACCES || err == -EPERM)
		return fail_try(err, "run it as root, or as the user of the process", "process %d",
				pid);
	if (err)
		return fail(err, "process %d", pid);
	if (!m->nr)
		return fail_why(
			-ENODATA,
			"process %d has no memory of its own: a kernel thread, or it is exiting",
			pid);
	return 0;
}

static int show_process(pid_t pid, char **words, int nr, const struct unwind_info_args *args)
{
	struct mapped_binaries m = { 0 };
	struct places l = { 0 };
	/* Files are opened and read in turn, so what opening takes is kept. */
	uint64_t kept = recording_rights_of(ROLE_OPENER, capabilities_effective());
	int err = shut_in_with(kept, true) ?: open_process(pid, &m), bad = 0;

	for (int i = 0; !err && i < nr; i++) {
		int one = add_process_word(&l, &m, pid, words[i]);

		if (one)
			bad = one;
	}
	if (!err && args->json)
		unwind_json(NULL, NULL, pid, &m, l.v, l.nr, args);
	else if (!err && !nr)
		unwind_text_process(pid, &m);
	if (!err && !args->json)
		unwind_text_places(l.v, l.nr);
	mapped_binaries_release(&m);
	free(l.v);
	return err ? err : bad;
}

/* ---- The command ---- */

static bool is_fit(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *refusal = NULL;
	bool fit = fd >= 0 && !unwind_facts_refusal_of(fd, &refusal) && !refusal;

	if (fd >= 0)
		close(fd);
	return fit;
}

/* Looks for a program or a library of this name. A descriptor, or -errno after a message. */
static int open_found(const char *word, char found[PATH_MAX])
{
	struct binary_search s = { "", getenv("PATH"), secure_getenv("LD_LIBRARY_PATH"), is_fit };

	if (!find_binary(&s, word, found))
		return fail_why(-ENOENT,
				"%s is no file here, in $PATH or in the directories of the loader",
				word);
	note("%s is %s", word, found);
	return open_regular(found);
}

/*
 * A word without a slash that names no file here is looked for. A file that the user named is
 * opened with the user's rights, and nothing else is.
 */
static int show_named(char **words, int nr, const struct unwind_info_args *args)
{
	bool is_path = strchr(words[0], '/') || !access(words[0], F_OK);
	int fd = is_path ? open_regular(words[0]) : 0, err = fd < 0 ? fd : shut_in(false);
	char found[PATH_MAX];

	if (err)
		return err;
	if (!is_path)
		fd = open_found(words[0], found);
	return fd < 0 ? fd : show_file(is_path ? words[0] : found, fd, words + 1, nr - 1, args);
}

/* A word of digits is a process. A file with such a name can be written as ./1234. */
static bool is_pid(const char *word, pid_t *pid)
{
	uint64_t n = 0;

	if (!*word || strlen(word) > 9 || strspn(word, "0123456789") != strlen(word))
		return false;
	n = strtoull(word, NULL, 10);
	*pid = (pid_t)n;
	return true;
}

static int run(const struct command_table *all, int nr, char **words,
	       const struct unwind_info_args *args)
{
	pid_t pid;
	int err;

	if (!is_pid(words[0], &pid)) {
		err = show_named(words, nr, args);
	} else if (args->rows && !args->json) {
		fail_why(0, "--rows needs a file, not a process");
		return command_usage(all, "unwind-info");
	} else {
		err = show_process(pid, words + 1, nr - 1, args);
		if (err == -EACCES || err == -EPERM)
			return EXIT_CANNOT;
	}
	if (err)
		fail_if_silent(err, "unwind-info %s", words[0]);
	return err ? EXIT_FAILED : EXIT_OK;
}

#define AT(field) offsetof(struct unwind_info_args, field)

static const struct opt options[] = {
	{ 0, "rows", NULL,
	  "all rows of the table, as readelf --debug-dump=frames-interp shows them", opt_flag,
	  AT(rows), NULL, "Options", NULL },
	{ 'n', "top", "N",
	  "at most N gaps and N rules that are not supported; 0: all (default 10, JSON all)",
	  opt_u32, AT(top), NULL, NULL, NULL },
	{ 0, "json", NULL, "as JSON, for scripts", opt_flag, AT(json), NULL, NULL, NULL },
};

int cmd_unwind_info(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]), NULL };
	struct unwind_info_args args = { .top = UINT32_MAX };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);

	if (opt_is_help(nr))
		return command_help(all, "unwind-info", nr, &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (nr)
		return run(all, nr, argv + 1, &args);
	fail_why(-EINVAL, "unwind-info needs an ELF file or a process");
	return command_usage(all, "unwind-info");
}
