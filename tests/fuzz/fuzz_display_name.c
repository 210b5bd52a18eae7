/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for people: never longer than they were, and what is short is not made shorter again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/profile/display_name.h"
#include "src/profile/short_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Exactly as much memory as is promised to be enough. */
	char *in = malloc(size + !size), *out = malloc(size + !size), *form;
	size_t n;

	if (size > 65536 || !in || !out) {
		free(in);
		free(out);
		return 0;
	}
	memcpy(in, data, size);
	n = display_name(out, in, size);
	if (n > size || !n != !size)
		__builtin_trap();
	form = malloc(n + !n);
	for (unsigned i = 0; form && i < SHORT_FORMS_ALL; i++)
		if (short_name(form, out, n, i) > n)
			__builtin_trap();
	free(form);
	free(in);
	free(out);
	return 0;
}
