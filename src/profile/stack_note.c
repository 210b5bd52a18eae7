/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/stack_note.h"

#include <stdio.h>
#include <string.h>

#include "src/model/definition_store.h"
#include "src/model/record.h"
#include "src/report/stack_cause.h"
#include "src/waits/idle.h"

#define CUT "truncated: "

/* Such a note tells nothing of whether there are frames. */
static bool stands_alone(unsigned end)
{
	return end == END_TRUNCATED || end == END_TORN || end == END_RUNNING;
}

const char *stack_note(unsigned end, bool has_frames, char buf[STACK_NOTE_MAX])
{
	const char *name = stack_end_name(end);

	if (end == END_UNKNOWN || end == END_KTHREAD || end == END_FP_END || stack_end_is_root(end))
		return NULL;
	if (!has_frames || stands_alone(end))
		snprintf(buf, STACK_NOTE_MAX, "[%s]", name);
	else
		snprintf(buf, STACK_NOTE_MAX, "[" CUT "%s]", name);
	return buf;
}

/* STACK_ENDS: there is none of that name. */
static unsigned end_of(const char *name, size_t len)
{
	unsigned end = 0;

	while (end < STACK_ENDS && (strlen(stack_end_name(end)) != len ||
				    memcmp(stack_end_name(end), name, len) != 0))
		end++;
	return end;
}

size_t stack_note_shown(const char *name, size_t len, char buf[STACK_NOTE_MAX])
{
	bool is_cut = false;
	const char *brief;
	unsigned end;

	if (len < 3 || len > STACK_NOTE_MAX || name[0] != '[' || name[len - 1] != ']')
		return 0;
	name++, len -= 2;
	if (len > strlen(CUT) && !memcmp(name, CUT, strlen(CUT))) {
		is_cut = true;
		name += strlen(CUT), len -= strlen(CUT);
	}
	end = end_of(name, len);
	brief = stack_cause_brief(end);
	/* Code without a name is [jit], too. */
	if (!brief || (end == END_JIT && !is_cut))
		return 0;
	return (size_t)snprintf(buf, STACK_NOTE_MAX, "[%s: %s]",
				is_cut || stands_alone(end) ? "cut" : "no stack", brief);
}

const char *stack_note_idle(unsigned idle, char buf[STACK_NOTE_MAX])
{
	snprintf(buf, STACK_NOTE_MAX, "[idle: %s]", idle_name(idle));
	return buf;
}

const char *stack_note_hidden(const struct definition_store *t, uint32_t ustack, uint32_t kstack)
{
	const char *of_user = definition_store_hidden(t, ustack);
	const char *of_kernel = definition_store_hidden(t, kstack);

	if ((ustack && !of_user) || (kstack && !of_kernel))
		return NULL;
	return of_user ? of_user : of_kernel;
}
