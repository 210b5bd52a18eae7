/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/cpu_time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/io.h"

/* proc(5): user nice system idle iowait irq softirq steal; user and nice include guest times. */
enum { IDLE = 3, IOWAIT = 4, STEAL = 7, FIELDS = 8 };

int cpu_time_read(const char *path, struct cpu_time *out)
{
	uint64_t v[FIELDS] = { 0 };
	char *text;
	long n = io_read_file(path ? path : "/proc/stat", &text, 1 << 20);

	*out = (struct cpu_time){ 0 };
	if (n < 0)
		return (int)n;
	if (sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) < IOWAIT)
		n = -EBADMSG;
	free(text);
	/* Steal is left out: the host took that time, no task of this machine had it. */
	for (int i = 0; i < STEAL && n >= 0; i++) {
		out->all += v[i];
		out->busy += i == IDLE || i == IOWAIT ? 0 : v[i];
	}
	return n < 0 ? (int)n : 0;
}

double cpu_time_share(const struct cpu_time *from, const struct cpu_time *to)
{
	if (to->all <= from->all)
		return -1;
	return (double)(to->busy - from->busy) / (double)(to->all - from->all);
}
