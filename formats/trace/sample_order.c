/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/sample_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/record.h"

struct sort_key {
	uint64_t time_ns;
	size_t at;			/* keeps rows of the same time in their order */
};

static int compare_keys(const void *va, const void *vb)
{
	const struct sort_key *a = va, *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static bool are_sorted(const struct rec_sample *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].time_ns < v[i - 1].time_ns)
			return false;
	return true;
}

int samples_sort(struct rec_sample *v, size_t n)
{
	struct sort_key *keys;
	struct rec_sample *copy;

	if (are_sorted(v, n))
		return 0;
	keys = malloc(n * sizeof(*keys));
	copy = malloc(n * sizeof(*copy));
	if (keys && copy) {
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct sort_key){ v[i].time_ns, i };
		qsort(keys, n, sizeof(*keys), compare_keys);
		memcpy(copy, v, n * sizeof(*copy));
		for (size_t i = 0; i < n; i++)
			v[i] = copy[keys[i].at];
	}
	free(keys);
	free(copy);
	return keys && copy ? 0 : -ENOMEM;
}
