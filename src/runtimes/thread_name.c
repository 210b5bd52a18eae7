/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/thread_name.h"

#include "src/base/bisect.h"

struct runtime_thread_name *runtime_thread_name_of(struct runtime_thread_name *names, size_t nr,
						   uint32_t tid)
{
	size_t at = bisect(nr, i, names[i].tid < tid);

	return at < nr && names[at].tid == tid ? &names[at] : NULL;
}
