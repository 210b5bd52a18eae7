/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mangled names: every one must be done, capped and clean within a moment. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "src/symbolize/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int (*demangler)(const char *sysname, struct byte_buf *out), const char *name)
{
	struct byte_buf out = { 0 };
	int done = demangler(name, &out);

	if (done < 0 || out.nr > DEMANGLE_MAX_OUT + DEMANGLE_MAX_IN + 1)
		__builtin_trap();
	if (done ? strlen((char *)out.v) + 1 > out.nr : out.nr != 0)
		__builtin_trap();
	bb_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const heads[] = {
		"_Z", "_R", "_ZN", "_RN", "_D", "_ada_", "_ZN1AcvT_I", "_Z1fIDp",
	};
	char name[DEMANGLE_MAX_IN + 64] = "";
	size_t at;

	if (size < 1 || size > DEMANGLE_MAX_IN + 32)
		return 0;
	at = (size_t)sprintf(name, "%s", heads[data[0] & 7]);
	memcpy(name + at, data + 1, size - 1);
	name[at + size - 1] = 0;
	check(demangle, name);
	check(demangle_bare, name);
	check(demangle_ada, name);
	demangle_lang(name);
	return 0;
}
