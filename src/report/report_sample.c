/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/report_sample.h"

bool report_sample_tgid(const struct report_sample *s, uint32_t *tgid)
{
	*tgid = s->process ? s->process->tgid : 0;
	return s->process || (s->thread && !s->thread->tid);
}
