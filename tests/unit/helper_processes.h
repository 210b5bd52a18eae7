/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper processes of a recording, for tests of what uses them.
 *
 *	helper_processes_start(&h)	h.opener and h.parsers; their processes start when asked
 *	helper_processes_end(&h)
 */
#pragma once

#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"

struct helper_processes {
	struct helper_keeper *keeper;
	struct file_opener *opener;
	struct parsers *parsers;
};

static inline void helper_processes_start(struct helper_processes *h)
{
	static const struct helper_kind *const kinds[] = {
		&file_opener_kind, &table_parser_kind, &name_parser_kind, &line_parser_kind,
	};
	const struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 4 };

	assert_int_equal(helper_keeper_new(&opts, &h->keeper), 0);
	assert_int_equal(file_opener_new(h->keeper, &h->opener), 0);
	assert_int_equal(parsers_new(h->keeper, h->opener, 2, &h->parsers), 0);
}

static inline void helper_processes_end(struct helper_processes *h)
{
	parsers_free(h->parsers);
	file_opener_free(h->opener);
	helper_keeper_free(h->keeper);
}
