/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/io.h"

#define MAX_CPU 65536

/* Reads the CPU number at p and returns its end; NULL: there is none, or it is too high. */
static const char *number(const char *p, uint32_t *out)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*p))
		return NULL;
	v = strtoul(p, &end, 10);
	*out = (uint32_t)v;
	return v < MAX_CPU ? end : NULL;
}

static int add_range(struct cpu_list *l, uint32_t first, uint32_t last)
{
	for (; first <= last; first++) {
		uint32_t *v = array_push(&l->v, &l->nr, &l->cap);

		if (!v)
			return -ENOMEM;
		*v = first;
	}
	return 0;
}

/* "N" or "N-M", with commas between. */
static int parse_ranges(const char *p, struct cpu_list *out)
{
	uint32_t first, last;
	int err;

	for (;; p++) {
		p = number(p, &first);
		last = first;
		if (p && *p == '-')
			p = number(p + 1, &last);
		if (!p || last < first)
			return -EINVAL;
		err = add_range(out, first, last);
		if (err || *p != ',')
			break;
	}
	return err ? err : *p == 0 || !strcmp(p, "\n") ? 0 : -EINVAL;
}

int cpus_parse(const char *text, struct cpu_list *out)
{
	size_t n = 0;
	int err;

	memset(out, 0, sizeof(*out));
	err = parse_ranges(text, out);
	if (err) {
		cpus_release(out);
		return err;
	}
	qsort(out->v, out->nr, sizeof(*out->v), compare_u32);
	for (size_t i = 0; i < out->nr; i++) {
		if (!i || out->v[i] != out->v[n - 1])
			out->v[n++] = out->v[i];
	}
	out->nr = n;
	return 0;
}

int cpus_online(struct cpu_list *out)
{
	char *text;
	int err;

	memset(out, 0, sizeof(*out));
	if (io_read_file("/sys/devices/system/cpu/online", &text, 65536) >= 0) {
		err = cpus_parse(text, out);
		free(text);
		if (!err)
			return 0;
	}
	/* No /sys: take them to be numbered from 0. */
	for (long i = 0, n = sysconf(_SC_NPROCESSORS_ONLN); i < n; i++) {
		uint32_t *v = array_push(&out->v, &out->nr, &out->cap);

		if (!v)
			return -ENOMEM;
		*v = (uint32_t)i;
	}
	return 0;
}

void cpus_release(struct cpu_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

bool cpus_has(const struct cpu_list *l, uint32_t cpu)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i] == cpu)
			return true;
	return false;
}

void cpus_text(const struct cpu_list *l, char *out, size_t size)
{
	size_t n = 0, last;

	out[0] = 0;
	for (size_t i = 0; i < l->nr && n < size; i = last + 1) {
		for (last = i; last + 1 < l->nr && l->v[last + 1] == l->v[last] + 1;)
			last++;
		n += (size_t)snprintf(out + n, size - n, last > i ? "%s%u-%u" : "%s%u",
				      i ? "," : "", l->v[i], l->v[last]);
	}
}
