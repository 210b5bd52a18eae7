/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "formats/render/renderer.h"

extern const struct renderer renderer_svg, renderer_collapse, renderer_csv, renderer_json,
	renderer_text, renderer_waits, renderer_waits_json;

const struct renderer *const renderers[] = {
	&renderer_svg,	&renderer_collapse, &renderer_csv,	  &renderer_json,
	&renderer_text, &renderer_waits,    &renderer_waits_json, NULL,
};

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; renderers[i]; i++) {
		if (!strcmp(renderers[i]->name, name))
			return renderers[i];
	}
	return NULL;
}

/* True if word is among words, which are separated by spaces. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = words; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (n == len && !strncmp(p, word, n))
			return true;
		p += n;
	}
	return false;
}

const struct renderer *renderer_of_file(const char *file)
{
	const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');

	if (!dot || dot == file || (slash && dot <= slash + 1))
		return NULL;
	for (size_t i = 0; renderers[i]; i++) {
		if (has_word(renderers[i]->suffixes, dot))
			return renderers[i];
	}
	return NULL;
}
