/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the samples of several recordings are counted by event.
 *
 * A sample names its event by an EVENT id, which means something in its own recording (segment)
 * only. What recordings have in common is the event's name and unit:
 *
 *	segment 0	EVENT 1 "cpu-clock" ns, EVENT 2 "page-faults" count
 *	segment 1	EVENT 1 "page-faults" count, EVENT 2 "cpu-clock" ns
 *	events		"cpu-clock" {0, 1} {1, 2}, "page-faults" {0, 2} {1, 1}
 *
 * A slot {segment, EVENT id} -> event is filled when the first sample with the id comes, by hashing
 * name and unit. All other samples find it by two array indexes. Events are in the order of their
 * first sample; those without samples follow when the samples have ended (trace_events_define()).
 *
 * The weight of a sample is its own or, when that is 0, the period of its event as this recording
 * states it. If a single sample of an event has neither, its weights do not add up to anything: the
 * event is counted then, its unit is "samples", and each sample weighs 1. This is known only after
 * the last sample, so trace_events_weigh() is for a second pass over the trace.
 *
 * Samples whose EVENT record was lost with a damaged chunk belong to one of two such counted
 * events: one for rows of scans, one for all others.
 *
 * Limits: equal names with different units stay different events (.shares_name; their labels show
 * the unit). Equal names and units are one event even if two recorders meant different things by
 * them.
 */
#include "src/report/trace_events.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/report/event_name.h"
#include "src/report/query.h"
#include "src/report/weight_text.h"

#define EVENT_NAME_MAX 60		/* bytes in a label */

int trace_events_init(struct trace_events *t)
{
	memset(t, 0, sizeof(*t));
	t->lost = t->lost_scans = NO_EVENT;
	t->names = intern_new();
	return t->names ? 0 : -ENOMEM;
}

void trace_events_release(struct trace_events *t)
{
	for (size_t i = 0; i < t->nr_segments; i++)
		free(t->segments[i].slots);
	free(t->segments);
	free(t->v);
	intern_free(t->names);
	ix_release(&t->index);
	memset(t, 0, sizeof(*t));
}

struct event_key {
	const struct trace_event *v;
	uint32_t name_id, unit_id;
};

static bool same_event(const void *ctx, uint32_t id)
{
	const struct event_key *k = ctx;

	return k->v[id].name_id == k->name_id && k->v[id].unit_id == k->unit_id;
}

/* The event of this name and unit, made if it is new. NO_EVENT: out of memory. */
static uint32_t event_of(struct trace_events *t, const char *name, const char *unit, uint8_t kind)
{
	struct event_key k = { .name_id = intern_str(t->names, name),
			       .unit_id = intern_str(t->names, unit) };
	uint64_t hash = hash_u64(0, (uint64_t)k.name_id << 32 | k.unit_id);
	struct trace_event *e;
	uint32_t id;

	if (k.name_id == IX_NONE || k.unit_id == IX_NONE)
		return NO_EVENT;
	k.v = t->v;
	id = ix_find(&t->index, hash, same_event, &k);
	if (id != IX_NONE)
		return id;
	e = array_push(&t->v, &t->nr, &t->cap);
	if (!e || ix_add(&t->index, hash, (uint32_t)t->nr - 1))
		return NO_EVENT;
	e->name_id = k.name_id;
	e->unit_id = k.unit_id;
	e->kind = kind;
	return (uint32_t)t->nr - 1;
}

static void note_rate(struct trace_event *e, const struct rec_event *rec)
{
	if (!e->freq_mhz && !e->period) {
		e->freq_mhz = rec->freq_mhz;
		e->period = rec->period;
	}
	e->varies |= e->freq_mhz != rec->freq_mhz || (!e->freq_mhz && e->period != rec->period);
}

static struct event_slot *slot_at(struct trace_events *t, uint32_t segment, uint32_t id)
{
	struct event_segment *s;

	if (segment >= t->nr_segments) {
		if (array_reserve(&t->segments, &t->cap_segments, (size_t)segment + 1))
			return NULL;
		t->nr_segments = (size_t)segment + 1;
	}
	s = &t->segments[segment];
	return array_reserve(&s->slots, &s->cap_slots, (size_t)id + 1) ? NULL : &s->slots[id];
}

/* Fills the slot of an EVENT record. */
static int resolve(struct trace_events *t, uint32_t segment, const struct definition_store *tables,
		   const struct rec_event *rec)
{
	struct event_slot *slot = slot_at(t, segment, rec->id);
	uint32_t event;

	if (slot && slot->event)
		return 0;
	event = slot ? event_of(t, definition_store_string(tables, rec->name, NULL),
				definition_store_string(tables, rec->unit, NULL), rec->kind)
		     : NO_EVENT;
	if (event == NO_EVENT)
		return -ENOMEM;
	*slot = (struct event_slot){ event + 1, rec->period };
	if (!t->v[event].id)
		t->v[event].id = rec->id;
	note_rate(&t->v[event], rec);
	return 0;
}

static const struct event_slot *find_slot(const struct trace_events *t, uint32_t segment,
					  uint32_t id)
{
	const struct event_segment *s = segment < t->nr_segments ? &t->segments[segment] : NULL;

	return s && id < s->cap_slots && s->slots[id].event ? &s->slots[id] : NULL;
}

bool trace_events_has(const struct trace_events *t, uint32_t segment, uint32_t id)
{
	return find_slot(t, segment, id);
}

static uint32_t lost_event(const struct trace_events *t, const struct rec_sample *rec)
{
	return rec->scan ? t->lost_scans : t->lost;
}

static int add_lost(struct trace_events *t, const struct rec_sample *rec, uint64_t nr)
{
	uint32_t *lost = rec->scan ? &t->lost_scans : &t->lost;

	if (*lost == NO_EVENT)
		*lost = event_of(t, rec->scan ? "[unknown snapshot]" : "[unknown event]", "samples",
				 rec->scan ? EVENT_SNAPSHOT : EVENT_KINDS);
	if (*lost == NO_EVENT)
		return -ENOMEM;
	t->v[*lost].is_counted = true;
	t->v[*lost].samples += nr;
	return 0;
}

int trace_events_sample(struct trace_events *t, uint32_t segment,
			const struct definition_store *tables, const struct rec_sample *rec,
			uint64_t nr)
{
	const struct event_slot *slot = find_slot(t, segment, rec->event);
	const struct rec_event *def;
	struct trace_event *e;
	uint64_t weight;

	if (!slot) {
		def = definition_store_find_event(tables, rec->event);
		if (!def)
			return add_lost(t, rec, nr);
		if (resolve(t, segment, tables, def))
			return -ENOMEM;
		slot = find_slot(t, segment, rec->event);
	}
	assert(slot && slot->event <= t->nr);
	e = &t->v[slot->event - 1];
	weight = rec->weight ? rec->weight : slot->period;
	e->samples += nr;
	e->weight = weight_sum(e->weight, weight_times(weight, nr));
	e->is_counted |= !weight;
	return 0;
}

int trace_events_define(struct trace_events *t, uint32_t segment,
			const struct definition_store *tables)
{
	uint32_t end = definition_store_id_end(tables, REC_EVENT);
	int err = 0;

	for (uint32_t id = 1; id < end && !err; id++) {
		const struct rec_event *rec = definition_store_find_event(tables, id);

		err = rec ? resolve(t, segment, tables, rec) : 0;
	}
	return err;
}

static bool same_name(const void *ctx, uint32_t id)
{
	const struct event_key *k = ctx;

	return k->v[id].name_id == k->name_id;
}

/* Marks events that share their name with another one. */
static void mark_namesakes(struct trace_events *t)
{
	struct hash_index names = { 0 };

	for (uint32_t i = 0; i < t->nr; i++) {
		struct event_key k = { t->v, t->v[i].name_id, 0 };
		uint32_t first = ix_find(&names, hash_u64(0, k.name_id), same_name, &k);

		if (first != IX_NONE)
			t->v[i].shares_name = t->v[first].shares_name = true;
		else if (ix_add(&names, hash_u64(0, k.name_id), i))
			break;		/* out of memory: only a label is less exact */
	}
	ix_release(&names);
}

/* What intern_get() gives does not stay where it is when a string is added. */
static void get_names(struct trace_events *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct trace_event *e = &t->v[i];

		e->name = intern_get(t->names, e->name_id, NULL);
		e->unit = e->is_counted ? "samples" : intern_get(t->names, e->unit_id, NULL);
	}
}

void trace_events_end(struct trace_events *t)
{
	get_names(t);
	for (size_t i = 0; i < t->nr; i++)
		if (t->v[i].is_counted)
			t->v[i].weight = t->v[i].samples;
	mark_namesakes(t);
}

uint32_t trace_events_weigh(const struct trace_events *t, uint32_t segment,
			    const struct rec_sample *rec, uint64_t *weight)
{
	const struct event_slot *slot = find_slot(t, segment, rec->event);
	uint32_t event = slot ? slot->event - 1 : lost_event(t, rec);

	*weight = 1;
	if (slot && !t->v[event].is_counted)
		*weight = rec->weight ? rec->weight : slot->period;
	assert(event == NO_EVENT || event < t->nr);
	if (event != NO_EVENT && t->v[event].joined)
		event = t->v[event].joined - 1;
	return event;
}

/* ---- the choice ---- */

bool trace_event_has_lengths(const struct trace_event *e)
{
	return !strcmp(e->unit, "ns") && !e->period && !e->freq_mhz && !e->varies;
}

const char *trace_event_label(const struct trace_event *e, char buf[EVENT_LABEL_MAX])
{
	char name[EVENT_NAME_MAX + 1];

	event_name_cut(e->name, strlen(e->name), EVENT_NAME_MAX, name);
	if (!e->shares_name)
		snprintf(buf, EVENT_LABEL_MAX, "%s", name);
	else
		snprintf(buf, EVENT_LABEL_MAX, "%s (%.30s)", name, e->unit);
	return buf;
}

void trace_events_list(const struct trace_events *t, bool with_samples, uint32_t but, char *out,
		       size_t size)
{
	char label[EVENT_LABEL_MAX];
	size_t len = 0;

	out[0] = 0;
	for (uint32_t i = 0; i < t->nr && len + 1 < size; i++) {
		if (i == but || !t->v[i].samples == with_samples)
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
					trace_event_label(&t->v[i], label));
	}
}

static bool suits_weight(const struct trace_event *e, enum query_weight weight)
{
	switch (weight) {
	case WEIGHT_CPU: return event_is_cpu_time(e->kind);
	case WEIGHT_WALL: return event_is_wall_time(e->kind);
	case WEIGHT_ANY: break;
	}
	return true;
}

/*
 * Whether an event is called so: by its name, by its label, or as after -e, where the name of its
 * kind may be short (t:sched:sched_switch) or missing (sched:sched_switch).
 */
static bool is_called(const struct trace_event *e, const char *name)
{
	const char *colon = strchr(name, ':');
	char label[EVENT_LABEL_MAX];
	size_t kind = strcspn(e->name, ":"), len = colon ? (size_t)(colon - name) : 0;

	if (!strcmp(name, e->name) || !strcmp(name, trace_event_label(e, label)))
		return true;
	if (!colon || !e->name[kind])
		return false;
	if (!strcmp(name, e->name + kind + 1))
		return true;
	return len == 1 && *name == *e->name && !strcmp(colon, e->name + kind);
}

/*
 * The first suitable event with samples, else the first suitable one; NO_EVENT: none is suitable.
 */
static uint32_t first_event(const struct trace_events *t, const char *name,
			    enum query_weight weight)
{
	uint32_t found = NO_EVENT;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct trace_event *e = &t->v[i];

		if (!suits_weight(e, weight) || (name && !is_called(e, name)))
			continue;
		if (e->samples)
			return i;
		if (found == NO_EVENT)
			found = i;
	}
	return found;
}

static bool has_samples(const struct trace_events *t, uint32_t event)
{
	return event != NO_EVENT && t->v[event].samples;
}

/* No event is what was asked for, or one that has no samples. */
int trace_events_refuse(const struct trace_events *t, const struct query *q, const char *path,
			uint32_t event)
{
	static const char *const weights[] = {
		[WEIGHT_ANY] = "", [WEIGHT_CPU] = "cpu", [WEIGHT_WALL] = "wall",
	};
	const char *option = q->event ? "event" : "weight",
		   *value = q->event ? q->event : weights[q->weight];
	char label[EVENT_LABEL_MAX], there[512], why[128];

	trace_events_list(t, true, NO_EVENT, there, sizeof(there));
	snprintf(why, sizeof(why), "%s",
		 q->event ? "there is no such event" : "no event measured that");
	if (event != NO_EVENT)
		snprintf(why, sizeof(why), "%s was recorded but has no samples",
			 trace_event_label(&t->v[event], label));
	if (*there)
		return fail_why(-ENODATA, "%s: --%s %s: %s. There are samples of: %s", path, option,
				value, why, there);
	return fail_why(-ENODATA, "%s: --%s %s: %s. The trace has no samples at all", path, option,
			value, why);
}

/*
 * The event with samples that has the least EVENT id, or the first event at all. Ids are in the
 * order in which the user named the events, while the first sample comes by chance. Events
 * whose record was lost have no id and come last.
 */
static uint32_t first_defined(const struct trace_events *t)
{
	uint32_t found = NO_EVENT;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->v[i].samples &&
		    (found == NO_EVENT || t->v[i].id - 1 < t->v[found].id - 1))
			found = i;
	return found == NO_EVENT ? first_event(t, NULL, WEIGHT_ANY) : found;
}

int trace_events_choose(const struct trace_events *t, const struct query *q, uint32_t *chosen)
{
	bool asked = q && (q->event || q->weight != WEIGHT_ANY);

	if (asked) {
		*chosen = first_event(t, q->event, q->event ? WEIGHT_ANY : q->weight);
		return has_samples(t, *chosen) ? 0 : -ENODATA;
	}
	*chosen = first_event(t, NULL, WEIGHT_CPU);
	if (!has_samples(t, *chosen))
		*chosen = first_defined(t);
	return 0;
}

/* ---- several as one ---- */

static bool is_name(const struct trace_events *t, const char *name)
{
	return first_event(t, name, WEIGHT_ANY) != NO_EVENT;
}

/* Adds event number i to the last one. */
static int join(struct trace_events *t, uint32_t i, struct byte_buf *name, const char *path)
{
	struct trace_event *all = &t->v[t->nr - 1], *e = &t->v[i];

	if (all->unit && strcmp(all->unit, e->unit))
		return fail_why(-EINVAL, "%s: --event: %s counts %s and %.*s %s, which are not "
				"added. Try: one of them", path, e->name, e->unit, (int)name->nr,
				(const char *)name->v, all->unit);
	if (!name->nr)
		all->kind = e->kind;
	else if (all->kind != e->kind)
		all->kind = EVENT_SCHED;	/* neither CPU time nor rows of scans */
	if (name->nr)
		bb_bytes(name, " + ", 3);
	bb_bytes(name, e->name, strlen(e->name));
	all->unit = e->unit;
	all->unit_id = e->unit_id;
	all->is_counted = e->is_counted;
	all->samples += e->samples;
	all->weight = all->weight > UINT64_MAX - e->weight ? UINT64_MAX : all->weight + e->weight;
	e->samples = e->weight = 0;
	e->joined = (uint32_t)t->nr;
	return name->bad ? -ENOMEM : 0;
}

/* Copies the next name of a list with commas. false: there is none. */
static bool next_name(const char **p, char name[EVENT_LABEL_MAX])
{
	size_t len;

	*p += strspn(*p, ",");
	len = strcspn(*p, ",");
	snprintf(name, EVENT_LABEL_MAX, "%.*s", (int)len, *p);
	*p += len;
	return len;
}

static int check_names(const struct trace_events *t, const char *list, const char *path)
{
	char name[EVENT_LABEL_MAX];
	struct query one = { .event = name };

	for (const char *p = list; next_name(&p, name);)
		if (!is_name(t, name))
			return trace_events_refuse(t, &one, path, NO_EVENT);
	return 0;
}

static int join_all(struct trace_events *t, const char *list, const char *path,
		    struct byte_buf *text)
{
	char name[EVENT_LABEL_MAX];
	int err = 0;

	for (const char *p = list; !err && next_name(&p, name);) {
		uint32_t i = first_event(t, name, WEIGHT_ANY);

		if (i != NO_EVENT && !t->v[i].joined)
			err = join(t, i, text, path);
	}
	bb_bytes(text, "", 1);
	return err ? err : text->bad ? -ENOMEM : 0;
}

int trace_events_join(struct trace_events *t, const struct query *q, const char *path,
		      uint32_t *joined)
{
	struct byte_buf text = { 0 };
	struct trace_event *all;
	int err;

	*joined = NO_EVENT;
	if (!q || !q->event || !strchr(q->event, ',') || is_name(t, q->event))
		return 0;
	err = check_names(t, q->event, path);
	if (err)
		return err;
	all = array_push(&t->v, &t->nr, &t->cap);
	if (!all)
		return -ENOMEM;
	*all = (struct trace_event){ .name = "", .id = UINT32_MAX };
	err = join_all(t, q->event, path, &text);
	if (!err) {
		all = &t->v[t->nr - 1];
		all->name_id = intern_str(t->names, (const char *)text.v);
		if (all->name_id == IX_NONE)
			err = -ENOMEM;
		get_names(t);
		*joined = (uint32_t)t->nr - 1;
	}
	bb_release(&text);
	return err;
}
