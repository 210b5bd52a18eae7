/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/name_match.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define MATCH_LIMIT 100000	/* see stack_filter.c */

static bool is_function(const struct node *n)
{
	return !(n->flags & NODE_SYNTHETIC) && n->parent != NODE_NONE;
}

static bool mark_equal(const struct profile *p, const char *wanted, uint8_t *matches)
{
	size_t len = strlen(wanted), name_len;
	bool found = false;

	for (size_t i = 0; i < p->nr_nodes; i++) {
		const char *name = intern_get(p->names, p->nodes[i].name, &name_len);

		if (!is_function(&p->nodes[i]) || name_len != len || memcmp(name, wanted, len))
			continue;
		matches[p->nodes[i].name] = 1;
		found = true;
	}
	return found;
}

static bool mark_found(const struct profile *p, pcre2_code *code, pcre2_match_data *data,
		       pcre2_match_context *limits, uint8_t *matches)
{
	const uint8_t seen = 2;
	bool found = false;
	size_t len;

	for (size_t i = 0; i < p->nr_nodes; i++) {
		uint32_t id = p->nodes[i].name;
		const char *name;

		if (!is_function(&p->nodes[i]) || matches[id])
			continue;
		name = intern_get(p->names, id, &len);
		matches[id] = seen;
		if (pcre2_match(code, (PCRE2_SPTR)name, len, 0, 0, data, limits) < 0)
			continue;
		matches[id] = 1;
		found = true;
	}
	for (uint32_t id = 0; id < intern_count(p->names); id++)
		matches[id] = matches[id] == 1;
	return found;
}

static int match_regex(const struct profile *p, const char *option, const char *wanted,
		       uint8_t *matches)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *data;
	int error, err = -ENOMEM;
	PCRE2_SIZE at;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)wanted, PCRE2_ZERO_TERMINATED,
					 PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &at, NULL);

	if (!code) {
		pcre2_match_context_free(limits);
		return fail_why(-EINVAL, "--%s: no function is called '%s', and it is no regular "
				"expression", option, wanted);
	}
	data = pcre2_match_data_create_from_pattern(code, NULL);
	if (data && limits) {
		pcre2_set_match_limit(limits, MATCH_LIMIT);
		err = mark_found(p, code, data, limits, matches) ? 0 : -ENODATA;
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(limits);
	pcre2_code_free(code);
	return err;
}

int name_match(const struct profile *p, const char *option, const char *wanted, uint8_t **matches)
{
	int err = 0;

	*matches = calloc((size_t)intern_count(p->names) + 1, 1);
	if (!*matches)
		return -ENOMEM;
	if (!mark_equal(p, wanted, *matches))
		err = match_regex(p, option, wanted, *matches);
	if (err == -ENODATA)
		fail_why(err, "--%s: no function is called '%s'. Try: --text --top 100 for their "
			 "names, or a part of the name", option, wanted);
	if (err) {
		free(*matches);
		*matches = NULL;
	}
	return err;
}
