/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces that are valid and strange: all that the rules of a trace allow (formats/trace/id_checker.h) and no recorder would write.
 *
 *	fd = strange_trace(bytes, len)		a file in memory; the same bytes give the same trace
 *	strange_seed(seed, bytes, size)		bytes for the trace of this number; returns their length
 *
 * The bytes choose among operations, the rows of strange_ops. Most add one record of a type, whose members are filled in by the
 * list of its fields (formats/trace/record_fields.h): a type that is added there is made here, too. Numbers are small, or at the
 * ends of their range; ids refer to anything that there is, or to nothing; names are of what must not reach a terminal, of what
 * formats give a meaning to, and of what reports know.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/trace/record_fields.h"
#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_output.h"
#include "formats/trace/trace_writer.h"
#include "src/base/bytes.h"

enum { STRANGE_TEXTS = 4, STRANGE_TEXT_MAX = MAX_STRING, STRANGE_LINES = 5 };

struct strange {
	struct byte_reader in;
	struct trace_writer *w;
	uint32_t ids[RECORD_TAGS];	/* by tag: the highest so far */
	uint64_t now;
	uint32_t scan;
	uint8_t *has_row;		/* by thread: it has a row that a REPEAT may refer to */
	uint32_t threads_with_rows;
	uint16_t depths[1 << 16];	/* of nodes */
	char texts[STRANGE_TEXTS][STRANGE_TEXT_MAX];	/* of one record */
	unsigned nr_texts;
	char key[MAX_META_KEY + 1];
	struct rec_line lines[STRANGE_LINES];
	struct rec_segment segments[3];
	unsigned records;
	struct byte_reader begin;	/* what the segment is made from */
	unsigned part, parts_left;
	uint64_t regs[21];		/* as many as a RAWSTACK has on x86_64 */
	bool has_long;			/* a text that is as long as one may be */
	int err;
};

#define STRANGE(s) { s, sizeof(s) - 1 }
#define STRANGE_ELEMENT "<zz9>"		/* must not become an element of a page or a picture */
struct strange_word {
	const char *s;
	size_t len;
};

/* What terminals act upon: C0, C1 (U+009B is CSI), bidirectional controls, tags, separators; and what is no UTF-8. */
static const struct strange_word strange_controls[] = {
	STRANGE("\x1b[31m"), STRANGE("\xc2\x9b" "31m"), STRANGE("\xc2\x90q\xc2\x9c"), STRANGE("\xc2\x85"), STRANGE("\xe2\x80\xae"),
	STRANGE("\xe2\x81\xa6x\xe2\x81\xa9"), STRANGE("\xe2\x80\x8e"), STRANGE("\xd8\x9c"), STRANGE("\xf3\xa0\x81\x81"),
	STRANGE("\xf3\xa0\x80\x81"), STRANGE("\a\b\r\n\t"), STRANGE("\x7f"), STRANGE("\0x"), STRANGE("\x9b" "2J"), STRANGE("\xff\xfe"),
	STRANGE("\xc3"), STRANGE("\xed\xa0\x80"), STRANGE("\xe2\x80\xa8"), STRANGE("\xef\xbb\xbf"), STRANGE("\x1b]0;t\a"),
};

/* What has a meaning: units, paths, marks of formats, functions that reports know. */
static const struct strange_word strange_words[] = {
	STRANGE(""), STRANGE("ns"), STRANGE("bytes"), STRANGE("count"), STRANGE("cycles"), STRANGE("samples"), STRANGE("a"),
	STRANGE(" "), STRANGE("/"), STRANGE("/usr/bin/a b"), STRANGE("/lib/modules/6.1/x.ko.xz"), STRANGE("[vdso]"), STRANGE("[x"),
	STRANGE(".ko"), STRANGE("python 3.11"), STRANGE("[["), STRANGE("("), STRANGE("()"), STRANGE("(anonymous namespace)::f(int)"),
	STRANGE("std::vector<int, std::allocator<int> >::push_back(int&&)"), STRANGE("operator<"), STRANGE("a<b<c<"), STRANGE(";"),
	STRANGE("|"), STRANGE("%s%n%p"), STRANGE("=1+1"), STRANGE("\"'&<>`"), STRANGE("]]>"), STRANGE("</script>"), STRANGE(STRANGE_ELEMENT), STRANGE(STRANGE_ELEMENT), STRANGE("\\"),
	STRANGE("pthread_mutex_lock"), STRANGE("ObjectMonitor::enter"), STRANGE("take_gil"), STRANGE("LWLockAcquire"),
	STRANGE("futex_wait_queue"), STRANGE("pipe_read"), STRANGE("do_wait"), STRANGE("flock_lock_inode_wait"), STRANGE("read"),
	STRANGE("__libc_start_main"), STRANGE("java.lang.Thread.sleep"), STRANGE("runtime.stopm"), STRANGE("main"),
	STRANGE("/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), STRANGE("/kubepods/besteffort/pod1/"),
	STRANGE("/dev/ttyS0"), STRANGE("unix 1 CONNECTED"), STRANGE("127.0.0.1:80 -> 127.0.0.1:4711 ESTABLISHED"),
	STRANGE("x86_64"), STRANGE("aarch64"), STRANGE("cpu-clock"), STRANGE("snapshot"), STRANGE("0-3"), STRANGE("1"), STRANGE("-1"),
	STRANGE("18446744073709551615"), STRANGE("samples=0.5 stat=2 ticks=1 walks=1"), STRANGE("threads=1 samples=18446744073709551615"),
	STRANGE("fired=1 taken=x missed=-1 idle="), STRANGE("lowest=0 asked=0 passed=9 cause=ring"), STRANGE("0.1"), STRANGE("1e400"),
	STRANGE("host,cmdline"), STRANGE("deadbeef"), STRANGE("2"), STRANGE("swapper/0"), STRANGE("\xe6\x97\xa5\xf0\x9f\x90\x9d"),
};

static const char *const strange_keys[] = {
	"tool", "argv", "mode", "host", "kernel.release", "kernel.version", "arch", "page_size", "cpus.possible", "cpus.online", "clock",
	"boot_id", "kptr_restrict", "unwind", "symbolize", "privacy", "cpu.model", "cpu.busy", "rate.budget", "rate.lowered", "audit",
	"unwind.tables", "runtimes", "runtimes.code", "runtimes.locks", "unwind.windows", "off_cpu", "probe.1", "probe.2", "usdt_stack",
	"probes.missed", "irq", "pid_namespace", "pid_namespace.outside", "target", "flight", "flight.trigger", "flight.time",
	"recording.id", "recording.part", "merge.id", "overlap", "\x1b[31m", "\xc2\x9b" "31m", "\xff", "x",
};

#define STRANGE_NR(table) (sizeof(table) / sizeof((table)[0]))

static inline uint64_t strange_mix(uint64_t *seed)
{
	uint64_t v = *seed += 0x9e3779b97f4a7c15;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 27) * 0x94d049bb133111eb;
	return v ^ v >> 31;
}

/* Most traces are small, because those that fail are read by people; one in 64 is large. */
static inline size_t strange_seed(uint64_t seed, uint8_t *bytes, size_t size)
{
	uint64_t v = seed;
	size_t len = 64 + strange_mix(&v) % (strange_mix(&v) % 64 ? 448 : 4096);

	len = len < size ? len : size;
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)strange_mix(&v);
	return len;
}

static unsigned strange_below(struct strange *t, unsigned nr)
{
	return br_u8(&t->in) % nr;
}

/* Small, or at an end of the range of nr bits. */
static uint64_t strange_number(struct strange *t, unsigned bits)
{
	uint64_t top = bits < 64 ? 1ull << bits : 0;
	uint8_t kind = br_u8(&t->in);

	if (kind < 160)
		return kind % 32 & (top - 1);
	if (kind < 190)
		return br_fixed(&t->in, bits / 8);
	if (kind < 210)
		return (top >> 1 ? top >> 1 : 1ull << 63) - 1 + kind % 3;
	if (kind < 230)
		return (1ull << kind % bits) & (top - 1);
	return top - 1 - kind % 3;
}

/* Any id of this type, also 0; the last one and the first ones often. */
static uint32_t strange_id(struct strange *t, enum record_tag tag)
{
	uint8_t v = br_u8(&t->in);

	if (v >= 160)
		return t->ids[tag];
	return v < 8 ? 0 : v % (t->ids[tag] + 1);
}

/* Time that goes on, stands still or goes back; some are at the ends of their range. */
static uint64_t strange_time(struct strange *t)
{
	static const uint64_t steps[] = { 0, 1, 999, 1000000, 1000000000, 1ull << 40, -1000000000ull, -1ull };
	uint8_t v = br_u8(&t->in);

	if (v >= 250)
		return v & 1 ? UINT64_MAX - v % 3 : v % 3;
	if (v >= 247)
		t->now = strange_number(t, 64);
	return t->now += steps[v % STRANGE_NR(steps)];
}

static size_t strange_append(char *text, size_t len, const struct strange_word *w)
{
	if (!w->len || len + w->len > STRANGE_TEXT_MAX)
		return len;
	memcpy(text + len, w->s, w->len);
	return len + w->len;
}

/* A text as long as one may be, once in some traces: what is cut may be cut within a character. */
static void strange_fill(struct strange *t, char *text, size_t *len)
{
	size_t word = *len;

	if (!word || br_u8(&t->in) != 7 || t->has_long)
		return;
	t->has_long = true;
	while (*len + word <= STRANGE_TEXT_MAX) {
		memcpy(text + *len, text, word);
		*len += word;
	}
}

/* Words and controls, one after the other; some are repeated until the text is long. */
static const char *strange_text(struct strange *t, size_t *len)
{
	char *text = t->texts[t->nr_texts++ % STRANGE_TEXTS];
	unsigned parts = 1 + strange_below(t, 3);

	*len = 0;
	for (unsigned i = 0; i < parts; i++) {
		uint8_t v = br_u8(&t->in);
		const struct strange_word *w = v & 1 ? &strange_words[v / 2 % STRANGE_NR(strange_words)]
						     : &strange_controls[v / 2 % STRANGE_NR(strange_controls)];

		for (unsigned n = v == 255 ? 200 : v == 254 ? 4 : 1; n; n--)
			*len = strange_append(text, *len, w);
	}
	strange_fill(t, text, len);
	if (br_u8(&t->in) == 1) {
		struct byte_reader raw = br_sub(&t->in, strange_below(t, 40));

		*len = strange_append(text, *len, &(struct strange_word){ (const char *)raw.p, raw.p ? br_left(&raw) : 0 });
	}
	return text;
}

static void strange_put(struct strange *t, struct record *rec)
{
	if (!t->err)
		t->err = trace_writer_record(t->w, rec);
	t->records++;
	t->nr_texts = 0;
}

/* A symbol's functions; those without a line may get it by a PLACE (strange_record()). */
static void strange_lines(struct strange *t, struct rec_symbol *s)
{
	s->nr_lines = t->ids[REC_FUNC] ? strange_below(t, STRANGE_LINES + 1) : 0;
	s->lines = t->lines;
	for (uint32_t i = 0; i < s->nr_lines; i++)
		t->lines[i] = (struct rec_line){ strange_id(t, REC_FUNC), (uint32_t)strange_number(t, 32), br_u8(&t->in), 0 };
}

static void strange_segments(struct strange *t, struct rec_binary *b)
{
	b->nr_segments = strange_below(t, 4);
	b->segments = t->segments;
	for (uint32_t i = 0; i < b->nr_segments; i++)
		t->segments[i] = (struct rec_segment){ strange_number(t, 64), strange_number(t, 64), strange_number(t, 64) };
}

static void strange_build_id(struct strange *t, struct rec_binary *b)
{
	b->build_id_len = (uint8_t)strange_below(t, MAX_BUILD_ID + 1);
	memset(b->build_id, br_u8(&t->in), b->build_id_len);
}

static void strange_ends(struct strange *t, struct rec_scan *s)
{
	for (unsigned n = strange_below(t, 4); n; n--)
		s->ends[strange_below(t, STACK_ENDS)] = strange_number(t, 64);
}

static void strange_key(struct strange *t, struct rec_meta *m)
{
	snprintf(t->key, sizeof(t->key), "%s", strange_keys[strange_below(t, STRANGE_NR(strange_keys))]);
	m->key = t->key;
}

static void strange_field(struct strange *t, struct record *rec, const struct field *f)
{
	char *at = (char *)rec + f->at;
	struct {
		const char *s;
		size_t len;
	} text;

	switch ((enum field_kind)f->kind) {
	case U8: *at = (char)strange_number(t, 8); break;
	case PARENT:
	case UV32: *(uint32_t *)at = f->to ? strange_id(t, f->to) : (uint32_t)strange_number(t, 32); break;
	case PLUS1:
	case SV32: *(uint32_t *)at = (uint32_t)strange_number(t, 32); break;
	case UV64:
	case SV64:
	case LATER64:
	case FIXED64: *(uint64_t *)at = strange_number(t, 64); break;
	case TIME: *(uint64_t *)at = strange_time(t); break;
	case TEXT:
		text.s = strange_text(t, &text.len);
		memcpy(at, &text, sizeof(text));
		break;
	case KEY: strange_key(t, &rec->meta); break;
	case BUILD_ID: strange_build_id(t, &rec->binary); break;
	case SEGMENTS: strange_segments(t, &rec->binary); break;
	case LINES: strange_lines(t, &rec->symbol); break;
	case ENDS: strange_ends(t, &rec->scan); break;
	case RUNS: break;	/* strange_repeat() */
	}
}

/* Registers as libdw takes them, with a stack pointer in the memory, in half of the records. */
static void strange_registers(struct strange *t, struct rec_rawstack *r)
{
	if (br_u8(&t->in) & 1)
		return;
	for (unsigned i = 0; i < STRANGE_NR(t->regs); i++)
		t->regs[i] = strange_number(t, 64);
	t->regs[19] = r->start + strange_below(t, 64);
	r->regs = t->regs;
	r->regs_len = sizeof(t->regs);
}

/* The next id, or one behind a gap. Large gaps cost a reader memory, so they are rare. */
static uint32_t strange_next_id(struct strange *t, enum record_tag tag)
{
	uint8_t v = br_u8(&t->in);
	uint32_t gap = v < 250 ? 0 : v < 255 ? v % 7 : br_u8(&t->in) < 250 ? 300 : 40000;

	return t->ids[tag] + gap < 60000 ? t->ids[tag] + gap + 1 : 0;
}

/* Whether it may be written: no chain of callers is longer than allowed. */
static bool strange_depth(struct strange *t, const struct rec_node *n)
{
	unsigned depth = n->parent ? t->depths[n->parent] + 1u : 1;

	for (uint32_t id = t->ids[REC_NODE] + 1; id < n->id; id++)
		t->depths[id] = 0;
	t->depths[n->id] = (uint16_t)depth;
	return depth <= MAX_DEPTH;
}

static void strange_record(struct strange *t, enum record_tag tag)
{
	struct record rec = { .tag = tag };
	uint32_t id = record_is_definition(tag) ? strange_next_id(t, tag) : 0;

	if (record_is_definition(tag) && !id)
		return;
	for (const struct field *f = record_layout(tag)->fields; f->at; f++)
		strange_field(t, &rec, f);
	if (tag == REC_EVENT && br_u8(&t->in) & 1)
		rec.event.kind = (uint8_t)strange_below(t, EVENT_KINDS);
	if (tag == REC_RAWSTACK)
		strange_registers(t, &rec.rawstack);
	if (tag == REC_TASKEV && rec.taskev.event <= TASK_COMM)
		rec.taskev.arg = strange_id(t, rec.taskev.event == TASK_FORK ? REC_PROCESS : REC_STRING);
	if (id)
		*record_id(&rec) = id;
	if (tag == REC_NODE && !strange_depth(t, &rec.node))
		return;
	if (id)
		t->ids[tag] = id;
	strange_put(t, &rec);
}

static void strange_sample(struct strange *t, struct rec_sample *s)
{
	*s = (struct rec_sample){
		.time_ns = strange_time(t), .event = strange_id(t, REC_EVENT), .thread = strange_id(t, REC_THREAD),
		.kstack = strange_id(t, REC_NODE), .ustack = strange_id(t, REC_NODE), .weight = strange_number(t, 64),
		.cpu = (uint32_t)strange_number(t, 32), .state = (uint8_t)strange_number(t, 8), .end = (uint8_t)strange_number(t, 8),
		.flags = (uint32_t)strange_number(t, 32),
	};
	if (br_u8(&t->in) & 1)
		return;
	s->ran_ns = t->now - strange_number(t, 64);
	s->syscall = (uint32_t)strange_number(t, 32);
	s->owner = (uint32_t)strange_number(t, 32);
	s->wait = strange_number(t, 64);
	s->wait_kind = (uint8_t)strange_number(t, 8);
	s->holders = (uint32_t)strange_number(t, 32);
	s->object = strange_number(t, 64);
	s->variable = strange_id(t, REC_FRAME);
	s->file = strange_id(t, REC_STRING);
	for (unsigned i = 0; i < SAMPLE_ARGS; i++)
		s->args[i] = strange_number(t, 64);
}

static void strange_samples(struct strange *t, unsigned nr)
{
	for (; nr; nr--) {
		struct record rec = { .tag = REC_SAMPLE };

		strange_sample(t, &rec.sample);
		strange_put(t, &rec);
	}
}

static void strange_one_sample(struct strange *t)
{
	strange_samples(t, 1);
}

static void strange_many_samples(struct strange *t)
{
	strange_samples(t, strange_below(t, 64));
}

/* The rows of a scan: many of them wait for each other, in rings, too. */
static void strange_rows(struct strange *t)
{
	uint32_t scan = br_u8(&t->in) < 240 ? ++t->scan : (uint32_t)strange_number(t, 32);

	for (unsigned nr = strange_below(t, 12); nr; nr--) {
		struct record rec = { .tag = REC_SAMPLE };
		struct rec_sample *s = &rec.sample;

		strange_sample(t, s);
		s->scan = scan;
		if (br_u8(&t->in) & 1) {
			s->state = TASK_SLEEPING;
			s->syscall = 203;	/* futex on x86_64, plus 1 */
			s->wait = 0x1000 + strange_below(t, 3) * 8u;
			s->owner = strange_below(t, 20);
		}
		if (scan && s->thread && s->thread < 65536) {
			t->has_row[s->thread] = 1;
			if (s->thread >= t->threads_with_rows)
				t->threads_with_rows = s->thread + 1;
		}
		strange_put(t, &rec);
	}
	if (br_u8(&t->in) & 1)
		strange_put(t, &(struct record){ .tag = REC_SCAN, .scan = { .scan = scan, .time_ns = t->now, .rows = 3,
									    .tasks_seen = 3, .interval_ns = 1000000000 } });
}

static void strange_repeat(struct strange *t)
{
	struct rec_run runs[8];
	struct record rec = { .tag = REC_REPEAT, .repeat = { strange_time(t), ++t->scan, runs, 0 } };
	uint32_t nr = 0;

	for (uint32_t i = 1; i < t->threads_with_rows && nr < STRANGE_NR(runs); i++) {
		if (!t->has_row[i] || (br_u8(&t->in) & 7) == 7)
			continue;
		if (nr && runs[nr - 1].thread + runs[nr - 1].nr == i)
			runs[nr - 1].nr++;
		else
			runs[nr++] = (struct rec_run){ i, 1 };
	}
	rec.repeat.nr_runs = nr;
	strange_put(t, &rec);
}

/* A stack of a few frames or of thousands. */
static void strange_chain(struct strange *t)
{
	static const unsigned lengths[] = { 3, 20, 130, 300, MAX_DEPTH };
	unsigned nr = lengths[strange_below(t, 250) / 60 % STRANGE_NR(lengths)];
	uint32_t parent = 0, frame = strange_id(t, REC_FRAME), second = strange_id(t, REC_FRAME);

	for (unsigned i = 0; i < nr && t->ids[REC_NODE] < 60000; i++) {
		struct record rec = { .tag = REC_NODE, .node = { t->ids[REC_NODE] + 1, parent, i & 1 ? second : frame } };

		strange_depth(t, &rec.node);
		t->ids[REC_NODE] = parent = rec.node.id;
		strange_put(t, &rec);
	}
}

static void strange_flush(struct strange *t)
{
	if (!t->err)
		t->err = trace_writer_flush(t->w);
}

static void strange_begin(struct strange *t)
{
	strange_flush(t);
	if (!t->err)
		t->err = trace_writer_begin_segment(t->w);
	memset(t->ids, 0, sizeof(t->ids));
	memset(t->has_row, 0, t->threads_with_rows);
	t->threads_with_rows = 0;
}

static void strange_again(struct strange *t)
{
	strange_begin(t);
	t->begin = t->in;
	strange_record(t, REC_META);
}

/* The next part of the recording: the same definitions from the beginning, then what follows. */
static void strange_part(struct strange *t)
{
	char number[16];
	int len = snprintf(number, sizeof(number), "%u", ++t->part);

	if (!t->parts_left)
		return;
	t->parts_left--;
	strange_begin(t);
	t->in = t->begin;
	strange_put(t, &(struct record){ .tag = REC_META, .meta = { "recording.part", number, (size_t)len } });
}

/* Chunks are missing from here on. */
static void strange_lose(struct strange *t)
{
	if (br_u8(&t->in) < 160)
		return;
	strange_flush(t);
	if (!t->err)
		t->err = trace_writer_lose(t->w);
}

/* All functions of some frame have no line in their own file but one elsewhere. */
static void strange_places(struct strange *t)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct record rec = { .tag = REC_PLACE, .place = { strange_id(t, REC_FRAME), i, strange_id(t, REC_STRING),
								   br_u8(&t->in), br_u8(&t->in) } };

		strange_put(t, &rec);
	}
}

static const struct strange_op {
	enum record_tag tag;		/* a record of this type, or: */
	void (*put)(struct strange *t);
} strange_ops[] = {
#define RECORD(number, NAME, field, STORED) { REC_##NAME, NULL },
#include "src/model/records.def"
	{ REC_STRING, NULL }, { REC_STRING, NULL }, { REC_FRAME, NULL }, { REC_FRAME, NULL }, { REC_NODE, NULL }, { REC_NODE, NULL },
	{ REC_FUNC, NULL }, { REC_SYMBOL, NULL }, { REC_THREAD, NULL },
	{ 0, strange_one_sample }, { 0, strange_one_sample }, { 0, strange_many_samples }, { 0, strange_rows }, { 0, strange_rows },
	{ 0, strange_repeat }, { 0, strange_chain }, { 0, strange_flush }, { 0, strange_again }, { 0, strange_lose },
	{ 0, strange_places }, { 0, strange_part }, { 0, strange_part },
};

static void strange_op(struct strange *t)
{
	const struct strange_op *op = &strange_ops[strange_below(t, STRANGE_NR(strange_ops))];

	if (op->put)
		op->put(t);
	else if (op->tag == REC_SAMPLE)
		strange_one_sample(t);
	else if (op->tag == REC_REPEAT)
		strange_repeat(t);
	else
		strange_record(t, op->tag);
}

/* One record of each type that others refer to, so that there is something to show; half of the traces begin so. */
static void strange_beginning(struct strange *t)
{
	static const enum record_tag tags[] = { REC_CLOCK, REC_STRING, REC_STRING, REC_STRING, REC_BINARY, REC_PROCESS, REC_THREAD,
						REC_THREAD, REC_EVENT, REC_FRAME, REC_FRAME, REC_NODE, REC_NODE, REC_FUNC,
						REC_SYMBOL };

	if (br_u8(&t->in) & 1)
		return;
	strange_put(t, &(struct record){ .tag = REC_META, .meta = { "arch", "x86_64", 6 } });
	for (size_t i = 0; i < STRANGE_NR(tags); i++)
		strange_record(t, tags[i]);
}

/* Aborts if a record is refused: then it was not valid, and the generator is wrong. */
static inline int strange_trace(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("strange.pbz", MFD_CLOEXEC);
	struct trace_output out;
	struct strange *t = calloc(1, sizeof(*t));

	if (fd < 0 || !t || !(t->has_row = calloc(65536, 1)) || trace_output_open_fd(fd, "strange.pbz", &out) ||
	    trace_writer_open("strange.pbz", &(struct trace_writer_options){ .level = 1, .output = &out }, &t->w))
		abort();
	t->in = br_make(bytes, len);
	t->now = 1000000000000;
	t->begin = t->in;
	t->part = 1;
	t->parts_left = 2;
	strange_beginning(t);
	while (br_left(&t->in) && t->records < 20000)
		strange_op(t);
	if (trace_writer_close(t->w) || t->err)
		abort();
	free(t->has_row);
	free(t);
	return fd;
}
