/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/report_subject.h"

#include <stdio.h>
#include <string.h>

#include "src/model/definition_store.h"
#include "src/report/report.h"

void report_subject_sample(struct report_subject *s, const struct report_sample *sample)
{
	const char *comm;

	if (s->several || (sample->process && sample->process == s->process))
		return;
	s->process = sample->process;
	comm = definition_store_string(sample->tables,
				       sample->process ? sample->process->comm : 0, NULL);
	if (!*comm || (*s->comm && strncmp(s->comm, comm, sizeof(s->comm) - 1)))
		s->several = true;
	else if (!*s->comm)
		snprintf(s->comm, sizeof(s->comm), "%s", comm);
}

/* With one of these the command only says how long to record. */
static bool has_other_target(const char *argv, const char *end)
{
	static const char *const options[] = { " -p", " --pid", " -a", " --all", " -t ", " --tid" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *at = strstr(argv, options[i]);

		if (at && at < end)
			return true;
	}
	return false;
}

/* The word after " -- " without its folder; *len is 0 if there is none. */
static const char *command_of(const char *argv, size_t *len)
{
	const char *word = strstr(argv, " -- "), *slash;

	*len = 0;
	if (!word || has_other_target(argv, word))
		return argv;
	word += 4;
	*len = strcspn(word, " ");
	slash = memrchr(word, '/', *len);
	if (!slash || slash + 1 == word + *len)
		return word;
	*len -= (size_t)(slash + 1 - word);
	return slash + 1;
}

/* The command of all recordings; "" if one has none, or two have different ones. */
static void put_command(const struct report *rep, char *out, size_t size)
{
	size_t nr;
	const struct report_meta_item *metas = report_metas(rep, &nr);

	out[0] = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct report_meta_item *m = &metas[i];
		size_t len;
		const char *word = strcmp(m->key, "argv") ? NULL : command_of(m->value, &len);

		if (!word)
			continue;
		if (!len || (*out && (strlen(out) != len || memcmp(out, word, len)))) {
			out[0] = 0;
			return;
		}
		snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), word);
	}
}

void report_subject_text(const struct report_subject *s, const struct report *rep, char *out,
			 size_t size)
{
	const char *host = report_meta(rep, "host", NULL);

	put_command(rep, out, size);
	if (!*out && !s->several)
		snprintf(out, size, "%s", s->comm);
	if (!*out && host)
		snprintf(out, size, "%s", host);
}
