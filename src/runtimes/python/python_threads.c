/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python/python_threads.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/cached_memory.h"
#include "src/runtimes/python/python_dicts.h"
#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/python/python_strings.h"
#include "src/runtimes/thread_name.h"

#define MAX_INTERPRETERS 16
#define MAX_READS (1u << 18)		/* of one look */

static const char MAIN[] = "MainThread";

/* Thread-3, Thread-3 (work), Dummy-1. */
static bool is_made_up(const char *name)
{
	static const char *const begins[] = { "Thread-", "Dummy-" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		const size_t len = strlen(begins[i]);

		if (!strncmp(name, begins[i], len) && isdigit((unsigned char)name[len]))
			return true;
	}
	return false;
}

static void take_name(struct python_reader *r, uint64_t thread, struct runtime_thread_name *n)
{
	uint64_t at = python_attribute(r, thread, "_name");

	if (n->is_found || python_string_read(r->l, &r->m, at, RUNTIME_THREAD_BYTES, &n->name))
		return;
	n->is_found = true;
	n->is_made_up = is_made_up(n->name);
	if (*n->name && strcmp(n->name, MAIN))
		return;
	free(n->name);
	n->name = NULL;
}

/* What the value of an entry of _active tells. */
static void take_thread(struct python_reader *r, uint64_t thread,
			struct runtime_thread_name *names, size_t nr)
{
	uint32_t tid = python_small_int(r, python_attribute(r, thread, "_native_id"));
	struct runtime_thread_name *n = tid ? runtime_thread_name_of(names, nr, tid) : NULL;

	if (n)
		take_name(r, thread, n);
}

static void take_interpreter(struct python_reader *r, uint64_t interpreter,
			     struct runtime_thread_name *names, size_t nr)
{
	const uint64_t modules = python_read_word(r, interpreter + r->l->interpreter_modules);
	const uint64_t module = python_dict_value(r, modules, "threading");
	const uint64_t globals = module ? python_read_word(r, module + r->l->module_dict) : 0;
	const struct python_keys k = python_dict_keys(r, python_dict_value(r, globals, "_active"));

	for (uint64_t i = 0; i < k.nr && r->reads_left && !k.values; i++) {
		const struct python_entry e = python_entry_of(r, &k, i);

		if (e.value)
			take_thread(r, e.value, names, nr);
	}
}

int python_thread_names(const struct python_layout *l, const struct target_memory *m, uint64_t head,
			struct runtime_thread_name *names, size_t nr)
{
	struct cached_memory *c = cached_memory_new(m);
	struct python_reader r = { .l = l, .reads_left = MAX_READS };
	uint64_t interpreter;

	if (!c)
		return -ENOMEM;
	r.m = *cached_memory_view(c);
	interpreter = python_read_word(&r, head);
	for (unsigned i = 0; interpreter && i < MAX_INTERPRETERS; i++) {
		take_interpreter(&r, interpreter, names, nr);
		interpreter = python_read_word(&r, interpreter + l->interpreter_next);
	}
	cached_memory_free(c);
	/* Objects that were gone by then cannot be read; their threads are asked about again. */
	return r.err == -EFAULT ? 0 : r.err;
}
