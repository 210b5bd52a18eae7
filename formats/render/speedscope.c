/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file format of speedscope: a profile for each thread, on a real time axis.
 *
 * A profile of the type "sampled" is a list of stacks with weights, which speedscope draws one
 * after the other. It has no times. But a weight may have an empty stack, which is drawn as
 * nothing, and which no sum or percentage counts ("non-idle weight" in speedscope's source). So
 * the time between samples is such a weight, and all profiles of a recording begin at the same
 * moment. The weights of stacks are those of the samples, exactly. The type "evented" has times,
 * but where two samples come closer than their weights, one would have to be cut.
 *
 * Timers are late by a little. A gap shorter than half a sample's weight is put off until it is
 * longer, so that a thread that never pauses has no gaps. Equal stacks without a gap are one.
 *
 * Weights that are not time ("bytes", page faults) are on no axis: they have no gaps.
 *
 * A function is one frame, inlined or not, whatever thread runs it, because speedscope adds up by
 * frame. Where its source file is not known, its binary stands instead.
 *
 * Format: https://www.speedscope.app/file-format-schema.json. Browsers crash with files of some
 * 100 MB and more, so larger ones are refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/output_limit.h"
#include "formats/render/renderer.h"
#include "formats/render/thread_tracks.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/weight_text.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define MAX_BYTES (100u << 20)

extern const struct renderer renderer_speedscope;

struct scope {
	struct json_writer w;
	const struct thread_tracks *tracks;
	const struct profile *p;
	struct track_axis axis;		/* of the thread's recording */
	uint32_t *frame_of;		/* by node */
	uint32_t *frames;		/* by frame: a node of it */
	size_t nr_frames, cap_frames;
	uint32_t *path;			/* of a stack, innermost first */
	size_t cap_path;
};

/* A weight that is drawn: a stack, or a gap. */
struct drawn {
	uint32_t node;			/* 0: a gap */
	uint64_t weight;
};

static bool is_same_frame(const void *ctx, uint32_t id)
{
	const void *const *both = ctx;
	const struct scope *s = both[0];
	const struct node *a = &s->p->nodes[s->frames[id]], *b = both[1];

	return a->name == b->name && a->file == b->file && a->binary == b->binary &&
	       a->kind == b->kind;
}

static int find_frame(struct scope *s, struct hash_index *index, uint32_t node)
{
	const struct node *n = &s->p->nodes[node];
	const void *both[] = { s, n };
	uint64_t hash = hash_u64(hash_u64(n->name, n->file), n->binary * 8ull + n->kind);
	uint32_t id = ix_find(index, hash, is_same_frame, both), *frame;

	if (id == IX_NONE) {
		id = (uint32_t)s->nr_frames;
		frame = array_push(&s->frames, &s->nr_frames, &s->cap_frames);
		if (!frame || ix_add(index, hash, id))
			return -ENOMEM;
		*frame = node;
	}
	s->frame_of[node] = id;
	return 0;
}

static int find_frames(struct scope *s)
{
	struct hash_index index = { 0 };
	int err = 0;

	s->frame_of = calloc(s->p->nr_nodes, sizeof(*s->frame_of));
	if (!s->frame_of)
		return -ENOMEM;
	for (uint32_t i = 1; i < s->p->nr_nodes && !err; i++)
		err = find_frame(s, &index, i);
	ix_release(&index);
	return err;
}

static void put_name(struct scope *s, const char *key, uint32_t name)
{
	size_t len;
	const char *text = intern_get(s->p->names, name, &len);

	json_key(&s->w, key);
	json_visible(&s->w, text, len);
}

static void put_frames(struct scope *s)
{
	json_key(&s->w, "shared");
	json_begin(&s->w, '{');
	json_key(&s->w, "frames");
	json_begin(&s->w, '[');
	for (size_t i = 0; i < s->nr_frames; i++) {
		const struct node *n = &s->p->nodes[s->frames[i]];

		putc('\n', s->w.out);
		json_begin(&s->w, '{');
		put_name(s, "name", n->name);
		if (n->file || n->binary)
			put_name(s, "file", n->file ? n->file : n->binary);
		if (n->line)
			json_put_u64(&s->w, "line", n->line);
		json_end(&s->w, '}');
	}
	json_end(&s->w, ']');
	json_end(&s->w, '}');
}

/*
 * Calls draw() for what the runs of a thread look like, from *at on, where the last one ended.
 */
static void draw_track(struct scope *s, const struct thread_track *k,
		       void (*draw)(struct scope *s, const struct drawn *d))
{
	uint64_t at = s->axis.begin_ns;
	struct drawn last = { 0 };

	for (size_t i = 0; i < k->samples.nr; i++) {
		const struct track_run *r = &k->samples.v[i];
		uint64_t begin = track_run_begin(s->tracks, r);
		uint64_t gap = s->tracks->is_time && begin > at ? begin - at : 0;
		bool is_gap = gap && gap >= r->weight / 2;

		if (last.weight && (is_gap || last.node != r->node)) {
			draw(s, &last);
			last.weight = 0;
		}
		if (is_gap)
			draw(s, &(struct drawn){ .weight = gap });
		last.node = r->node;
		last.weight = weight_sum(last.weight, weight_times(r->weight, r->nr));
		at = weight_sum(at, (is_gap ? gap : 0) + weight_times(r->weight, r->nr));
	}
	if (last.weight)
		draw(s, &last);
}

static void draw_stack(struct scope *s, const struct drawn *d)
{
	uint32_t nr = 0;

	for (uint32_t n = d->node; n && n != NODE_NONE; n = s->p->nodes[n].parent)
		s->path[nr++] = s->frame_of[n];
	putc_unlocked('\n', s->w.out);
	json_begin(&s->w, '[');
	while (nr)
		json_u64(&s->w, s->path[--nr]);
	json_end(&s->w, ']');
}

static void draw_weight(struct scope *s, const struct drawn *d)
{
	json_u64(&s->w, d->weight);
}

static const char *unit_of(const struct scope *s)
{
	if (s->tracks->is_time)
		return "nanoseconds";
	return strcmp(s->p->facts.unit, "bytes") ? "none" : "bytes";
}

static uint64_t end_of(const struct scope *s, const struct thread_track *k)
{
	return s->tracks->is_time ? s->axis.end_ns - s->axis.begin_ns : k->weight;
}

static int put_profile(struct scope *s, const struct thread_track *k)
{
	size_t len;
	char *label = thread_track_label(s->tracks, k, &len);

	if (!label)
		return -ENOMEM;
	s->axis = s->tracks->nr ? s->tracks->recordings[k->segment] : s->tracks->axis;
	putc('\n', s->w.out);
	json_begin(&s->w, '{');
	json_put_text(&s->w, "type", "sampled");
	json_key(&s->w, "name");
	json_visible(&s->w, label, len);
	free(label);
	json_put_text(&s->w, "unit", unit_of(s));
	json_put_u64(&s->w, "startValue", 0);
	json_put_u64(&s->w, "endValue", end_of(s, k));
	json_key(&s->w, "samples");
	json_begin(&s->w, '[');
	draw_track(s, k, draw_stack);
	json_end(&s->w, ']');
	json_key(&s->w, "weights");
	json_begin(&s->w, '[');
	draw_track(s, k, draw_weight);
	json_end(&s->w, ']');
	json_end(&s->w, '}');
	return ferror(s->w.out) ? -EIO : 0;
}

/* The title of its window is the only place where speedscope shows what is missing. */
static int put_title(struct scope *s, const struct render_opts *opts)
{
	const struct profile_facts *f = &s->p->facts;
	char *text;

	if (asprintf(&text, "%s%s%s", opts->title ? opts->title : f->title, *f->warning ? "; " : "",
		     f->warning) < 0)
		return -ENOMEM;
	json_key(&s->w, "name");
	json_visible(&s->w, text, strlen(text));
	free(text);
	return 0;
}

/* speedscope refuses a file without profiles. */
static int put_profiles(struct scope *s)
{
	static const struct thread_track none = { .name = "", .process = "" };
	int err = 0;

	json_key(&s->w, "profiles");
	json_begin(&s->w, '[');
	for (size_t i = 0; i < s->tracks->nr && !err; i++)
		err = put_profile(s, &s->tracks->v[i]);
	if (!s->tracks->nr)
		err = put_profile(s, &none);
	json_end(&s->w, ']');
	return err;
}

static int put_file(struct scope *s, const struct render_opts *opts)
{
	int err;

	json_begin(&s->w, '{');
	json_put_text(&s->w, "$schema", SCHEMA);
	json_put_text(&s->w, "exporter", "probee@" PROBEE_VERSION);
	err = put_title(s, opts);
	json_put_u64(&s->w, "activeProfileIndex", 0);
	put_frames(s);
	if (!err)
		err = put_profiles(s);
	json_end(&s->w, '}');
	putc('\n', s->w.out);
	return err;
}

static uint16_t deepest(const struct profile *p)
{
	uint16_t depth = 0;

	for (size_t i = 0; i < p->nr_nodes; i++)
		if (p->nodes[i].depth > depth)
			depth = p->nodes[i].depth;
	return depth;
}

static int write_tracks(const struct thread_tracks *t, const struct render_opts *opts, FILE *out)
{
	struct scope s = { .w = { .out = out }, .tracks = t, .p = t->profile };
	int err = array_reserve(&s.path, &s.cap_path, deepest(s.p) + 1u) ? -ENOMEM
									 : find_frames(&s);

	if (!err)
		err = put_file(&s, opts);
	free(s.frame_of);
	free(s.frames);
	free(s.path);
	return err;
}

static int refuse(const struct report *rep)
{
	return fail_why(-EMSGSIZE,
			"--speedscope: %s: the file would be larger than %u MiB, with which "
			"browsers crash. Try: --from and --to for a part of it, --tid or --pid, or "
			"--no-limits",
			report_path(rep), MAX_BYTES >> 20);
}

static int speedscope_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const struct query *q = report_query(rep);
	struct thread_tracks *t;
	struct output_limit limit;
	int err = thread_tracks_make(rep, opts, &t), written;

	if (err)
		return err;
	if (output_limit_open(&limit, out, q && q->no_limits ? 0 : MAX_BYTES)) {
		thread_tracks_free(t);
		return -ENOMEM;
	}
	err = write_tracks(t, opts, limit.stream);
	written = output_limit_close(&limit);
	thread_tracks_free(t);
	if (written == -EMSGSIZE && !ferror(out))
		return refuse(rep);
	return written ? written : err;
}

static bool made(const char *head)
{
	static const char begin[] = "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"probee@";

	return !strncmp(head, begin, sizeof(begin) - 1);
}

const struct renderer renderer_speedscope = {
	.name = "speedscope", .suffixes = ".speedscope.json .speedscope.json.gz",
	.stream = speedscope_stream, .made = made,
	.help = "for speedscope.app: the stacks of each thread on a time axis",
};
