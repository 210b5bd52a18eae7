/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/render/waits/wait_text.h"
#include "src/base/clock.h"
#include "src/model/definition_store.h"
#include "src/profile/program_name.h"
#include "src/report/weight_text.h"
#include "src/tui/tui_state.h"

const char *tui_percent(uint64_t part, uint64_t whole, char buf[16])
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	snprintf(buf, 16, "%.1f %%", share > 100 ? 100 : share);
	return buf;
}

const char *tui_points(uint64_t part, uint64_t whole, uint64_t before, uint64_t before_whole,
		       char buf[16])
{
	double now = whole ? 100.0 * (double)part / (double)whole : 0;
	double then = before_whole ? 100.0 * (double)before / (double)before_whole : 0;

	snprintf(buf, 16, "%+.1f", now - then);
	return buf;
}

const char *tui_clock(uint64_t ns, char buf[16])
{
	unsigned s = (unsigned)(ns / NSEC_PER_SEC);

	snprintf(buf, 16, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
	return buf;
}

const char *tui_process_name(const struct tui *t, uint32_t process, char buf[96])
{
	const struct definition_store *d = live_profile_tables(tui_live(t));
	const struct rec_process *p = definition_store_find_process(d, process);
	size_t len = 1;
	const char *name = p ? process_title(d, p, &len) : "?";

	if (p && !p->tgid)		/* stands for all of its name that have ended */
		snprintf(buf, 96, "%.*s (ended)", (int)len, name);
	else
		snprintf(buf, 96, "%.*s (%u)", (int)len, name, p ? p->tgid : 0);
	return buf;
}

const char *tui_span_text(uint64_t ns, char buf[16])
{
	uint64_t s = ns / NSEC_PER_SEC;

	if (s < 1)
		snprintf(buf, 16, "%u ms", (unsigned)(ns / NSEC_PER_MSEC));
	else if (s < 60)
		snprintf(buf, 16, "%u.%u s", (unsigned)s, (unsigned)(ns / 100000000 % 10));
	else if (s < 86400)
		snprintf(buf, 16, "%u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60),
			 (unsigned)(s % 60));
	else
		snprintf(buf, 16, "%u d", (unsigned)(s / 86400));
	return buf;
}

const char *tui_weight(const struct tui *t, uint64_t weight, char buf[96])
{
	_Static_assert(WEIGHT_TEXT_MAX <= 96, "buf");
	return weight_text(weight, t->profile->facts.unit, buf);
}

char *tui_waits_for(struct tui *t, const struct rec_sample *rec)
{
	const struct syscall_names *calls = tui_calls(t);
	char number[WAIT_CALL_MAX], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out && calls && rec->state != TASK_RUNNING && rec->state != TASK_RUNNABLE &&
	    !wait_put_object(live_profile_tables(tui_live(t)), calls, rec, out) && rec->syscall)
		fputs(wait_call_name(calls, rec, number), out);
	if (out && fclose(out))
		out = NULL;
	if (!out) {
		free(text);
		return NULL;
	}
	return text;
}
