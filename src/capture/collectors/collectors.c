/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of capture that there are, and their options. */
#include <errno.h>
#include <stdlib.h>

#include "src/base/fail.h"
#include "src/capture/collectors/collector.h"

#define COLLECTOR(NAME, name) extern const struct collector name##_collector;
#include "bpf/kinds.def"

const struct collector *const collectors[COLLECTORS + 1] = {
#define COLLECTOR(NAME, name) [COLLECTOR_##NAME] = &name##_collector,
#include "bpf/kinds.def"
};

int capture_options_init(struct capture_options *o)
{
	for (size_t i = 0; i < COLLECTORS; i++)
		o->own[i] = NULL;
	for (size_t i = 0; i < COLLECTORS; i++) {
		if (!collectors[i]->options_size)
			continue;
		o->own[i] = calloc(1, collectors[i]->options_size);
		if (!o->own[i])
			return fail(-ENOMEM, "options of %s", collectors[i]->name);
	}
	return 0;
}

void capture_options_release(struct capture_options *o)
{
	for (size_t i = 0; i < COLLECTORS; i++) {
		if (o->own[i] && collectors[i]->release)
			collectors[i]->release(o->own[i]);
		free(o->own[i]);
		o->own[i] = NULL;
	}
}
