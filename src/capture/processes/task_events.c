/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/task_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/proc/cpus.h"

#define BUFFER_PAGES 256	/* per CPU; a power of two */
#define MIN_PAGES 8
#define MAX_RECORD 65536

#define CLOCKS_DIFFER_NS (10 * NSEC_PER_MSEC)	/* at most, between CPUs */

struct cpu_buffer {
	uint32_t cpu;
	int fd;				/* -1: the CPU is offline */
	uint64_t enabled_ns;		/* for how long it has counted, as the last look found it */
	struct perf_event_mmap_page *meta;
	uint8_t *data;
	size_t size;
	uint64_t head, tail;		/* of the current drain */
	uint64_t next_ns;		/* of the record at tail; 0: not read, UINT64_MAX: none */
};

struct task_events {
	int epoll_fd;
	bool patient;
	size_t pages;			/* of each buffer */
	size_t nr, cap;
	struct cpu_buffer *v;
	uint8_t *record;		/* a record that wraps around is put together here */
	uint64_t until_ns, looked_ns;	/* of the current drain: its limit, when heads were read */
};

/* sample_id_all has the kernel write this behind every record: TID, then TIME. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct mmap2_body {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char path[];
};

struct comm_body {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct task_body {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct code_body {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};

struct lost_body {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int open_cpu(const struct task_events *te, struct cpu_buffer *b)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr),
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1, .ksymbol = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.watermark = 1, .wakeup_watermark = te->patient ? 0 /* half of the buffer */ : 1,
	};
	long page = sysconf(_SC_PAGESIZE);
	struct epoll_event ev = { .events = EPOLLIN };
	void *mem;

	b->fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)b->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (b->fd < 0)
		return -errno;
	b->size = (size_t)page * te->pages;
	mem = mmap(NULL, b->size + (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (mem == MAP_FAILED)
		return -errno;
	b->meta = mem;
	b->data = (uint8_t *)mem + page;
	return epoll_ctl(te->epoll_fd, EPOLL_CTL_ADD, b->fd, &ev) ? -errno : 0;
}

static void close_cpu(struct cpu_buffer *b)
{
	if (b->meta)
		munmap(b->meta, b->size + (size_t)sysconf(_SC_PAGESIZE));
	if (b->fd >= 0)
		close(b->fd);
	*b = (struct cpu_buffer){ .cpu = b->cpu, .fd = -1 };
}

static int add_cpu(struct task_events *te, uint32_t cpu)
{
	struct cpu_buffer *b = array_push(&te->v, &te->nr, &te->cap);

	if (!b)
		return -ENOMEM;
	*b = (struct cpu_buffer){ .cpu = cpu, .fd = -1 };
	return 0;
}

static int open_all(struct task_events *te, const struct cpu_list *cpus)
{
	int err = 0;

	te->nr = 0;
	for (size_t i = 0; i < cpus->nr && !err; i++) {
		err = add_cpu(te, cpus->v[i]);
		if (!err)
			err = open_cpu(te, &te->v[i]);
		if (err == -ENODEV || err == -ENXIO)	/* went offline meanwhile */
			err = 0;
	}
	return err;
}

/*
 * What a user may lock in memory is for all CPUs together (perf_event_mlock_kb, RLIMIT_MEMLOCK). If
 * it is too little, all buffers are made smaller, so that no CPU has one at the expense of others.
 */
static int open_buffers(struct task_events *te, const struct cpu_list *cpus)
{
	int err = -EPERM;

	for (te->pages = BUFFER_PAGES; te->pages >= MIN_PAGES; te->pages /= 2) {
		err = open_all(te, cpus);
		if (err != -EPERM && err != -ENOMEM)
			break;
		for (size_t i = 0; i < te->nr; i++)
			close_cpu(&te->v[i]);
	}
	return err;
}

int task_events_open(bool patient, struct task_events **tep)
{
	struct task_events *te = calloc(1, sizeof(*te));
	struct cpu_list cpus;
	int err;

	if (!te)
		return -ENOMEM;
	te->patient = patient;
	err = cpus_online(&cpus);
	te->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	te->record = malloc(MAX_RECORD);
	if (!err && (te->epoll_fd < 0 || !te->record))
		err = te->epoll_fd < 0 ? -errno : -ENOMEM;
	if (!err)
		err = open_buffers(te, &cpus);
	cpus_release(&cpus);
	if (err)
		task_events_close(te);
	else
		*tep = te;
	return err;
}

int task_events_fd(const struct task_events *te)
{
	return te->epoll_fd;
}

/* The text of a record, which the kernel ends with a NUL; "": there is no NUL in the record. */
static const char *text_at(const struct perf_event_header *h, size_t offset)
{
	const char *p = (const char *)h + offset;

	if (h->size <= offset + sizeof(struct trailer) ||
	    !memchr(p, 0, h->size - offset - sizeof(struct trailer)))
		return "";
	return p;
}

/* A task outside of our PID namespace has the number 0, or -1 when it is dying. */
static bool is_visible(uint32_t tgid)
{
	return tgid && tgid != UINT32_MAX;
}

static bool decode_map(const struct perf_event_header *h, struct task_event *ev)
{
	const struct mmap2_body *m = (const void *)h;

	if (h->size < sizeof(*m) + sizeof(struct trailer))
		return false;
	ev->kind = TASK_EVENT_MAP;
	ev->tgid = m->pid;
	ev->tid = m->tid;
	ev->start = m->addr;
	ev->len = m->len;
	ev->pgoff_bytes = m->pgoff;
	ev->dev = (uint64_t)m->major << 20 | m->minor;
	ev->ino = m->ino;
	ev->prot = (uint8_t)m->prot;
	ev->text = text_at(h, sizeof(*m));
	return is_visible(m->pid);
}

static bool decode_comm(const struct perf_event_header *h, struct task_event *ev)
{
	const struct comm_body *c = (const void *)h;

	ev->kind = h->misc & PERF_RECORD_MISC_COMM_EXEC ? TASK_EVENT_EXEC : TASK_EVENT_COMM;
	ev->tgid = c->pid;
	ev->tid = c->tid;
	ev->text = text_at(h, sizeof(*c));
	return is_visible(c->pid);
}

static bool decode_task(const struct perf_event_header *h, struct task_event *ev)
{
	const struct task_body *t = (const void *)h;

	if (h->size < sizeof(*t))
		return false;
	ev->kind = h->type == PERF_RECORD_FORK ? TASK_EVENT_FORK : TASK_EVENT_EXIT;
	ev->tgid = t->pid;
	ev->tid = t->tid;
	ev->parent_tgid = t->ppid;
	return is_visible(t->pid);
}

static bool decode_code(const struct perf_event_header *h, struct task_event *ev)
{
	const struct code_body *c = (const void *)h;

	if (h->size < sizeof(*c) + sizeof(struct trailer))
		return false;
	ev->kind = TASK_EVENT_CODE;
	ev->start = c->addr;
	ev->len = c->len;
	ev->is_bpf = c->type == PERF_RECORD_KSYMBOL_TYPE_BPF;
	ev->is_end = c->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ev->text = text_at(h, sizeof(*c));
	return true;
}

/*
 * Where the trailer is: at the end, but for KSYMBOL. perf_event_ksymbol_output() of the kernel does
 * not take back by how much it has made a record longer for the listener before (another profiler
 * on the same CPU), so that the next one has bytes of no meaning behind the trailer. It stands
 * behind the name, which is filled up to a multiple of 8 bytes.
 */
static size_t trailer_at(const struct perf_event_header *h)
{
	const size_t last = h->size - sizeof(struct trailer), name = sizeof(struct code_body);
	size_t len, at;

	if (h->type != PERF_RECORD_KSYMBOL || last <= name)
		return last;
	len = strnlen((const char *)h + name, last - name) + 1;
	at = name + ((len + 7) & ~(size_t)7);
	return at < last ? at : last;
}

static bool decode(const struct perf_event_header *h, struct task_event *ev)
{
	struct trailer tail;
	size_t at;

	memset(ev, 0, sizeof(*ev));
	ev->text = "";
	if (h->size < sizeof(*h) + 8 + sizeof(tail))
		return false;
	at = trailer_at(h);
	memcpy(&tail, (const uint8_t *)h + at, sizeof(tail));
	ev->time_ns = tail.time_ns;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return decode_map(h, ev);
	case PERF_RECORD_COMM:
		return decode_comm(h, ev);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(h, ev);
	case PERF_RECORD_KSYMBOL:
		return decode_code(h, ev);
	case PERF_RECORD_LOST:
		ev->kind = TASK_EVENT_LOST;
		ev->lost = ((const struct lost_body *)h)->lost;
		return true;
	default:
		return false;
	}
}

/* The record at position tail, copied if it wraps around. NULL: it is damaged. */
static const struct perf_event_header *record_at(struct task_events *te, struct cpu_buffer *b,
						 uint64_t tail)
{
	size_t at = tail & (b->size - 1);
	const struct perf_event_header *h = (const void *)(b->data + at);
	size_t first = b->size - at;

	if (h->size < sizeof(*h))
		return NULL;
	if (h->size <= first)
		return h;
	memcpy(te->record, b->data + at, first);
	memcpy(te->record + first, b->data, h->size - first);
	return (const void *)te->record;
}

/*
 * A record was written before the head that is known says so. One with a later time is damaged: it
 * would hold up all that follow it until then. It counts as of the end of this pass.
 */
static void check_time(const struct task_events *te, struct task_event *ev)
{
	if (ev->time_ns > te->looked_ns + CLOCKS_DIFFER_NS)
		ev->time_ns = te->until_ns;
}

/* Decodes the next record of b that is a known event; false: there is none before head. */
static bool peek(struct task_events *te, struct cpu_buffer *b, struct task_event *ev)
{
	while (b->tail < b->head) {
		const struct perf_event_header *h = record_at(te, b, b->tail);

		if (h && decode(h, ev)) {
			check_time(te, ev);
			return true;
		}
		/* There is always a header: the kernel wrote it. */
		b->tail = h ? b->tail + h->size : b->head;
	}
	return false;
}

/*
 * Sets *cpu to the index of the CPU whose next event is the oldest; the caller decodes that record
 * again. false: there is no event up to until_ns.
 */
static bool oldest(struct task_events *te, uint64_t until_ns, size_t *cpu)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < te->nr; i++) {
		struct cpu_buffer *b = &te->v[i];
		struct task_event ev;

		if (!b->next_ns)
			b->next_ns = peek(te, b, &ev) ? ev.time_ns : UINT64_MAX;
		if (b->next_ns < best) {
			best = b->next_ns;
			*cpu = i;
		}
	}
	return best <= until_ns;
}

/* Calls fn for all events up to until_ns. Sets *more if newer ones are there already. */
static int drain_until(struct task_events *te, uint64_t until_ns, task_event_fn fn, void *ctx,
		       bool *more)
{
	struct task_event ev;
	size_t cpu = 0;
	int err = 0;

	for (size_t i = 0; i < te->nr; i++) {
		struct cpu_buffer *b = &te->v[i];

		b->head = b->meta ? __atomic_load_n(&b->meta->data_head, __ATOMIC_ACQUIRE) : 0;
		b->tail = b->meta ? b->meta->data_tail : 0;
		b->next_ns = 0;
	}
	te->looked_ns = now_ns();
	te->until_ns = until_ns;
	while (!err && oldest(te, until_ns, &cpu) && peek(te, &te->v[cpu], &ev)) {
		err = fn(ctx, &ev);
		te->v[cpu].tail += record_at(te, &te->v[cpu], te->v[cpu].tail)->size;
		te->v[cpu].next_ns = 0;
	}
	*more = false;
	for (size_t i = 0; i < te->nr; i++) {
		if (te->v[i].meta)
			__atomic_store_n(&te->v[i].meta->data_tail, te->v[i].tail,
					 __ATOMIC_RELEASE);
		*more |= te->v[i].tail < te->v[i].head;
	}
	return err;
}

/*
 * Events of all CPUs come in order of time: a fork on one CPU comes before the events of the child
 * on another one. Events newer than the start of a pass wait for the next pass, because an older
 * event of another CPU may not be visible yet.
 */
int task_events_drain(struct task_events *te, task_event_fn fn, void *ctx)
{
	bool more = true;
	int err = 0;

	for (int pass = 0; pass < 4 && more && !err; pass++)
		err = drain_until(te, now_ns(), fn, ctx, &more);
	return err;
}

/*
 * The event of a CPU that has gone offline stands still for good, also when the CPU is back
 * (src/capture/collectors/cpu_events.h).
 */
static bool is_alive(struct cpu_buffer *b)
{
	struct { uint64_t count, enabled_ns; } now;
	uint64_t before = b->enabled_ns;

	if (b->fd < 0 || read(b->fd, &now, sizeof(now)) != sizeof(now))
		return false;
	b->enabled_ns = now.enabled_ns;
	return now.enabled_ns != before;
}

/* Adds the CPUs that were never there before, without their events. */
static void add_new(struct task_events *te)
{
	struct cpu_list online = { 0 };

	if (cpus_online(&online))
		online.nr = 0;
	for (size_t i = 0; i < online.nr; i++) {
		bool is_known = false;

		for (size_t k = 0; k < te->nr && !is_known; k++)
			is_known = te->v[k].cpu == online.v[i];
		if (!is_known && add_cpu(te, online.v[i]))
			break;
	}
	cpus_release(&online);
}

int task_events_watch(struct task_events *te, task_event_fn fn, void *ctx)
{
	struct task_event lost = { .kind = TASK_EVENT_LOST, .text = "" };
	int err = 0;

	add_new(te);
	for (size_t i = 0; i < te->nr && !err; i++) {
		struct cpu_buffer *b = &te->v[i];

		if (is_alive(b))
			continue;
		if (b->fd >= 0)
			err = task_events_drain(te, fn, ctx);	/* what it said before */
		close_cpu(b);
		if (open_cpu(te, b)) {
			close_cpu(b);
			continue;
		}
		lost.time_ns = now_ns();
		if (!err)
			err = fn(ctx, &lost);
	}
	return err;
}

void task_events_close(struct task_events *te)
{
	if (!te)
		return;
	for (size_t i = 0; i < te->nr; i++)
		close_cpu(&te->v[i]);
	if (te->epoll_fd >= 0)
		close(te->epoll_fd);
	free(te->v);
	free(te->record);
	free(te);
}
