/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/wait_text.h"
#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/live/live_stacks.h"
#include "src/live/thread_rows.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_place.h"

enum { TEXT_WAIT, TEXT_USER, TEXT_KERNEL, TEXTS };
#define TEXT_MAX_BYTES 300		/* longer ones are cut: a row is one line */

void live_threads_release(struct live_threads *t)
{
	for (size_t i = 0; i < t->nr; i++)
		for (size_t k = 0; k < TEXTS; k++)
			free(t->v[i].texts[k]);
	free(t->v);
	memset(t, 0, sizeof(*t));
}

/* Cuts between characters. */
static void cut(char *s)
{
	size_t at = TEXT_MAX_BYTES;

	if (strlen(s) <= at)
		return;
	while (at && ((unsigned char)s[at] & 0xc0) == 0x80)
		at--;
	s[at] = 0;
}

/* The object, or the value that the call was given, or the call. */
static void put_wait(const struct live_threads_input *in, const struct rec_sample *rec, FILE *out)
{
	char number[WAIT_CALL_MAX], buf[WAIT_TEXT_MAX];
	const char *word;

	if (rec->state == TASK_RUNNING || rec->state == TASK_RUNNABLE ||
	    wait_put_object(live_profile_tables(in->l), in->calls, rec, out))
		return;
	word = wait_word(in->calls, rec, buf);
	if (*word)
		fputs(word, out);
	else if (rec->syscall)
		fputs(wait_call_name(in->calls, rec, number), out);
}

static void put_text(const struct live_threads_input *in, const struct rec_sample *rec, int which,
		     FILE *out)
{
	const struct definition_store *d = live_profile_tables(in->l);
	char buf[FRAME_TEXT_MAX];
	struct wait_function f;
	const char *place;

	switch (which) {
	case TEXT_WAIT:
		put_wait(in, rec, out);
		break;
	case TEXT_USER:
		wait_function_of(d, rec->ustack, &f);
		escape_text(out, f.name, f.len);
		break;
	default:
		place = wait_place(d, rec->kstack, buf);
		escape_text(out, place, strlen(place));
	}
}

/* The caller frees it; NULL: out of memory. */
static char *text_of(const struct live_threads_input *in, const struct rec_sample *rec, int which)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	put_text(in, rec, which, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	cut(text);
	return text;
}

/* Describes a thread by its row. Without snapshots it has only its CPU time. */
static struct live_thread describe(const struct thread_rows *r, const struct thread_row *row,
				   const struct live_threads_input *in)
{
	const struct rec_sample *rec = row->rec;
	struct live_thread now = { .state = 1 + TASK_STATE_UNKNOWN };

	if (r->cpu_of_ns)
		now.cpu = 1 + (uint16_t)(row->cpu_ns / (r->cpu_of_ns / 1000 + 1) < 60000
						 ? row->cpu_ns / (r->cpu_of_ns / 1000 + 1)
						 : 60000);
	if (!rec)
		return now;
	now.state = rec->state < TASK_STATES ? 1 + rec->state : 1 + TASK_STATE_UNKNOWN;
	now.owner = rec->owner;
	now.stack = live_stacks_of(in->stacks, &(struct live_count){ .kstack = rec->kstack,
								     .ustack = rec->ustack,
								     .end = rec->end },
				   false) + 1;
	now.has_ran = row->waited_ns != UINT64_MAX;
	if (now.has_ran)
		now.ran_ms = (int64_t)(rec->ran_ns / NSEC_PER_MSEC) -
			     (int64_t)(in->base_ns / NSEC_PER_MSEC);
	return now;
}

static bool is_alike(const struct live_thread *a, const struct live_thread *b)
{
	return a->state == b->state && a->cpu == b->cpu && a->has_ran == b->has_ran &&
	       a->ran_ms == b->ran_ms && a->owner == b->owner && a->stack == b->stack;
}

/* Takes the text. */
static void set_text(struct live_thread *t, int which, char *text, uint64_t version)
{
	if (strcmp(t->texts[which] ? t->texts[which] : "", text))
		t->changed = version;
	free(t->texts[which]);
	t->texts[which] = text;
}

/* Texts cost far more than all else, and are mostly those of the update before. */
static uint64_t texts_hash(const struct live_threads_input *in, const struct rec_sample *rec)
{
	const uint64_t of[] = { (uint64_t)rec->kstack << 32 | rec->ustack,
				(uint64_t)rec->state << 32 | rec->syscall,
				(uint64_t)rec->wait_kind << 32 | rec->holders,
				(uint64_t)rec->variable << 32 | rec->file,
				rec->wait, rec->object, rec->args[0], rec->args[1], rec->owner,
				tables_count(live_profile_tables(in->l), REC_SYMBOL) };

	return hash_bytes(1, of, sizeof(of));
}

static int update_texts(struct live_thread *t, const struct live_threads_input *in,
			const struct rec_sample *rec, uint64_t version)
{
	uint64_t hash = texts_hash(in, rec);

	if (hash == t->told)
		return 0;
	t->told = hash;
	for (int i = 0; i < TEXTS; i++) {
		char *text = text_of(in, rec, i);

		if (!text)
			return -ENOMEM;
		set_text(t, i, text, version);
	}
	return 0;
}

static int update_row(struct live_threads *t, uint32_t at, const struct thread_rows *r,
		      const struct thread_row *row, const struct live_threads_input *in,
		      uint64_t version)
{
	struct live_thread now = describe(r, row, in), *was;

	if (array_reserve(&t->v, &t->cap, (size_t)at + 1))
		return -ENOMEM;
	if (t->nr <= at)
		t->nr = (size_t)at + 1;
	was = &t->v[at];
	if (!was->changed || !is_alike(was, &now))
		now.changed = version;
	else
		now.changed = was->changed;
	memcpy(now.texts, was->texts, sizeof(now.texts));
	now.serial = t->serial;
	now.told = was->told;
	*was = now;
	return row->rec ? update_texts(was, in, row->rec, version) : 0;
}

/* Rows that are there no longer. */
static bool forget_gone(struct live_threads *t, uint64_t version)
{
	bool is_changed = false;

	for (size_t i = 0; i < t->nr; i++) {
		struct live_thread *v = &t->v[i];

		if (v->state && v->serial != t->serial) {
			v->state = 0;
			v->changed = version;
		}
		is_changed |= v->changed == version;
	}
	return is_changed;
}

int live_threads_update(struct live_threads *t, const struct live_threads_input *in,
			uint64_t version)
{
	const struct live_choice all = { .tid = 0 };
	struct thread_rows r;
	int err = thread_rows_init(&r, in->l, &all);

	if (err)
		return err;
	t->serial++;
	for (size_t i = 0; i < r.nr && !err; i++) {
		uint32_t thread = r.v[i].thread;

		if (thread < in->nr_thread_of && in->thread_of[thread])
			err = update_row(t, in->thread_of[thread] - 1, &r, &r.v[i], in, version);
	}
	thread_rows_release(&r);
	return err ? err : forget_gone(t, version);
}

static void put_row(const struct live_thread *t, struct byte_buf *out)
{
	bb_uv(out, t->state);
	if (!t->state)
		return;
	bb_uv(out, t->cpu);
	bb_uv(out, t->has_ran);
	if (t->has_ran)
		bb_sv(out, t->ran_ms);
	bb_uv(out, t->owner);
	bb_uv(out, t->stack);
	for (int i = 0; i < TEXTS; i++) {
		const char *text = t->texts[i] ? t->texts[i] : "";

		bb_uv(out, strlen(text));
		bb_bytes(out, text, strlen(text));
	}
}

void live_threads_put(const struct live_threads *t, uint64_t since, struct byte_buf *out)
{
	for (size_t i = 0; i < t->nr; i++) {
		if (!t->v[i].changed || t->v[i].changed <= since)
			continue;
		bb_uv(out, i);
		put_row(&t->v[i], out);
	}
}
