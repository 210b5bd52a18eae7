/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "formats/render/renderer.h"

/* One line each: additions merge cleanly. */
extern const struct renderer renderer_svg;
extern const struct renderer renderer_html;
extern const struct renderer renderer_collapse;
extern const struct renderer renderer_csv;
extern const struct renderer renderer_json;
extern const struct renderer renderer_ndjson;
extern const struct renderer renderer_text;
extern const struct renderer renderer_dump;
extern const struct renderer renderer_waits;
extern const struct renderer renderer_waits_json;
extern const struct renderer renderer_pprof;
extern const struct renderer renderer_speedscope;
extern const struct renderer renderer_firefox;
extern const struct renderer renderer_perf_script;
extern const struct renderer renderer_callgrind;

/* In the order of --help. */
const struct renderer *const renderers[] = {
	&renderer_svg,
	&renderer_html,
	&renderer_text,
	&renderer_dump,
	&renderer_waits,
	&renderer_waits_json,
	&renderer_collapse,
	&renderer_json,
	&renderer_csv,
	&renderer_ndjson,
	&renderer_pprof,
	&renderer_speedscope,
	&renderer_firefox,
	&renderer_perf_script,
	&renderer_callgrind,
	NULL,
};

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; renderers[i]; i++) {
		if (!strcmp(renderers[i]->name, name))
			return renderers[i];
	}
	return NULL;
}

size_t renderer_suffix_len(const struct renderer *r, const char *file)
{
	size_t len = strlen(file), longest = 0;

	for (const char *p = r->suffixes; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (n < len && n > longest && !memcmp(file + len - n, p, n) &&
		    file[len - n - 1] != '/')
			longest = n;
		p += n;
	}
	return longest;
}

/* A renderer whose files have names that begin as this one does; NULL: there is none. */
static const struct renderer *renderer_of_beginning(const struct renderer *const table[],
						    const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	for (size_t i = 0; table[i]; i++) {
		const char *prefix = table[i]->prefix;

		if (prefix && !strncmp(name, prefix, strlen(prefix)))
			return table[i];
	}
	return NULL;
}

const struct renderer *renderer_of_file(const char *file)
{
	return renderer_of_file_in(renderers, file);
}

const struct renderer *renderer_of_file_in(const struct renderer *const table[], const char *file)
{
	const struct renderer *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; table[i]; i++) {
		size_t len = renderer_suffix_len(table[i], file);

		if (len > longest)
			found = table[i];
		longest = len > longest ? len : longest;
	}
	return found ? found : renderer_of_beginning(table, file);
}
