/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/trace_summary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/report/cpu_check.h"

/* A trace may hold any number of these, of any size; more than this is not read by a person. */
#define MAX_NOTES 1000
#define MAX_METAS 10000
#define MAX_TEXT_BYTES (16u << 20)

void trace_summary_init(struct trace_summary *r)
{
	memset(r, 0, sizeof(*r));
}

void trace_summary_release(struct trace_summary *r)
{
	for (size_t i = 0; i < r->nr_metas; i++)
		free((char *)r->metas[i].key);
	for (size_t i = 0; i < r->nr_notes; i++)
		free((char *)r->notes[i].text);
	free(r->metas);
	free(r->notes);
	stack_tally_release(&r->stacks);
	memset(r, 0, sizeof(*r));
}

static bool has_room(struct trace_summary *r, size_t len)
{
	if (len > MAX_TEXT_BYTES - r->text_bytes)
		return false;
	r->text_bytes += len;
	return true;
}

static int add_meta(struct trace_summary *r, uint32_t segment, const struct rec_meta *m)
{
	size_t key_len = strlen(m->key);
	struct report_meta_item *item;
	char *copy;

	if (r->nr_metas >= MAX_METAS || !has_room(r, key_len + m->len))
		return 0;
	copy = malloc(key_len + 1 + m->len + 1);
	item = copy ? array_push(&r->metas, &r->nr_metas, &r->cap_metas) : NULL;
	if (!item) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, m->key, key_len + 1);
	if (m->len)
		memcpy(copy + key_len + 1, m->value, m->len);
	copy[key_len + 1 + m->len] = 0;
	*item = (struct report_meta_item){ copy, copy + key_len + 1, m->len, segment };
	return 0;
}

void trace_summary_forget_meta(struct trace_summary *r, const char *key)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_metas; i++) {
		struct report_meta_item *item = &r->metas[i];

		if (strcmp(item->key, key)) {
			r->metas[nr++] = *item;
			continue;
		}
		assert(r->text_bytes >= strlen(item->key) + item->len);
		r->text_bytes -= strlen(item->key) + item->len;
		free((char *)item->key);
	}
	r->nr_metas = nr;
}

static uint32_t count_cpus(const struct rec_meta *m)
{
	char list[256];
	size_t len = m->len < sizeof(list) ? m->len : 0;

	memcpy(list, m->value, len);
	list[len] = 0;
	return cpu_list_count(list);
}

static int add_note(struct trace_summary *r, uint32_t segment, const struct rec_note *n)
{
	struct report_note *note;
	char *copy;

	if (r->nr_notes >= MAX_NOTES || !has_room(r, n->len))
		return 0;
	copy = malloc(n->len + 1);
	note = copy ? array_push(&r->notes, &r->nr_notes, &r->cap_notes) : NULL;
	if (!note) {
		free(copy);
		return -ENOMEM;
	}
	if (n->len)
		memcpy(copy, n->text, n->len);
	copy[n->len] = 0;
	*note = (struct report_note){ n->severity, n->time_ns, segment, copy, n->len };
	return 0;
}

/*
 * Called when the rows of another scan begin: the rows of a scan stand together, while a receipt
 * may stand after the rows of several scans.
 */
static void end_runnable(struct trace_summary *r)
{
	struct report_scans *w = &r->info.scans;
	uint32_t cpus = r->info.online_cpus;

	if (r->scan) {
		w->busy_cpus += r->scan_runnable < cpus ? r->scan_runnable : cpus;
		w->busy_scans++;
	}
	r->scan = r->scan_runnable = 0;
}

static void count_runnable(struct trace_summary *r, uint32_t scan, uint64_t nr)
{
	uint64_t room = UINT32_MAX - r->scan_runnable;

	if (scan != r->scan) {
		end_runnable(r);
		room = UINT32_MAX;
	}
	r->scan = scan;
	r->scan_runnable += (uint32_t)(nr < room ? nr : room);
}

void trace_summary_repeat(struct trace_summary *r, uint32_t scan, uint64_t runnable)
{
	count_runnable(r, scan, runnable);
}

void trace_summary_end(struct trace_summary *r)
{
	end_runnable(r);
}

void trace_summary_unread(struct trace_summary *r, uint64_t nr)
{
	r->info.samples += nr;
}

int trace_summary_stacks(struct trace_summary *r, uint32_t segment,
			 const struct definition_store *tables, const struct rec_sample *s,
			 uint64_t nr)
{
	struct report_info *info = &r->info;

	info->seen += nr;
	info->ends[s->end < STACK_ENDS ? s->end : STACK_ENDS] += nr;
	info->guessed += s->flags & SAMPLE_HAS_GUESS ? nr : 0;
	info->kernel_truncated += s->flags & SAMPLE_KERNEL_TRUNCATED ? nr : 0;
	info->late += s->flags & SAMPLE_LATE ? nr : 0;
	info->user_stacks += stack_end_has_stack(s->end) ? nr : 0;
	info->roots += stack_end_is_root(s->end) ? nr : 0;
	return stack_tally_add_many(&r->stacks, segment, tables, s, nr);
}

int trace_summary_again(struct trace_summary *r, uint32_t segment,
			const struct definition_store *tables, const struct rec_sample *s,
			uint64_t nr)
{
	r->info.samples += nr;
	r->info.scan_rows += s->scan ? nr : 0;
	return r->leaves_stacks ? 0 : trace_summary_stacks(r, segment, tables, s, nr);
}

static int add_sample(struct trace_summary *r, uint32_t segment,
		      const struct definition_store *tables, const struct rec_sample *s)
{
	if (s->scan)
		count_runnable(r, s->scan,
			       s->state == TASK_RUNNING || s->state == TASK_RUNNABLE);
	return trace_summary_again(r, segment, tables, s, 1);
}

static void add_scan(struct report_scans *sum, const struct rec_scan *w)
{
	sum->count++;
	sum->tasks_seen += w->tasks_seen;
	sum->rows += w->rows;
	sum->skipped_idle_kthreads += w->skipped_idle_kthreads;
	sum->filtered += w->filtered;
	sum->read_faults += w->read_faults;
	sum->vanished += w->vanished;
	sum->on_cpu += w->on_cpu;
	sum->torn += w->torn;
	sum->hung += w->hung;
	sum->kernel_failed += w->kernel_failed;
	for (unsigned end = 0; end <= STACK_ENDS; end++)
		sum->ends[end] += w->ends[end];
	sum->duration_ns += w->duration_ns;
	if (w->duration_ns > sum->longest_ns)
		sum->longest_ns = w->duration_ns;
}

static void add_lost(struct report_info *info, const struct rec_lost *l)
{
	info->lost[l->cause < LOSS_CAUSES ? l->cause : LOSS_CAUSES] += l->count;
	info->lost_all += l->count;
	if (loss_is_samples(l->cause))
		info->lost_samples += l->count;
}

/* The END of a part counts for its part only. */
static void add_end(struct trace_summary *r, uint32_t segment, const struct rec_end *end)
{
	const struct rec_end before = r->info.end;

	r->info.end = *end;
	if (end_reason_goes_on(before.reason) && r->end_segment == segment) {
		r->info.end.samples += before.samples;
		r->info.end.scans += before.scans;
		r->info.end.lost += before.lost;
		r->info.end.unresolved += before.unresolved;
		r->info.end.cpu_time_ns += before.cpu_time_ns;
	}
	r->end_segment = segment;
}

int trace_summary_record(struct trace_summary *r, uint32_t segment,
			 const struct definition_store *tables, const struct record *rec)
{
	switch (rec->tag) {
	case REC_SAMPLE:
		return add_sample(r, segment, tables, &rec->sample);
	case REC_META:
		if (!strcmp(rec->meta.key, "cpus.online"))
			r->info.online_cpus = count_cpus(&rec->meta);
		return add_meta(r, segment, &rec->meta);
	case REC_NOTE:
		return add_note(r, segment, &rec->note);
	case REC_SCAN:
		add_scan(&r->info.scans, &rec->scan);
		break;
	case REC_LOST:
		add_lost(&r->info, &rec->lost);
		break;
	case REC_END:
		add_end(r, segment, &rec->end);
		break;
	case REC_CLOCK:
	case REC_STRING:
	case REC_BINARY:
	case REC_PROCESS:
	case REC_THREAD:
	case REC_THREADNAME:
	case REC_TASKEV:
	case REC_MAPPING:
	case REC_FRAME:
	case REC_NODE:
	case REC_FUNC:
	case REC_SYMBOL:
	case REC_PLACE:
	case REC_EVENT:
	case REC_RAWSTACK:
	case REC_REPEAT:
		break;
	}
	return 0;
}
