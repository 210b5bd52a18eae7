/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/report_many.h"

#include <errno.h>
#include <stdio.h>

#include "formats/render/output_list.h"
#include "formats/render/row_table.h"
#include "src/base/fail.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/commands/command.h"
#include "src/commands/report_options.h"
#include "src/commands/shut_in.h"
#include "src/commands/trace_list.h"
#include "src/report/report.h"

/* The exit code of the command so far: a failure outweighs a loss. */
static int worse(int a, int b)
{
	return a == EXIT_FAILED || b == EXIT_FAILED ? EXIT_FAILED : a ? a : b;
}

struct many {
	const struct report_options *show;
	struct row_table table;
	struct intern *ids;		/* of the recordings so far */
};

/* A merged trace beside those that it was made of, or the same one twice. */
static int note_recordings(struct many *m, const struct report *rep)
{
	uint32_t nr = report_info(rep)->nr_segments;
	bool is_twice = false;

	for (uint32_t i = 0; i < nr; i++) {
		const struct recording_facts *f = report_recording(rep, i);
		uint32_t known = intern_count(m->ids), id;

		if (!f || !*f->id)
			continue;
		id = intern_str(m->ids, f->id);
		if (id == IX_NONE)
			return -ENOMEM;
		is_twice |= id < known;
	}
	if (is_twice)
		fail_why(0, "%s: a recording in it was in a trace before it, too, so its samples "
			    "are in the table twice", report_path(rep));
	return 0;
}

static int add_rows(struct many *m, struct report *rep)
{
	int err = note_recordings(m, rep);

	if (!err && report_emptiness(rep))
		note("%s %s", report_path(rep), report_emptiness(rep));
	if (!err)
		err = row_table_add(&m->table, rep, &m->show->render);
	if (*report_warning(rep))
		fail_why(0, "%s: losses: %s", report_path(rep), report_warning(rep));
	return err;
}

static int add_trace(struct many *m, const char *path, int fd)
{
	const struct report_options *show = m->show;
	struct report *rep = NULL;
	int code = EXIT_OK, err;

	err = fd >= 0 ? report_open_fd(fd, path, &show->query, &rep)
		      : report_open(path, &show->query, &rep);
	if (err == -ENODATA)	/* it has no samples of this event, which was said; others may */
		return EXIT_OK;
	if (!err)
		err = add_rows(m, rep);
	if (err)
		fail_if_silent(err, "report %s", path);
	if (err)
		code = EXIT_FAILED;
	else if (show->strict && report_has_loss(rep))
		code = EXIT_LOSS;
	report_close(rep);
	return code;
}

int report_many(const struct report_options *show, const struct output_list *outputs,
		struct trace_list *traces, uint64_t *rows)
{
	struct many m = { .show = show, .ids = intern_new() };
	bool has_all = trace_list_open(traces);
	int code = EXIT_OK;

	if (!m.ids || shut_in(has_all) || row_table_open(&m.table, outputs)) {
		intern_free(m.ids);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < traces->nr && !row_table_is_over(&m.table); i++)
		code = worse(code, add_trace(&m, traces->v[i], trace_list_take(traces, i)));
	report_options_tell(show);
	if (!code && !m.table.rows && !row_table_is_over(&m.table)) {
		fail_why(-ENODATA, "none of the %zu traces has samples that were asked for",
			 traces->nr);
		code = EXIT_FAILED;
	}
	*rows = m.table.rows;
	intern_free(m.ids);
	return row_table_close(&m.table) ? EXIT_FAILED : code;
}
