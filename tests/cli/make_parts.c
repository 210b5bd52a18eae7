/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_parts FROM TO SAMPLES: the same recording, divided into parts of about so many samples (0: in one), as a
 * recorder does it: each part defines what its own samples need, and a scan is in one part as a whole. Only the
 * definitions that a report uses are copied, and REPEATs become the rows they stand for. With LATE in the
 * environment every other part, the first one among them, lacks the program, the command line and the control
 * group of each process, and every other function has the name of the one before it and stands a line below.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"

#define IDS (1u << 20)

struct maker {
	struct trace_reader *reader;
	struct trace_writer *writer;
	struct definition_store *t;	/* all of the recording */
	uint32_t *id[RECORD_TAGS];	/* by its ids: those in this part; 0: not defined */
	uint32_t next[RECORD_TAGS];
	uint64_t limit, in_part, in_scan, lost, scans, time_ns;
	uint32_t part;
	struct record metas[64], clock;
	size_t nr_metas;
	/* Of each sample: the least time from there on. And which sample is next. */
	uint64_t *least;
	size_t nr_least, cap_least, next_sample;
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "make_parts: %s\n", what);
	exit(1);
}

static void put(struct maker *m, const struct record *rec)
{
	must(!trace_writer_record(m->writer, rec), "cannot write");
}

/* The id in this part, which is new if it was 0: then the caller writes the definition. */
static uint32_t *id_of(struct maker *m, enum record_tag tag, uint32_t id)
{
	must(id < IDS, "too many definitions");
	return &m->id[tag][id];
}

static uint32_t string(struct maker *m, uint32_t from)
{
	uint32_t *id = id_of(m, REC_STRING, from);
	struct record rec = { .tag = REC_STRING };

	if (!from || *id)
		return *id;
	rec.string.id = *id = ++m->next[REC_STRING];
	rec.string.bytes = definition_store_string(m->t, from, &rec.string.len);
	put(m, &rec);
	return *id;
}

static uint32_t binary(struct maker *m, uint32_t from)
{
	const struct rec_binary *b = definition_store_find_binary(m->t, from);
	uint32_t *id = id_of(m, REC_BINARY, from);
	struct record rec = { .tag = REC_BINARY };

	if (!b || *id)
		return *id;
	rec.binary = *b;
	rec.binary.path = string(m, b->path);
	rec.binary.id = *id = ++m->next[REC_BINARY];
	put(m, &rec);
	return *id;
}

static uint32_t process(struct maker *m, uint32_t from)
{
	const struct rec_process *p = definition_store_find_process(m->t, from);
	uint32_t *id = id_of(m, REC_PROCESS, from);
	struct record rec = { .tag = REC_PROCESS };

	if (!p || *id)
		return *id;
	rec.process = *p;
	rec.process.parent = process(m, p->parent);
	rec.process.comm = string(m, p->comm);
	rec.process.cgroup = string(m, p->cgroup);
	rec.process.cmdline = string(m, p->cmdline);
	rec.process.exe = binary(m, p->exe);
	if (getenv("LATE") && m->part % 2)
		rec.process.exe = rec.process.cgroup = rec.process.cmdline = 0;
	rec.process.id = *id = ++m->next[REC_PROCESS];
	put(m, &rec);
	return *id;
}

static uint32_t thread(struct maker *m, uint32_t from)
{
	const struct rec_thread *t = definition_store_find_thread(m->t, from);
	uint32_t *id = id_of(m, REC_THREAD, from);
	struct record rec = { .tag = REC_THREAD };

	if (!t || *id)
		return *id;
	rec.thread = *t;
	rec.thread.process = process(m, t->process);
	rec.thread.comm = string(m, t->comm);
	rec.thread.id = *id = ++m->next[REC_THREAD];
	put(m, &rec);
	return *id;
}

static uint32_t func(struct maker *m, uint32_t from)
{
	const struct rec_func *f = definition_store_find_func(m->t, from);
	uint32_t *id = id_of(m, REC_FUNC, from);
	struct record rec = { .tag = REC_FUNC };

	if (!f || *id)
		return *id;
	/* Two lambdas of one file have one name, and lines of their own. */
	if (getenv("LATE") && from % 2 == 0 && definition_store_find_func(m->t, from - 1)) {
		rec.func = *definition_store_find_func(m->t, from - 1);
		rec.func.start_line++;
	} else {
		rec.func = *f;
	}
	rec.func.name = string(m, f->name);
	rec.func.sysname = string(m, f->sysname);
	rec.func.file = string(m, f->file);
	rec.func.id = *id = ++m->next[REC_FUNC];
	put(m, &rec);
	return *id;
}

/* The functions of a frame, by what a report shows of them: file and line are read from the view. */
static void symbol(struct maker *m, uint32_t from, uint32_t frame)
{
	const struct table_symbol *s = definition_store_find_symbol(m->t, from);
	struct record rec = { .tag = REC_SYMBOL }, place = { .tag = REC_PLACE };
	struct rec_line lines[256] = { { 0 } };
	uint32_t in_file[256] = { 0 }, line[256] = { 0 };

	if (!s || !s->known)
		return;
	rec.symbol = (struct rec_symbol){ frame, s->status, s->offset, lines, s->nr_lines };
	for (uint32_t i = 0; i < s->nr_lines; i++) {
		char buf[FRAME_TEXT_MAX];
		struct frame_view v;

		definition_store_frame_view(m->t, from, i, buf, &v);
		lines[i].func = func(m, v.func);
		if (v.line && v.line_file != v.file) {
			in_file[i] = string(m, v.line_file);
			line[i] = v.line;
		} else {
			lines[i].line = v.line;
		}
	}
	put(m, &rec);
	for (uint32_t i = 0; i < s->nr_lines; i++) {
		place.place = (struct rec_place){ frame, i, in_file[i], line[i], 0 };
		if (line[i])
			put(m, &place);
	}
}

static uint32_t frame(struct maker *m, uint32_t from)
{
	const struct rec_frame *f = definition_store_find_frame(m->t, from);
	uint32_t *id = id_of(m, REC_FRAME, from);
	struct record rec = { .tag = REC_FRAME };

	if (!f || *id)
		return *id;
	rec.frame = *f;
	rec.frame.binary = binary(m, f->binary);
	rec.frame.id = *id = ++m->next[REC_FRAME];
	put(m, &rec);
	symbol(m, from, *id);
	return *id;
}

static uint32_t node(struct maker *m, uint32_t from)
{
	const struct table_node *n = definition_store_find_node(m->t, from);
	uint32_t *id = id_of(m, REC_NODE, from);
	struct record rec = { .tag = REC_NODE };

	if (!n || *id)
		return *id;
	rec.node.parent = node(m, n->parent);
	rec.node.frame = frame(m, n->frame);
	rec.node.id = *id = ++m->next[REC_NODE];
	put(m, &rec);
	return *id;
}

static void put_events(struct maker *m)
{
	for (uint32_t i = 1; i < definition_store_id_end(m->t, REC_EVENT); i++) {
		const struct rec_event *e = definition_store_find_event(m->t, i);
		struct record rec = { .tag = REC_EVENT };

		must(e, "an event is missing");
		rec.event = *e;
		rec.event.name = string(m, e->name);
		rec.event.unit = string(m, e->unit);
		put(m, &rec);
	}
}

static void begin_part(struct maker *m)
{
	char number[16];
	struct record part = { .tag = REC_META, .meta = { "recording.part", number, 0 } };

	part.meta.len = (size_t)snprintf(number, sizeof(number), "%u", ++m->part);
	if (m->part > 1)
		put(m, &part);
	for (size_t i = 0; i < m->nr_metas; i++)
		put(m, &m->metas[i]);
	put(m, &m->clock);
	put_events(m);
}

static void end_part(struct maker *m)
{
	struct record end = { .tag = REC_END };

	end.end = (struct rec_end){ .time_ns = m->time_ns, .reason = ENDED_CONTINUED,
				    .samples = m->in_part, .scans = m->scans, .lost = m->lost,
				    .target_status = -1 };
	put(m, &end);
	must(!trace_writer_begin_segment(m->writer), "cannot begin a segment");
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++) {
		memset(m->id[tag], 0, IDS * sizeof(*m->id[tag]));
		m->next[tag] = 0;
	}
	m->in_part = m->scans = m->lost = 0;
	begin_part(m);
}

/*
 * A stack may come later than those after it, and the samples of a chunk are sorted. So a part ends
 * only where all samples in it are older than all that follow; else their order would be another
 * one than without parts.
 */
static bool may_end(const struct maker *m, const struct rec_sample *s)
{
	return m->limit && m->in_part >= m->limit && (!s->scan || s->scan != m->in_scan) &&
	       m->time_ns <= m->least[m->next_sample];
}

static void sample(struct maker *m, struct record *rec)
{
	struct rec_sample *s = &rec->sample;

	if (may_end(m, s))
		end_part(m);
	m->next_sample++;
	m->in_scan = s->scan ? s->scan : m->in_scan;
	m->in_part++;
	m->time_ns = s->time_ns > m->time_ns ? s->time_ns : m->time_ns;
	s->thread = thread(m, s->thread);
	s->ustack = node(m, s->ustack);
	s->kstack = node(m, s->kstack);
	s->variable = frame(m, s->variable);
	s->file = string(m, s->file);
	put(m, rec);
}

/* META that comes at the end of the recording stays there. */
static void copy(struct maker *m, struct record *rec)
{
	switch ((int)rec->tag) {
	case REC_SAMPLE: sample(m, rec); break;
	case REC_CLOCK: m->clock = *rec; put(m, rec); break;
	case REC_LOST: m->lost += rec->lost.count; put(m, rec); break;
	case REC_SCAN: m->scans++; put(m, rec); break;
	case REC_META: case REC_NOTE: put(m, rec); break;
	case REC_END:
		rec->end.samples = m->in_part;
		rec->end.scans = m->scans;
		rec->end.lost = m->lost;
		put(m, rec);
		break;
	}
}

static void learn_time(struct maker *m, uint64_t time_ns)
{
	uint64_t *place = array_push(&m->least, &m->nr_least, &m->cap_least);

	must(place, "no memory");
	*place = time_ns;
}

static void learn_least(struct maker *m)
{
	for (size_t i = m->nr_least; i-- > 1;)
		if (m->least[i - 1] > m->least[i])
			m->least[i - 1] = m->least[i];
}

/* What stands before the first definition begins each part. */
static void learn(struct maker *m)
{
	bool begins = true;
	struct record rec;

	while (trace_reader_next(m->reader, &rec) > 0) {
		must(!definition_store_record(m->t, &rec), "no memory");
		begins &= rec.tag == REC_META || rec.tag == REC_CLOCK;
		if (rec.tag == REC_SAMPLE)
			learn_time(m, rec.sample.time_ns);
		if (begins && rec.tag == REC_META) {
			struct record *copy = &m->metas[m->nr_metas++];
			char *value = malloc(rec.meta.len + 1);

			must(m->nr_metas < 64 && value, "too many META");
			*copy = rec;
			copy->meta.key = strdup(rec.meta.key);
			copy->meta.value = memcpy(value, rec.meta.value, rec.meta.len);
		}
		if (begins && rec.tag == REC_CLOCK && !m->clock.tag)
			m->clock = rec;
	}
	learn_least(m);
}

int main(int argc, char **argv)
{
	struct maker m = { .t = definition_store_new() };
	bool begins = true;
	struct record rec;

	must(argc == 4, "FROM TO SAMPLES");
	m.limit = strtoull(argv[3], NULL, 10);
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		m.id[tag] = calloc(IDS, sizeof(*m.id[tag]));
	must(!trace_reader_open(argv[1], NULL, &m.reader), "cannot read");
	learn(&m);
	must(!trace_writer_open(argv[2], NULL, &m.writer), "cannot write");
	begin_part(&m);
	must(!trace_reader_rewind(m.reader), "cannot read");
	while (trace_reader_next(m.reader, &rec) > 0) {
		begins &= rec.tag == REC_META || rec.tag == REC_CLOCK;
		if (!begins)
			copy(&m, &rec);
	}
	must(!trace_writer_close(m.writer), "cannot write");
	trace_reader_close(m.reader);
	printf("%u\n", m.part);
	return 0;
}
