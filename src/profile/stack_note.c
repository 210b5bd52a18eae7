/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/stack_note.h"

#include <stdio.h>

#include "src/model/definition_store.h"
#include "src/model/record.h"
#include "src/waits/idle.h"

const char *stack_note(unsigned end, bool has_frames, char buf[STACK_NOTE_MAX])
{
	const char *name = stack_end_name(end);

	if (end == END_UNKNOWN || end == END_KTHREAD || end == END_FP_END || stack_end_is_root(end))
		return NULL;
	if (!has_frames || end == END_TRUNCATED || end == END_TORN || end == END_RUNNING)
		snprintf(buf, STACK_NOTE_MAX, "[%s]", name);
	else
		snprintf(buf, STACK_NOTE_MAX, "[truncated: %s]", name);
	return buf;
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
