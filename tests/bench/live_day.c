/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_day [HOURS=24 [PART_MIB=10 [SEED=1]]]: what a view of an endless recording takes, when many hours are put before
 * it as fast as it reads them.
 *
 * A child writes the recording into memory, in parts of so many MiB, and the parent follows it as `probee top` does. There
 * are 1,000 threads of 250 processes. Two CPUs are sampled at 99 Hz, all threads once a second, of which some 30 have
 * changed; they sleep in a few stacks each. Two samples in five are of programs that come each few seconds and stay for as long; they bring stacks,
 * functions and now and then a name that were never there before.
 *
 * Prints for each hour: the most memory that the parent had in use (RSS, looked at once a simulated minute), its anonymous
 * part now, definitions, growths of windows, parts, epochs, the CPU time of the longest feed_take() with a compaction in it
 * so far, and that of one tree of the last 5 minutes. In the end: the most RSS of all, by how much the most of the second
 * half is above that of the first, and the CPU time of all records. It fails if a sample is missing in the profile.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace/trace_writer.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/live/feed.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/live/live_windows.h"
#include "src/profile/profile.h"
#include "src/report/trace_summary.h"

enum {
	PROCESSES = 250, THREADS = 1000, FUNCTIONS = 20000, STACKS = 4000, NAMES = 40, HZ = 198, SHORT = 8,
	STEP_S = 60,			/* simulated seconds between two looks */
};

struct maker {
	struct trace_writer *w;
	uint64_t seed, part_begin;
	unsigned part;
	uint32_t ids[RECORD_TAGS];	/* of the segment: given so far */
	uint32_t functions[FUNCTIONS];	/* frames of the segment; 0: not defined in it yet */
	uint32_t stacks[STACKS];
	uint32_t processes[PROCESSES], threads[THREADS];
	uint32_t asleep[THREADS];	/* number of the stack in which a thread sleeps */
	bool has_row[THREADS];
	struct brief {			/* a program that stays for some seconds */
		uint32_t pid, thread;
		char name[16];
	} brief[SHORT];
	uint32_t next_pid;
	uint32_t scan;
};

static void put(struct maker *m, struct record rec)
{
	if (trace_writer_record(m->w, &rec))
		_exit(1);
}

static uint32_t below(struct maker *m, uint32_t limit)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((m->seed >> 33) % limit);
}

#define PUT(TAG, field, ...) put(m, (struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ })

static uint32_t put_string(struct maker *m, const char *fmt, uint32_t nr)
{
	char text[64];

	snprintf(text, sizeof(text), fmt, nr);
	PUT(STRING, string, { ++m->ids[REC_STRING], text, strlen(text) });
	return m->ids[REC_STRING];
}

static uint32_t put_frame(struct maker *m, const char *fmt, uint32_t nr, uint64_t addr)
{
	uint32_t func = m->ids[REC_FUNC] + 1, frame = m->ids[REC_FRAME] + 1;
	struct rec_line line = { .func = func, .line = nr % 1000 + 1 };
	uint32_t name = put_string(m, fmt, nr);

	PUT(FRAME, frame, { .id = frame, .kind = FRAME_USER, .flags = FRAME_RETURN_ADDRESS, .binary = 1, .addr = addr });
	PUT(FUNC, func, { .id = func, .name = name, .sysname = name, .lang = LANG_CXX });
	PUT(SYMBOL, symbol, { .frame = frame, .status = SYMBOL_OK, .offset = 8, .lines = &line, .nr_lines = 1 });
	m->ids[REC_FUNC] = func;
	m->ids[REC_FRAME] = frame;
	return frame;
}

static uint32_t function(struct maker *m, uint32_t nr)
{
	if (!m->functions[nr])
		m->functions[nr] = put_frame(m, "shop::Department<int>::function_%u(std::string const&)", nr, 64u * nr);
	return m->functions[nr];
}

static uint32_t put_node(struct maker *m, uint32_t parent, uint32_t frame)
{
	PUT(NODE, node, { ++m->ids[REC_NODE], parent, frame });
	return m->ids[REC_NODE];
}

/* The same number is the same stack in all segments: 10 to 25 frames, of which the outer ones are shared by a few. */
static uint32_t stack(struct maker *m, uint32_t nr)
{
	uint32_t depth = 10 + nr % 16, node = 0;

	for (uint32_t d = 0; !m->stacks[nr] && d < depth; d++)
		node = put_node(m, node, function(m, (d < 6 ? nr % 50 : nr * 31 + d * 977) % FUNCTIONS));
	if (!m->stacks[nr])
		m->stacks[nr] = node;
	return m->stacks[nr];
}

static uint32_t put_process(struct maker *m, const char *name, uint32_t pid)
{
	uint32_t comm = put_string(m, name, pid);

	PUT(PROCESS, process, { .id = ++m->ids[REC_PROCESS], .tgid = pid, .start_boottime_ns = pid * 1000ull, .comm = comm, .exe = 1 });
	return m->ids[REC_PROCESS];
}

static uint32_t put_thread(struct maker *m, uint32_t process, const char *name, uint32_t tid)
{
	uint32_t comm = put_string(m, name, tid);

	PUT(THREAD, thread, { .id = ++m->ids[REC_THREAD], .process = process, .tid = tid, .comm = comm, .start_boottime_ns = tid });
	return m->ids[REC_THREAD];
}

static uint32_t thread(struct maker *m, uint32_t nr)
{
	uint32_t *process = &m->processes[nr % PROCESSES];
	char name[16];

	snprintf(name, sizeof(name), "service-%u", nr % PROCESSES % 100);
	if (!*process)
		*process = put_process(m, name, 1000 + nr % PROCESSES * 8);
	if (!m->threads[nr])
		m->threads[nr] = put_thread(m, *process, "worker-%u", 1000 + nr % PROCESSES * 8 + nr / PROCESSES);
	return m->threads[nr];
}

static uint32_t brief_thread(struct maker *m, struct brief *b)
{
	if (!b->thread)
		b->thread = put_thread(m, put_process(m, b->name, b->pid), b->name, b->pid);
	return b->thread;
}

static void put_meta(struct maker *m, const char *key, const char *value)
{
	PUT(META, meta, { key, value, strlen(value) });
}

static void begin_part(struct maker *m, uint64_t time_ns)
{
	struct trace_writer_stats st;
	char part[16];

	trace_writer_stats(m->w, &st);
	m->part_begin = st.file_bytes;
	memset(m->ids, 0, sizeof(m->ids));
	memset(m->functions, 0, sizeof(m->functions));
	memset(m->stacks, 0, sizeof(m->stacks));
	memset(m->processes, 0, sizeof(m->processes));
	memset(m->threads, 0, sizeof(m->threads));
	memset(m->has_row, 0, sizeof(m->has_row));
	for (int i = 0; i < SHORT; i++)
		m->brief[i].thread = 0;
	put_meta(m, "tool", "probee");
	put_meta(m, "argv", "probee record -a");
	put_meta(m, "host", "day");
	put_meta(m, "arch", "x86_64");
	snprintf(part, sizeof(part), "%u", ++m->part);
	if (m->part > 1)
		put_meta(m, "recording.part", part);
	PUT(CLOCK, clock, { time_ns, time_ns + 1700000000000000000ull, time_ns, 50 });
	PUT(EVENT, event, { .id = 1, .name = put_string(m, "cpu-clock", 0), .kind = EVENT_CPU_CLOCK, .freq_mhz = 99000,
			    .period = NSEC_PER_SEC / 99, .unit = put_string(m, "ns", 0) });
	PUT(EVENT, event, { .id = 2, .name = put_string(m, "snapshot", 0), .kind = EVENT_SNAPSHOT, .period = 1,
			    .unit = put_string(m, "count", 0) });
	PUT(BINARY, binary, { .id = 1, .path = put_string(m, "/usr/bin/shop", 0), .ino = 7 });
}

/* A sample of a program that comes and goes: often a stack that was never there. */
static void put_brief(struct maker *m, uint64_t time_ns)
{
	struct brief *b = &m->brief[below(m, SHORT)];
	uint32_t node = stack(m, below(m, STACKS)), i, nr = 1 + below(m, 4);
	uint32_t t = brief_thread(m, b);

	for (i = 0; below(m, 10) < 3 && i < nr; i++) {
		uint64_t addr = 0x10000000 + ((uint64_t)below(m, 1 << 30) << 4);

		node = put_node(m, node, below(m, 4) ? function(m, below(m, FUNCTIONS))
						     : put_frame(m, "plugin::Step::generated_%u", (uint32_t)addr, addr));
	}
	PUT(SAMPLE, sample, { .time_ns = time_ns, .event = 1, .thread = t, .ustack = node, .state = TASK_RUNNING, .end = END_ROOT });
}

/* A process runs in 64 stacks, in some of them far more often than in others. */
static void put_busy(struct maker *m, uint64_t time_ns)
{
	uint32_t nr = below(m, THREADS), pick = below(m, below(m, 64) + 1);

	nr = below(m, nr + 1);
	PUT(SAMPLE, sample, { .time_ns = time_ns, .event = 1, .thread = thread(m, nr), .state = TASK_RUNNING, .end = END_ROOT,
			      .ustack = stack(m, (nr % PROCESSES * 16 + pick) % STACKS) });
}

static void put_row(struct maker *m, uint32_t nr, uint64_t time_ns)
{
	if (m->has_row[nr])
		m->asleep[nr] = (nr % PROCESSES * 16 + below(m, 6)) % STACKS;
	m->has_row[nr] = true;
	PUT(SAMPLE, sample, { .time_ns = time_ns, .event = 2, .thread = thread(m, nr), .ustack = stack(m, m->asleep[nr]), .weight = 1,
			      .state = TASK_SLEEPING, .end = END_ROOT, .scan = m->scan, .cpu = UINT32_MAX, .ran_ns = time_ns - 5000 });
}

/* Threads that have changed have rows of their own, the others one run or a few. */
static void put_scan(struct maker *m, uint64_t time_ns)
{
	static bool changed[THREADS];
	uint32_t first = 0;

	m->scan++;
	for (uint32_t t = 0; t < THREADS; t++) {
		changed[t] = !m->has_row[t] || below(m, 1000) < 30;
		thread(m, t);
	}
	for (uint32_t t = 0; t <= THREADS; t++) {
		if (t < THREADS && !changed[t])
			continue;
		for (; first < t; first++) {
			struct rec_run run = { m->threads[first], 1 };

			PUT(REPEAT, repeat, { time_ns, m->scan, &run, 1 });
		}
		if (t < THREADS)
			put_row(m, t, time_ns);
		first = t + 1;
	}
	PUT(SCAN, scan, { .scan = m->scan, .time_ns = time_ns, .duration_ns = 1000000, .tasks_seen = THREADS, .rows = THREADS });
}

static void new_brief(struct maker *m)
{
	struct brief *b = &m->brief[below(m, SHORT)];

	b->pid = m->next_pid++;
	b->thread = 0;
	if (below(m, 20))
		snprintf(b->name, sizeof(b->name), "tool-%u", below(m, NAMES));
	else
		snprintf(b->name, sizeof(b->name), "job-%u", b->pid);
}

static void put_second(struct maker *m, uint64_t second, uint64_t part_bytes)
{
	uint64_t time_ns = (1000 + second) * NSEC_PER_SEC;
	struct trace_writer_stats st;

	trace_writer_stats(m->w, &st);
	if (!second || st.file_bytes - m->part_begin > part_bytes) {
		if (second) {
			PUT(END, end, { .time_ns = time_ns, .reason = ENDED_CONTINUED, .target_status = -1 });
			if (trace_writer_begin_segment(m->w))
				_exit(1);
		}
		begin_part(m, time_ns);
	}
	if (second % 60 == 0)
		PUT(CLOCK, clock, { time_ns, time_ns + 1700000000000000000ull, time_ns, 50 });
	if (second % 3 == 0)
		new_brief(m);
	for (uint32_t i = 0; i < HZ; i++)
		(below(m, 5) < 2 ? put_brief : put_busy)(m, time_ns + i * (NSEC_PER_SEC / HZ));
	put_scan(m, time_ns + NSEC_PER_SEC / 2);
	if (trace_writer_flush(m->w))
		_exit(1);
}

static void record(int trace, int go, int done, uint64_t seconds, uint64_t part_bytes, uint64_t seed)
{
	struct maker *m = calloc(1, sizeof(*m));
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!m || dup2(trace, STDOUT_FILENO) < 0 || trace_writer_open("-", NULL, &m->w))
		_exit(1);
	m->seed = seed;
	m->next_pid = 100000;
	for (int i = 0; i < SHORT; i++)
		new_brief(m);
	for (uint32_t t = 0; t < THREADS; t++)
		m->asleep[t] = t % PROCESSES * 16 % STACKS;
	for (uint64_t s = 0; s < seconds; s++) {
		put_second(m, s, part_bytes);
		if (s % STEP_S == STEP_S - 1 && (write(done, "", 1) != 1 || read(go, &c, 1) != 1))
			_exit(1);
	}
	PUT(END, end, { .time_ns = (1000 + seconds) * NSEC_PER_SEC, .reason = ENDED_SIGNAL, .target_status = -1 });
	_exit(trace_writer_close(m->w) ? 1 : 0);
}

static unsigned long status_kib(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	unsigned long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %lu", &kib);
	if (f)
		fclose(f);
	return kib;
}

struct day {
	struct feed *feed;
	uint32_t epoch;
	uint64_t worst_ns, take_ns;	/* the longest feed_take() with a compaction; all of them */
	unsigned long kib, hour_kib, halves_kib[2];	/* now; the most in this hour, and in each half */
};

/* CPU time of this thread: other processes of the machine influence it little. */
static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int take_all(struct day *d)
{
	int rc;

	do {
		uint64_t begin = cpu_ns(), took;
		uint32_t before = feed_epoch(d->feed);

		rc = feed_take(d->feed, 1);	/* 256 records, or one compaction */
		took = cpu_ns() - begin;
		d->take_ns += took;
		if (feed_epoch(d->feed) != before && took > d->worst_ns)
			d->worst_ns = took;
	} while (rc > 0);
	return rc;
}

static double view_ms(const struct live_profile *l)
{
	struct live_choice which = { .from_ns = 1 };
	uint64_t begin = cpu_ns(), first, last;
	struct profile *p = NULL;

	live_profile_times(l, &first, &last);
	which.from_ns = last > 300 * NSEC_PER_SEC ? last - 300 * NSEC_PER_SEC : 1;
	if (live_profile_choose(l, 1, &which, NULL, &p))
		exit(1);
	profile_free(p);
	return (double)(cpu_ns() - begin) / 1e6;
}

static void print_hour(struct day *d, uint64_t hour)
{
	const struct live_profile *l = feed_profile(d->feed);
	double ms = view_ms(l);

	printf("hour %2" PRIu64 "  rss_mib %5.1f  anon_mib %5.1f  definitions_mib %5.1f  growths %7zu  windows %3zu  parts %3u"
	       "  epoch %3u  worst_ms %5.1f  view_ms %5.1f\n",
	       hour, (double)d->hour_kib / 1024, (double)status_kib("RssAnon") / 1024,
	       (double)definition_store_bytes(live_profile_tables(l)) / 1048576, live_profile_windows(l)->nr_growths,
	       live_profile_windows(l)->nr, live_profile_parts(l), feed_epoch(d->feed), (double)d->worst_ns / 1e6, ms);
	fflush(stdout);
	d->hour_kib = 0;
}

static void note_memory(struct day *d, bool second_half)
{
	d->kib = status_kib("VmRSS");
	if (d->kib > d->hour_kib)
		d->hour_kib = d->kib;
	if (d->kib > d->halves_kib[second_half])
		d->halves_kib[second_half] = d->kib;
}

/* All that was recorded is in the profile. */
static void check(const struct day *d, uint64_t seconds)
{
	size_t nr;
	const struct live_event *e = live_profile_events(feed_profile(d->feed), &nr);

	printf("samples %" PRIu64 " rows %" PRIu64 " folded %" PRIu64 "\n", e[1].samples, e[2].samples,
	       live_profile_folded(feed_profile(d->feed)));
	if (e[1].samples != seconds * HZ || e[2].samples != seconds * THREADS || feed_recordings(d->feed) != 1)
		exit(1);
}

int main(int argc, char **argv)
{
	uint64_t hours = argc > 1 ? strtoull(argv[1], NULL, 10) : 24, seconds = hours * 3600;
	uint64_t part = (argc > 2 ? strtoull(argv[2], NULL, 10) : 10) << 20, seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	const struct feed_how how = { .is_live = true, .frees = true };
	int trace = memfd_create("trace", MFD_CLOEXEC), go[2], done[2];
	struct day d = { .feed = NULL };
	char c;

	if (trace < 0 || pipe(go) || pipe(done))
		return 1;
	if (!fork())
		record(trace, go[0], done[1], seconds, part, seed);
	memory_be_frugal();
	if (feed_open(dup(trace), "day", &how, &d.feed))
		return 1;
	for (uint64_t s = STEP_S; s <= seconds; s += STEP_S) {
		if (read(done[0], &c, 1) != 1 || take_all(&d) < 0)
			return 1;
		note_memory(&d, s > seconds / 2);
		if (s % 3600 == 0)
			print_hour(&d, s / 3600);
		if (s == seconds)
			check(&d, seconds);
		if (write(go[1], "", 1) != 1)
			return 1;
	}
	printf("rss_mib %.1f\ngrowth_percent %.1f\nworst_ms %.1f\nview_cpu_s %.1f\n",
	       (double)(d.halves_kib[1] > d.halves_kib[0] ? d.halves_kib[1] : d.halves_kib[0]) / 1024,
	       100.0 * ((double)d.halves_kib[1] - (double)d.halves_kib[0]) / (double)d.halves_kib[0],
	       (double)d.worst_ns / 1e6, (double)d.take_ns / 1e9);
	feed_close(d.feed);
	return 0;
}
