/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations of anybody's making: every text ends within the file, every mistake has a place in it, and one without
 * mistakes has values within the limits that the messages name.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/agent/agent_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const uint8_t *data, size_t size)
{
	size_t nr = 1;

	for (size_t i = 0; i < size; i++)
		nr += data[i] == '\n';
	return nr;
}

static void check_mistakes(const struct agent_mistakes *m, const uint8_t *data, size_t size)
{
	size_t nr = m->nr < AGENT_MISTAKES ? m->nr : AGENT_MISTAKES, lines = count_lines(data, size);

	for (size_t i = 0; i < nr; i++) {
		const struct agent_mistake *e = &m->v[i];

		if (!e->line || e->line > lines || !e->column || e->column > size + 1 ||
		    !memchr(e->text, 0, sizeof(e->text)) || !e->text[0])
			__builtin_trap();
	}
}

static void check_target(const struct agent_target *t, size_t size)
{
	if (!t->name[0] || !t->url || strlen(t->url) > size || strlen(t->service) > size ||
	    strlen(t->bearer_file) > size || strlen(t->protocol) > size)
		__builtin_trap();
	for (size_t i = 0; i < t->headers.nr; i++)
		if (!strchr(t->headers.v[i], '=') || strlen(t->headers.v[i]) > size)
			__builtin_trap();
	for (size_t i = 0; i < t->labels.nr; i++)
		if (!strchr(t->labels.v[i], '=') || strlen(t->labels.v[i]) > size)
			__builtin_trap();
}

static void check_config(const struct agent_config *c, size_t size)
{
	if (!(c->freq_hz >= 0.1 && c->freq_hz <= 1000) || !(c->scan_hz >= 0 && c->scan_hz <= 10) ||
	    c->window_ns < 1000000000 || !(c->budget >= 0 && c->budget <= 1) || c->limit_bytes < 1000000 ||
	    c->folder[0] != '/' || strlen(c->options) > size || c->nr_targets > AGENT_TARGETS)
		__builtin_trap();
	for (size_t i = 0; i < c->nr_targets; i++)
		check_target(&c->targets[i], size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_mistakes m;
	struct agent_config c;
	int err;

	if (size > AGENT_CONFIG_BYTES)
		return 0;
	err = agent_config_parse((const char *)data, size, &c, &m);
	if (!err)
		check_config(&c, size);
	else if (err == -EINVAL && !m.nr)
		__builtin_trap();
	check_mistakes(&m, data, size);
	agent_config_release(&c);
	return 0;
}
