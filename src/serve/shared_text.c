/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/shared_text.h"

#include <assert.h>
#include <stdlib.h>

struct shared_text *shared_text_take(char *bytes, size_t len)
{
	struct shared_text *t = malloc(sizeof(*t));

	if (t)
		*t = (struct shared_text){ .references = 1, .len = len, .bytes = bytes };
	else
		free(bytes);
	return t;
}

struct shared_text *shared_text_hold(struct shared_text *t)
{
	assert(!t || t->references);
	if (t)
		t->references++;
	return t;
}

void shared_text_drop(struct shared_text *t)
{
	assert(!t || t->references);
	if (!t || --t->references)
		return;
	free(t->bytes);
	free(t);
}
