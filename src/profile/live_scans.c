/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How rows are shown while the recording goes on, in the order in which the trace will have them.
 *
 * The order is the problem. The trace writer sorts the samples of each chunk by time, and a sample
 * that is delivered late may fall into a later chunk than its neighbours. So rows must be sorted
 * between the same limits as in the file, which are the ends of chunks and the REPEATs:
 *
 *	record		row 5, row 3, REPEAT of threads a and b, row 9, row 8, end of chunk
 *	rows, in order	3, 5, a's and b's last rows once more, 8, 9
 *
 * The rows stand in one array with three parts:
 *
 *	[0, first)		handed out; their memory is reused when it is half of the array
 *	[first, sorted)		in the order of the file, not handed out yet
 *	[sorted, nr_rows)	as they came since the last end of a chunk or REPEAT
 *
 * A scan has ended when its receipt is in a closed chunk: a receipt stands after all samples of its
 * chunk, so no row of the scan is still to come. An ended scan notes where its rows end, the time
 * of its latest row and the number of frames defined so far. It waits until a CLOCK record of a
 * later time dates its rows and until all these frames are named. Scans are handed out in their
 * order, and a frame keeps its name, so the cursor "named" passes over each frame once.
 *
 * Limits: a scan whose names take long holds back all later ones. A scan waits for all frames that
 * were defined before its chunk ended, also for those that only other samples use.
 */
#include "src/profile/live_scans.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/sample_order.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/report/state_words.h"
#include "src/report/wall_clock.h"

/* A scan whose receipt has come, in a closed chunk. */
struct ended_scan {
	size_t end;			/* index after that of its last row */
	uint64_t last_ns;		/* time of its latest row */
	uint32_t frames;		/* its rows use frames below this id only */
};

struct live_scans {
	struct definition_store *tables;
	struct wall_clock clock;
	/* [first, sorted): in the order of the file; [sorted, nr_rows): in the order of arrival */
	struct rec_sample *rows;
	size_t first, sorted, nr_rows, cap_rows;
	struct rec_sample *last;	/* by thread: its last row of a scan; .scan 0: none */
	size_t cap_last;
	struct ended_scan *scans;
	size_t nr_scans, cap_scans;
	size_t receipts;		/* SCAN records since the last end of a chunk */
	uint64_t last_ns;		/* time of the latest row so far */
	uint64_t clock_ns;		/* time of the last CLOCK */
	uint32_t named;			/* frames below this id are named, or never will be */
	bool no_names;			/* none will ever come */
	bool ended;
	char arch[32], host[256], kernel[256];
	struct recording_facts facts;	/* as far as META has told them */
	unsigned futex;			/* activity_futex() */
};

int live_scans_new(struct live_scans **lp)
{
	struct live_scans *l = calloc(1, sizeof(*l));

	*lp = NULL;
	if (l)
		l->tables = definition_store_new();
	if (!l || !l->tables) {
		live_scans_free(l);
		return -ENOMEM;
	}
	definition_store_fold(l->tables, FOLD_LOOPS);
	l->named = 1;
	l->facts = (struct recording_facts){ .trace = "", .host = l->host, .kernel = l->kernel,
					     .arch = l->arch };
	*lp = l;
	return 0;
}

void live_scans_free(struct live_scans *l)
{
	if (!l)
		return;
	definition_store_free(l->tables);
	wall_clock_release(&l->clock);
	free(l->rows);
	free(l->last);
	free(l->scans);
	free(l);
}

static int add_row(struct live_scans *l, const struct rec_sample *s)
{
	struct rec_sample *row = array_push(&l->rows, &l->nr_rows, &l->cap_rows);

	if (!row)
		return -ENOMEM;
	*row = *s;
	if (s->time_ns > l->last_ns)
		l->last_ns = s->time_ns;
	return 0;
}

/* Keeps the thread's last row of a scan for REPEATs. */
static int keep_last(struct live_scans *l, const struct rec_sample *s)
{
	if (!s->scan || !s->thread)
		return 0;
	if (array_reserve(&l->last, &l->cap_last, (size_t)s->thread + 1))
		return -ENOMEM;
	l->last[s->thread] = *s;
	return 0;
}

/* Sorts the rows since the last end of a chunk or REPEAT as the file will have them. */
static int sort_rows(struct live_scans *l)
{
	int err = samples_sort(l->rows + l->sorted, l->nr_rows - l->sorted);

	while (!err && l->sorted < l->nr_rows)
		err = keep_last(l, &l->rows[l->sorted++]);
	return err;
}

static int repeat_row(struct live_scans *l, const struct rec_repeat *r, uint32_t thread)
{
	struct rec_sample row;

	if (thread >= l->cap_last || !l->last[thread].scan)
		return 0;
	row = l->last[thread];
	row.time_ns = r->time_ns;
	row.scan = r->scan;
	return add_row(l, &row);
}

static int repeat_rows_of(struct live_scans *l, const struct rec_repeat *r)
{
	int err = sort_rows(l);

	for (uint32_t i = 0; i < r->nr_runs && !err; i++)
		for (uint32_t k = 0; k < r->runs[i].nr && !err; k++)
			err = repeat_row(l, r, r->runs[i].thread + k);
	l->sorted = l->nr_rows;	/* all have one time, and are the last rows of their threads */
	return err;
}

/* Keeps a value that fits. */
static void keep_value(const struct rec_meta *m, const char *key, char *text, size_t size)
{
	if (strcmp(m->key, key) || m->len >= size)
		return;
	memcpy(text, m->value, m->len);
	text[m->len] = 0;
}

static void keep_meta(struct live_scans *l, const struct rec_meta *m)
{
	if (!strcmp(m->key, "symbolize"))
		l->no_names = m->len == 4 && !memcmp(m->value, "none", 4);
	keep_value(m, "host", l->host, sizeof(l->host));
	keep_value(m, "kernel.release", l->kernel, sizeof(l->kernel));
	keep_value(m, "arch", l->arch, sizeof(l->arch));
	l->futex = activity_futex(l->arch);
}

int live_scans_record(void *live_scans, const struct record *rec)
{
	struct live_scans *l = live_scans;
	int err;

	if (rec->tag == REC_SAMPLE)
		return add_row(l, &rec->sample);
	if (rec->tag == REC_REPEAT)
		return repeat_rows_of(l, &rec->repeat);
	err = definition_store_record(l->tables, rec);
	if (err)
		return err;
	l->receipts += rec->tag == REC_SCAN;
	if (rec->tag == REC_META)
		keep_meta(l, &rec->meta);
	if (rec->tag != REC_CLOCK)
		return 0;
	l->clock_ns = rec->clock.mono_ns;
	return wall_clock_add(&l->clock, &rec->clock);
}

/* A receipt stands after all samples of its chunk in the file, so its scan has ended. */
int live_scans_chunk_end(void *live_scans)
{
	struct live_scans *l = live_scans;
	struct ended_scan *s;
	int err = sort_rows(l);

	if (err || !l->receipts)
		return err;
	s = array_push(&l->scans, &l->nr_scans, &l->cap_scans);
	if (!s)
		return -ENOMEM;
	*s = (struct ended_scan){ l->nr_rows, l->last_ns,
				  definition_store_id_end(l->tables, REC_FRAME) };
	l->receipts = 0;
	return 0;
}

void live_scans_end(struct live_scans *l)
{
	l->ended = true;
}

/* Frames of the kernel come with their names, and frames without a binary never get one. */
static bool waits_for_name(const struct live_scans *l, uint32_t frame)
{
	const struct rec_frame *rec = definition_store_find_frame(l->tables, frame);
	const struct table_symbol *sym = definition_store_find_symbol(l->tables, frame);

	return rec && (rec->kind == FRAME_USER || rec->flags & FRAME_RUNTIME) && rec->binary &&
	       !(sym && sym->known);
}

static bool has_names(struct live_scans *l, const struct ended_scan *s)
{
	while (l->named < s->frames && !waits_for_name(l, l->named))
		l->named++;
	return l->no_names || l->named >= s->frames;
}

static bool has_date(const struct live_scans *l, const struct ended_scan *s)
{
	return l->clock_ns >= s->last_ns;
}

bool live_scans_need_names(struct live_scans *l)
{
	return l->nr_scans && !has_names(l, &l->scans[0]);
}

/* Index after that of the last row that is ready. */
static size_t ready(struct live_scans *l)
{
	size_t end = l->first;

	if (l->ended)
		return l->sorted;
	for (size_t i = 0;
	     i < l->nr_scans && has_date(l, &l->scans[i]) && has_names(l, &l->scans[i]); i++)
		end = l->scans[i].end;
	return end;
}

static int give(struct live_scans *l, const struct rec_sample *rec, report_sample_fn fn, void *ctx)
{
	struct report_sample rs = { .rec = rec, .tables = l->tables, .futex = l->futex,
				    .facts = &l->facts };

	rs.thread = definition_store_find_thread(l->tables, rec->thread);
	rs.process =
		rs.thread ? definition_store_find_process(l->tables, rs.thread->process) : NULL;
	rs.real_ns = wall_clock_real(&l->clock, rec->time_ns);
	return fn(ctx, &rs);
}

/*
 * Frees the memory of rows and scans that were handed out. All rows to come are later than they
 * are.
 */
static void forget(struct live_scans *l)
{
	size_t done = 0;

	assert(l->first <= l->sorted && l->sorted <= l->nr_rows);
	while (done < l->nr_scans && l->scans[done].end <= l->first)
		done++;
	if (done) {
		wall_clock_forget(&l->clock, l->scans[done - 1].last_ns);
		l->nr_scans -= done;
		memmove(l->scans, l->scans + done, l->nr_scans * sizeof(*l->scans));
	}
	if (l->first < l->nr_rows - l->first)
		return;		/* moving the rest would cost more than it frees */
	l->nr_rows -= l->first;
	l->sorted -= l->first;
	memmove(l->rows, l->rows + l->first, l->nr_rows * sizeof(*l->rows));
	for (size_t i = 0; i < l->nr_scans; i++)
		l->scans[i].end -= l->first;
	l->first = 0;
}

long live_scans_rows(struct live_scans *l, size_t max, report_sample_fn fn, void *ctx)
{
	size_t end = ready(l), begin = l->first, nr;
	int err = 0;

	assert(begin <= end && end <= l->sorted);
	if (end - begin > max)
		end = begin + max;
	while (l->first < end && !err)
		err = give(l, &l->rows[l->first++], fn, ctx);
	nr = l->first - begin;
	if (nr)
		forget(l);
	return err ? err : (long)nr;
}

size_t live_scans_waiting(const struct live_scans *l)
{
	return l->nr_rows - l->first;
}

const char *live_scans_arch(const struct live_scans *l)
{
	return l->arch;
}
