/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/kept_notes.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fail.h"

/* There is one for the process, as there is one standard error. */
static struct {
	pthread_mutex_t lock;
	char text[KEPT_NOTES][KEPT_NOTE_MAX];
	unsigned first, nr;		/* a ring */
	unsigned refused;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

void note_kept(const char *fmt, ...)
{
	char text[KEPT_NOTE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note("%s", text);
	pthread_mutex_lock(&kept.lock);
	if (kept.nr == KEPT_NOTES)
		kept.refused++;
	else
		strcpy(kept.text[(kept.first + kept.nr++) % KEPT_NOTES], text);
	pthread_mutex_unlock(&kept.lock);
}

bool kept_note_take(char text[KEPT_NOTE_MAX])
{
	bool is_some = true;

	pthread_mutex_lock(&kept.lock);
	if (kept.nr) {
		strcpy(text, kept.text[kept.first]);
		kept.first = (kept.first + 1) % KEPT_NOTES;
		kept.nr--;
	} else if (kept.refused) {
		snprintf(text, KEPT_NOTE_MAX, "%u more messages came too fast to be kept",
			 kept.refused);
		kept.refused = 0;
	} else {
		is_some = false;
	}
	pthread_mutex_unlock(&kept.lock);
	return is_some;
}
