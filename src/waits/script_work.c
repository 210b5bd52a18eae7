/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/waits/script_work.h"

#include <string.h>

#include "src/model/definition_store.h"

/* A row of a function stands before that of its file. */
static const struct {
	const char *file;		/* below the folder of the library, "python3.11/" */
	const char *function;		/* without its class; NULL: all others */
	enum script_role role;
} rows[] = {
	{ "queue.py", "get", SCRIPT_WAITS },
	{ "queue.py", NULL, SCRIPT_PART },
	{ "concurrent/futures/thread.py", "_worker", SCRIPT_POOL },
	{ "concurrent/futures/process.py", "_process_worker", SCRIPT_POOL },
	{ "concurrent/futures/process.py", "wait_result_broken_or_wakeup", SCRIPT_POOL },
	{ "multiprocessing/pool.py", "worker", SCRIPT_POOL },
	{ "multiprocessing/pool.py", "_handle_workers", SCRIPT_POOL },
	{ "multiprocessing/pool.py", "_handle_tasks", SCRIPT_POOL },
	{ "multiprocessing/pool.py", "_handle_results", SCRIPT_POOL },
	{ "multiprocessing/pool.py", NULL, SCRIPT_PART },
	{ "multiprocessing/queues.py", "_feed", SCRIPT_POOL },
	{ "multiprocessing/queues.py", "get", SCRIPT_WAITS },
	{ "multiprocessing/queues.py", NULL, SCRIPT_PART },
	{ "multiprocessing/connection.py", NULL, SCRIPT_PART },
	{ "multiprocessing/synchronize.py", NULL, SCRIPT_PART },
	{ "selectors.py", NULL, SCRIPT_PART },
	{ "threading.py", "_bootstrap", SCRIPT_THREAD },
	{ "threading.py", NULL, SCRIPT_PART },
};

/* What stands behind the last folder of a path that is called python3.something, or NULL. */
static const char *in_library(const char *path)
{
	static const char folder[] = "/python3";
	const char *last = NULL;

	for (const char *at = path; (at = strstr(at, folder)); at++)
		last = at;
	last = last ? strchr(last + 1, '/') : NULL;
	return last ? last + 1 : NULL;
}

enum script_role script_role_of(const struct definition_store *t, const struct frame_view *v)
{
	const struct rec_func *f = v->func ? definition_store_find_func(t, v->func) : NULL;
	const char *file, *name;

	if (!f || f->lang != LANG_PYTHON)
		return SCRIPT_NONE;
	file = in_library(definition_store_string(t, f->file, NULL));
	name = strrchr(v->name, '.');
	name = name ? name + 1 : v->name;
	for (size_t i = 0; file && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(file, rows[i].file) &&
		    (!rows[i].function || !strcmp(name, rows[i].function)))
			return rows[i].role;
	return SCRIPT_OWN;
}
