/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/segment_head.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/live/live_profile.h"

enum { MOST_METAS = 1000 };	/* a recorder writes some dozens */

void segment_head_release(struct segment_head *h)
{
	for (size_t i = 0; i < h->nr; i++)
		free(h->v[i].key);
	free(h->v);
	memset(h, 0, sizeof(*h));
}

void segment_head_begin(struct segment_head *h)
{
	segment_head_release(h);
	h->is_open = true;
}

int segment_head_take(struct segment_head *h, const struct record *rec)
{
	const struct rec_meta *m = &rec->meta;
	struct head_meta *item;
	size_t len;

	if (rec->tag != REC_META || h->nr >= MOST_METAS) {
		h->is_open = false;
		return 0;
	}
	item = array_push(&h->v, &h->nr, &h->cap);
	if (!item)
		return -ENOMEM;
	len = strlen(m->key) + 1;
	item->len = m->len;
	item->key = calloc(1, len + m->len + 1);
	if (!item->key)
		return -ENOMEM;
	memcpy(item->key, m->key, len);
	if (m->len)
		memcpy(item->key + len, m->value, m->len);
	return 1;
}

static const char *value_of(const struct head_meta *m)
{
	return m->key + strlen(m->key) + 1;
}

static const char *find(const struct segment_head *h, const char *key)
{
	for (size_t i = h->nr; i-- > 0;)
		if (!strcmp(h->v[i].key, key))
			return value_of(&h->v[i]);
	return "";
}

/* The number of a part; the first one says none. 0: it is no number. */
static unsigned long part_of(const char *text)
{
	char *end;
	unsigned long nr = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;

	if (!text[0])
		return 1;
	return nr && !*end ? nr : 0;
}

bool segment_head_follows(const struct segment_head *h, const struct live_profile *l)
{
	static const char *const same[] = { "host", "boot_id", "argv" };

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(find(h, same[i]), live_profile_meta(l, same[i])))
			return false;
	return part_of(find(h, "recording.part")) >
		       part_of(live_profile_meta(l, "recording.part")) &&
	       part_of(find(h, "recording.part")) > 1;
}

int segment_head_give(const struct segment_head *h, record_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < h->nr && !err; i++) {
		struct record rec = { .tag = REC_META };

		rec.meta = (struct rec_meta){ h->v[i].key, value_of(&h->v[i]), h->v[i].len };
		err = fn(ctx, &rec);
	}
	return err;
}
