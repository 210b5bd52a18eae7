/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/patience.h"

#include "src/base/clock.h"

bool patience_lasts(struct patience *p)
{
	if ((p->until_ns && now_ns() >= p->until_ns) || (p->hurry && p->hurry(p->ctx)))
		p->is_over = true;
	return !p->is_over;
}
