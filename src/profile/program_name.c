/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/program_name.h"

#include <stdbool.h>
#include <string.h>

#include "src/model/definition_store.h"

#define DELETED " (deleted)"		/* behind a file that has no name any more */

const char *program_name(const struct definition_store *t, const struct rec_process *p,
			 size_t *len)
{
	const struct rec_binary *exe = p->exe ? definition_store_find_binary(t, p->exe) : NULL;
	const char *path = exe && exe->path ? definition_store_string(t, exe->path, len) : "";
	const char *slash = *path ? memrchr(path, '/', *len) : NULL;
	size_t tail = strlen(DELETED);

	if (slash) {
		*len -= (size_t)(slash + 1 - path);
		path = slash + 1;
		if (*len > tail && !memcmp(path + *len - tail, DELETED, tail))
			*len -= tail;
	}
	return slash && *len ? path : definition_store_string(t, p->comm, len);
}

static bool is_title(const char *text, size_t len)
{
	const char *blank = memchr(text, ' ', len);

	return blank && blank > text + 1 && blank[-1] == ':' && *text != '/';
}

const char *process_title(const struct definition_store *t, const struct rec_process *p,
			  size_t *len)
{
	const char *text = definition_store_string(t, p->cmdline, len);

	if (!is_title(text, *len))
		return definition_store_string(t, p->comm, len);
	while (*len && text[*len - 1] == ' ')
		--*len;
	if (*len > PROCESS_TITLE_BYTES)
		*len = PROCESS_TITLE_BYTES;
	return text;
}
