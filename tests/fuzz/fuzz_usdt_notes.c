/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as notes of USDT probes: what comes out are whole texts within them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/probes/usdt_arguments.h"
#include "src/probes/usdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const char *begin, *end;
};

static void check_text(const struct bytes *b, const char *text)
{
	if (text < b->begin || text >= b->end || !memchr(text, 0, (size_t)(b->end - text)) ||
	    strlen(text) >= USDT_TEXT_MAX)
		abort();
}

static int check(void *ctx, const struct usdt_note *note)
{
	const struct bytes *b = ctx;
	struct probe_argument v[USDT_ARGUMENTS];

	check_text(b, note->provider);
	check_text(b, note->name);
	check_text(b, note->arguments);
	usdt_name_matches("a*:b-c", note);
	if (usdt_arguments_parse(note->arguments, v) > USDT_ARGUMENTS)
		abort();
	for (size_t i = 0; i < USDT_ARGUMENTS; i++)
		if (v[i].kind > ARGUMENT_MEMORY || (v[i].kind && (!v[i].size || v[i].size > 8)))
			abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { (const char *)data, (const char *)data + size };

	return usdt_notes_each(data, size, check, &b) ? -1 : 0;
}
