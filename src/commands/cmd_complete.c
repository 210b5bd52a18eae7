/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probee complete KIND [WORD]: prints the words that can complete WORD, one a line. It serves
 * tools/completion.bash; users need not know of it, so no help names it.
 *
 * KIND is what --help shows after an option (PIDS, EVENTS, cpu|wall), COMMAND for commands, or
 * SUFFIX:svg for the files of a report. The words of a kind come from the tables with which the
 * options themselves are checked. An unknown kind has no words.
 */
#include "src/commands/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/csv/csv_columns.h"
#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/capture/collectors/event_table.h"
#include "src/model/record.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"
#include "src/profile/fold_roots.h"
#include "src/rights/capabilities.h"

struct completion {
	const struct command_table *all;
	const char *kept, *word;	/* in "12,13,4": "12,13," stays, and "4" is completed */
	size_t kept_len;
};

static void offer(const struct completion *c, const char *candidate, size_t len)
{
	if (len >= strlen(c->word) && !strncmp(candidate, c->word, strlen(c->word)))
		printf("%.*s%.*s\n", (int)c->kept_len, c->kept, (int)len, candidate);
}

static void offer_text(const struct completion *c, const char *candidate)
{
	offer(c, candidate, strlen(candidate));
}

static void put_commands(const struct completion *c)
{
	for (const struct command *k = NULL; (k = command_next(c->all, k));) {
		if (k->summary)
			offer_text(c, k->name);
	}
	offer_text(c, "help");
}

static void put_events(const struct completion *c)
{
	for (const struct event_type *t = event_types; t->name; t++)
		offer_text(c, t->name);
}

static void put_states(const struct completion *c)
{
	for (unsigned s = TASK_STATE_UNKNOWN + 1; s < TASK_STATES; s++)
		offer_text(c, task_state_name(s));
}

static void put_marks(const struct completion *c)
{
	static const char *const words[] = { "kernel", "inline", "jit", "interpreted", "all",
					     "none" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		offer_text(c, words[i]);
}

/*
 * Offers a task whose number begins with the word; or one whose name begins with it, as in -p
 * fire<Tab>, where the number then replaces the name.
 */
static void offer_task(const struct completion *c, pid_t task)
{
	char number[16], comm[16];
	size_t len = strlen(c->word);

	snprintf(number, sizeof(number), "%d", task);
	if (!len || isdigit((unsigned char)c->word[0]))
		offer_text(c, number);
	else if (procfs_comm(task, comm, sizeof(comm)), !strncmp(comm, c->word, len))
		printf("%.*s%s\n", (int)c->kept_len, c->kept, number);
}

static int put_process(void *ctx, pid_t pid)
{
	offer_task(ctx, pid);
	return 0;
}

static void put_processes(const struct completion *c)
{
	procfs_each_process(put_process, (void *)c);
}

static int offer_thread(void *ctx, pid_t tid)
{
	offer_task(ctx, tid);
	return 0;
}

static int put_process_threads(void *ctx, pid_t pid)
{
	process_tasks_each(pid, offer_thread, ctx);
	return 0;
}

static void put_threads(const struct completion *c)
{
	procfs_each_process(put_process_threads, (void *)c);
}

static void put_cpus(const struct completion *c)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < nr; cpu++) {
		char number[24];

		snprintf(number, sizeof(number), "%ld", cpu);
		offer_text(c, number);
	}
}

/* Offers each part of a text such as "cpu|wall". */
static void put_parts(const struct completion *c, const char *parts, const char *separators)
{
	for (size_t len; *parts; parts += len + (parts[len] != 0)) {
		len = strcspn(parts, separators);
		offer(c, parts, len);
	}
}

static void put_levels(const struct completion *c)
{
	put_parts(c, fold_by_names, "|");
}

static void put_users(const struct completion *c)
{
	const struct passwd *user;

	setpwent();
	while ((user = getpwent()))
		offer_text(c, user->pw_name);
	endpwent();
}

static void put_columns(const struct completion *c)
{
	offer_text(c, "all");
	offer_text(c, "sql");
	for (const struct csv_column *k = csv_columns; k->name; k++)
		offer_text(c, k->name);
}

static const struct {
	const char *kind;
	void (*put)(const struct completion *c);
	bool is_list;			/* a list with commas is allowed */
} kinds[] = {
	{ "COMMAND", put_commands, false },
	{ "PIDS", put_processes, true },
	{ "TIDS", put_threads, true },
	{ "CPUS", put_cpus, true },
	{ "USERS", put_users, true },
	{ "EVENTS", put_events, true },
	{ "EVENT", put_events, false },
	{ "STATES", put_states, true },
	{ "LEVELS", put_levels, true },
	{ "COLUMNS", put_columns, true },
	{ "MARKS", put_marks, true },
};

static struct completion split(const char *word, bool is_list)
{
	const char *comma = is_list ? strrchr(word, ',') : NULL;
	size_t kept = comma ? (size_t)(comma + 1 - word) : 0;

	return (struct completion){ .kept = word, .kept_len = kept, .word = word + kept };
}

static void complete(const struct command_table *all, const char *kind, const char *word)
{
	struct completion c = split(word, false);
	const struct renderer *r = NULL;

	if (!strncmp(kind, "SUFFIX:", 7))
		r = renderer_find(kind + 7);
	if (r && r->suffixes)
		put_parts(&c, r->suffixes, " ");
	else if (strchr(kind, '|'))
		put_parts(&c, kind, "|");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		c = split(word, kinds[i].is_list);
		c.all = all;
		if (!strcmp(kind, kinds[i].kind))
			kinds[i].put(&c);
	}
}

int cmd_complete(const struct command_table *all, int argc, char **argv)
{
	if (argc < 2) {
		fail_why(0, "usage: probee complete KIND [WORD]");
		return EXIT_USAGE;
	}
	/* It only looks, and the shell calls it with every Tab. */
	if (rights_drop_all())
		return EXIT_FAILED;
	complete(all, argv[1], argc > 2 ? argv[2] : "");
	return EXIT_OK;
}
