#include "src/profile/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/chunk_decoder.h"
#include "formats/trace/trace_layout.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/profile/wall_clock.h"

/* A walk whose receipt has come. */
struct followed_scan {
	size_t end;			/* index of the row behind its last one */
	uint64_t last_ns;		/* time of its latest row */
	uint32_t frames;		/* it uses frames below this id */
};

struct follow {
	struct chunk_decoder decoder;
	struct definition_store *tables;
	struct wall_clock clock;
	struct rec_sample *rows;
	size_t first, nr_rows, cap_rows;	/* rows before first were handed out */
	struct followed_scan *scans;
	size_t nr_scans, cap_scans;
	uint64_t last_ns;		/* the latest row so far */
	uint64_t clock_ns;		/* of the last CLOCK */
	uint32_t named;			/* frames below this id have their names, or get none */
	bool ended;
	int err;
	char arch[32];
};

int follow_new(struct follow **fp)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (f)
		f->tables = definition_store_new();
	if (!f || !f->tables) {
		follow_free(f);
		return -ENOMEM;
	}
	chunk_decoder_begin_segment(&f->decoder);
	f->named = 1;
	*fp = f;
	return 0;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	chunk_decoder_release(&f->decoder);
	definition_store_free(f->tables);
	wall_clock_release(&f->clock);
	free(f->rows);
	free(f->scans);
	free(f);
}

static int add_row(struct follow *f, const struct rec_sample *s)
{
	struct rec_sample *row = array_push(&f->rows, &f->nr_rows, &f->cap_rows);

	if (!row)
		return -ENOMEM;
	*row = *s;
	if (s->time_ns > f->last_ns)
		f->last_ns = s->time_ns;
	return 0;
}

static int end_scan(struct follow *f)
{
	struct followed_scan *w = array_push(&f->scans, &f->nr_scans, &f->cap_scans);

	if (!w)
		return -ENOMEM;
	*w = (struct followed_scan){ f->nr_rows, f->last_ns,
				     definition_store_id_end(f->tables, REC_FRAME) };
	return 0;
}

static void keep_arch(struct follow *f, const struct rec_meta *m)
{
	if (strcmp(m->key, "arch") || m->len >= sizeof(f->arch))
		return;
	memcpy(f->arch, m->value, m->len);
	f->arch[m->len] = 0;
}

static int learn(struct follow *f, const struct record *rec)
{
	int err;

	if (rec->tag == REC_SAMPLE)
		return add_row(f, &rec->sample);
	err = definition_store_record(f->tables, rec);
	if (err)
		return err;
	if (rec->tag == REC_SCAN)
		return end_scan(f);
	if (rec->tag == REC_META)
		keep_arch(f, &rec->meta);
	if (rec->tag != REC_CLOCK)
		return 0;
	f->clock_ns = rec->clock.mono_ns;
	return wall_clock_add(&f->clock, &rec->clock);
}

void follow_chunk(void *follow, const void *chunk, size_t len)
{
	struct follow *f = follow;
	struct chunk_head head;
	struct record rec;
	int n = 0;

	if (f->err)
		return;
	if (!chunk_head_decode(chunk, len, &head)) {
		f->err = -EBADMSG;
		return;
	}
	chunk_decoder_begin(&f->decoder, (const uint8_t *)chunk + CHUNK_HEAD_SIZE, head.length,
			    head.time_base_ns);
	while (!f->err && (n = chunk_decoder_next(&f->decoder, &rec)) > 0)
		f->err = learn(f, &rec);
	if (n < 0)
		f->err = n;
}

void follow_end(struct follow *f)
{
	f->ended = true;
}

/* Names of the kernel come with their frames; who has no binary has none. */
static bool waits_for_name(const struct follow *f, uint32_t frame)
{
	const struct rec_frame *rec = definition_store_find_frame(f->tables, frame);
	const struct table_symbol *sym = definition_store_find_symbol(f->tables, frame);

	return rec && rec->kind == FRAME_USER && rec->binary && !(sym && sym->known);
}

static bool has_names(struct follow *f, const struct followed_scan *w)
{
	while (f->named < w->frames && !waits_for_name(f, f->named))
		f->named++;
	return f->named >= w->frames;
}

static bool has_date(const struct follow *f, const struct followed_scan *w)
{
	return f->clock_ns >= w->last_ns;
}

bool follow_needs_names(struct follow *f)
{
	return f->nr_scans && !has_names(f, &f->scans[0]);
}

/* Index of the row behind the last one that is ready. */
static size_t ready(struct follow *f)
{
	size_t end = f->first;

	if (f->ended)
		return f->nr_rows;
	for (size_t i = 0;
	     i < f->nr_scans && has_date(f, &f->scans[i]) && has_names(f, &f->scans[i]); i++)
		end = f->scans[i].end;
	return end;
}

static int give(struct follow *f, const struct rec_sample *rec, report_sample_fn fn, void *ctx)
{
	struct report_sample rs = { .rec = rec, .tables = f->tables };

	rs.thread = definition_store_find_thread(f->tables, rec->thread);
	rs.process =
		rs.thread ? definition_store_find_process(f->tables, rs.thread->process) : NULL;
	rs.real_ns = wall_clock_real(&f->clock, rec->time_ns);
	return fn(ctx, &rs);
}

/* Walks and rows that are behind us take no memory. What is to come is later than they. */
static void forget(struct follow *f)
{
	size_t done = 0;

	while (done < f->nr_scans && f->scans[done].end <= f->first)
		done++;
	if (done) {
		wall_clock_forget(&f->clock, f->scans[done - 1].last_ns);
		f->nr_scans -= done;
		memmove(f->scans, f->scans + done, f->nr_scans * sizeof(*f->scans));
	}
	if (f->first < f->nr_rows - f->first)
		return;		/* not worth moving the rest */
	f->nr_rows -= f->first;
	memmove(f->rows, f->rows + f->first, f->nr_rows * sizeof(*f->rows));
	for (size_t i = 0; i < f->nr_scans; i++)
		f->scans[i].end -= f->first;
	f->first = 0;
}

long follow_rows(struct follow *f, size_t max, report_sample_fn fn, void *ctx)
{
	size_t end, begin = f->first, nr;
	int err = f->err;

	if (err)
		return err;
	end = ready(f);
	if (end - begin > max)
		end = begin + max;
	while (f->first < end && !err)
		err = give(f, &f->rows[f->first++], fn, ctx);
	nr = f->first - begin;
	if (nr)
		forget(f);
	return err ? err : (long)nr;
}

size_t follow_waiting(const struct follow *f)
{
	return f->nr_rows - f->first;
}

const char *follow_arch(const struct follow *f)
{
	return f->arch;
}
