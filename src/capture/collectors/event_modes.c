/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/event_modes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/collectors/event_table.h"

int event_modes_parse(const struct opt *o, const char *name, const char *text, size_t len,
		      struct event_spec *e)
{
	bool user = false, kernel = false;
	uint8_t precise = 0;

	for (size_t i = 0; i < len; i++) {
		user |= text[i] == 'u';
		kernel |= text[i] == 'k';
		precise += text[i] == 'p';
	}
	if (!len || strspn(text, "ukp") < len || precise > 3)
		return fail_why(-EINVAL, "--%s %s:%.*s: no such mode. Try: :u (programs), :k (the "
				"kernel), :pp (exact places)", o->name, name, (int)len, text);
	e->no_user = kernel && !user;
	e->no_kernel = user && !kernel;
	e->precise = precise;
	return 0;
}
