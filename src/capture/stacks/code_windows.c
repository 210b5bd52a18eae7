/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A window is
 *
 *	unused		tgid is 0
 *	pending		its job is in the pool; only the job's run() touches request and answer
 *	ready		p->windows has it, with a table or without
 */
#include "src/capture/stacks/code_windows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/model/binary.h"
#include "src/model/per_process.h"
#include "src/parse/parsers.h"
#include "unwind/code_window.h"
#include "unwind/unwind_limits.h"

#define MAX_OF_PROCESS 768
#define MAX_ROUNDS 4
#define PARSED_A_SECOND 128
#define PARSED_OF_PROCESS 64
#define PARSED_AGAIN 16			/* of those: because they have changed */
#define KNOWN_EXITS 8
/* A window is not read again more often because of code that it does not tell of. */
#define AGAIN_NS (100 * NSEC_PER_MSEC)
#define UPDATE_NS (250 * NSEC_PER_MSEC)
#define READ_AN_UPDATE 16
#define RESTS_NS NSEC_PER_SEC
#define BASE(addr) ((addr) & ~(uint64_t)(CODE_WINDOW_BYTES - 1))
#define PAGE(addr) ((addr) & ~(uint64_t)(CODE_PIECE_BYTES - 1))

/* What a job works with. */
struct request {
	struct code_window in;
	struct code_piece pieces[CODE_MAX_PIECES];
	struct code_pin pins[CODE_MAX_PINS];
	uint64_t seeds[CODE_MAX_SEEDS];
	struct code_wants wants;
	uint8_t window[CODE_WINDOW_BYTES + CODE_BEHIND];
	uint8_t other[CODE_MAX_PIECES][CODE_PIECE_BYTES];
};

struct window {
	struct worker_job job;
	struct code_windows *cw;
	uint32_t tgid;
	uint64_t serial;		/* of the process */
	uint64_t begin, end;
	uint64_t read_ns, hash;
	uint64_t unused_since_ns;
	uint64_t seeds[CODE_MAX_SEEDS];	/* code that was met in it; the last ones */
	unsigned nr_seeds;		/* in all */
	unsigned round;
	bool pending, evicted;
	/* While it is pending: */
	struct request *request;
	struct unwind_table *table;
	int err;
};

/* How many may be begun in this second. */
struct budget {
	uint64_t second;
	unsigned used;
};

/*
 * What the windows of a process have in common: the places to which their code leaves, which were
 * found out last. Windows that are read later need no second round for these.
 */
struct of_process {
	uint64_t serial;
	struct budget budget;
	struct code_pin exits[KNOWN_EXITS];
	unsigned nr_exits;		/* in all */
	bool is_over;			/* budget: no_more_windows is set until it is not */
};

struct code_windows {
	struct code_windows_deps deps;
	struct window v[UNWIND_MAX_WINDOWS];
	struct budget all;
	struct per_process of_process;	/* struct of_process */
	uint64_t next_update_ns, news;
	size_t next;			/* to be read again */
	uint64_t reads;			/* in all */
};

int code_windows_new(const struct code_windows_deps *deps, struct code_windows **cwp)
{
	struct code_windows *cw = calloc(1, sizeof(*cw));

	if (!cw)
		return -ENOMEM;
	cw->deps = *deps;
	cw->of_process.size = sizeof(struct of_process);
	*cwp = cw;
	return 0;
}

static void end_request(struct window *w)
{
	unwind_table_free(w->table);
	w->table = NULL;
	free(w->request);
	w->request = NULL;
	w->pending = false;
}

void code_windows_free(struct code_windows *cw)
{
	for (size_t i = 0; cw && i < UNWIND_MAX_WINDOWS; i++)
		end_request(&cw->v[i]);
	if (cw)
		per_process_release(&cw->of_process);
	free(cw);
}

static uint32_t table_of(const struct window *w)
{
	return UNWIND_FIRST_WINDOW + (uint32_t)(w - w->cw->v);
}

static bool take_budget(struct budget *b, unsigned max)
{
	uint64_t second = now_ns() / NSEC_PER_SEC;

	if (b->second != second)
		*b = (struct budget){ second, 0 };
	return b->used < max && ++b->used;
}

/* Shows the kernel side whether more is to be asked for. */
static void set_over(struct code_windows *cw, struct process *p, struct of_process *of,
		     bool is_over)
{
	if (of->is_over == is_over)
		return;
	of->is_over = p->no_more_windows = is_over;
	unwind_loader_process(cw->deps.loader, cw->deps.binaries, p);
}

/*
 * Whether p may have another window parsed in this second. If not, its stacks come without memory
 * until the second is over: they would not wait anyway.
 */
static bool may_parse(struct code_windows *cw, struct process *p, bool again)
{
	struct of_process *of = per_process_at(&cw->of_process, p);

	if (!of)
		return false;
	if (take_budget(&of->budget, again ? PARSED_AGAIN : PARSED_OF_PROCESS))
		return take_budget(&cw->all, again ? PARSED_A_SECOND / 2 : PARSED_A_SECOND);
	if (!again)
		set_over(cw, p, of, true);
	return false;
}

/* The living process of a window, or NULL. */
static struct process *process_of(const struct window *w)
{
	struct process *p = processes_find(w->cw->deps.processes, w->tgid, TIME_NEVER);

	return p && p->serial == w->serial ? p : NULL;
}

/* Shows p's window to the kernel side, with or without a table. */
static void publish(struct window *w, struct process *p, bool has_table)
{
	struct window_of_code *of = process_window(p, w->begin, true);

	if (!of)
		return;
	of->end = w->end;
	of->read_ns = w->read_ns;
	of->table = has_table ? table_of(w) : 0;
	of->place = (uint32_t)(w - w->cw->v);
	unwind_loader_process(w->cw->deps.loader, w->cw->deps.binaries, p);
	w->cw->news++;
}

/*
 * The kernel side may still unwind with an old list of mappings, so the number is used again only
 * when that is over.
 */
static void forget(struct window *w)
{
	struct process *p = process_of(w);
	struct window_of_code *of = p ? process_window(p, w->begin, false) : NULL;

	if (of) {
		process_window_remove(p, of);
		unwind_loader_process(w->cw->deps.loader, w->cw->deps.binaries, p);
	}
	unwind_loader_drop(w->cw->deps.loader, table_of(w));
	w->tgid = 0;
	w->unused_since_ns = now_ns();
	w->cw->news++;
}

static bool is_solved(const struct window *w)
{
	for (size_t i = 0; i < w->request->in.nr_seeds; i++) {
		uint64_t at = w->request->seeds[i];
		struct unwind_rule r;

		if (at < w->begin || at >= w->end)
			continue;
		r = unwind_table_find(w->table, at);
		if (r.cfa == CFA_NONE || r.cfa == CFA_UNSUPPORTED)
			return false;
	}
	return true;
}

static bool has_piece(const struct window *w, uint64_t addr)
{
	const struct request *q = w->request;

	if (addr >= w->begin && addr < w->end)
		return true;
	for (size_t i = 1; i < q->in.nr_pieces; i++)
		if (addr - q->pieces[i].addr < q->pieces[i].len)
			return true;
	return false;
}

static bool read_piece(struct window *w, uint64_t addr)
{
	struct request *q = w->request;
	size_t n = q->in.nr_pieces;

	if (n == CODE_MAX_PIECES ||
	    !memory_reader_get(w->cw->deps.memory, (pid_t)w->tgid, PAGE(addr), q->other[n],
			       CODE_PIECE_BYTES))
		return false;
	/* The window ends in the middle of a page only where its mapping does. */
	q->pieces[n] = (struct code_piece){ q->other[n], CODE_PIECE_BYTES, PAGE(addr) };
	q->in.nr_pieces++;
	return true;
}

static void note_exit(struct window *w, const struct process *p, const struct code_pin *pin)
{
	struct of_process *of = per_process_at(&w->cw->of_process, p);

	for (unsigned i = 0; of && i < KNOWN_EXITS; i++)
		if (of->exits[i].addr == pin->addr)
			return;
	if (of)
		of->exits[of->nr_exits++ % KNOWN_EXITS] = *pin;
}

static bool add_pin(struct request *q, uint64_t addr, const struct unwind_rule *r, bool is_file)
{
	if (q->in.nr_pins == CODE_MAX_PINS || r->cfa != CFA_SP || r->aux ||
	    RULE_RA(r) != RA_CFA || r->fp > FP_UNDEFINED)
		return false;
	q->pins[q->in.nr_pins++] = (struct code_pin){
		.addr = addr, .cfa_off = r->cfa_off, .fp_off = r->fp_off, .fp = r->fp,
		.is_file = is_file,
	};
	return true;
}

/* Takes in what is known of an address that a window leads to. true: there is something. */
static bool add_want(struct window *w, const struct process *p, uint64_t addr)
{
	struct request *q = w->request;
	const struct code_windows_deps *deps = &w->cw->deps;
	struct unwind_rule rule;
	enum code_place place;

	if (has_piece(w, addr))
		return false;
	place = deps->look_up(deps->ctx, p, addr, &rule);
	if (place == PLACE_NO_CODE)
		return false;
	if (add_pin(q, addr, &rule, place == PLACE_FILE)) {
		note_exit(w, p, &q->pins[q->in.nr_pins - 1]);
		return true;
	}
	if (place != PLACE_GENERATED || BASE(addr) == BASE(w->begin) || !read_piece(w, addr))
		return false;
	if (q->in.nr_seeds < CODE_MAX_SEEDS)
		q->seeds[q->in.nr_seeds++] = addr;
	return true;
}

/* true: there is more to be known, and the job is submitted again. */
static bool one_more_round(struct window *w, const struct process *p)
{
	bool more = false;

	if (w->err || w->round >= MAX_ROUNDS || is_solved(w))
		return false;
	for (size_t i = 0; i < w->request->wants.nr; i++)
		more |= add_want(w, p, w->request->wants.v[i]);
	if (!more)
		return false;
	w->round++;
	unwind_table_free(w->table);
	w->table = NULL;
	worker_submit(w->cw->deps.pool, &w->job);
	return true;
}

static void run(struct worker_job *job)
{
	struct window *w = (struct window *)job;

	w->err = parse_code(w->cw->deps.parsers, &w->request->in, w->tgid, job->unwanted, &w->table,
			    &w->request->wants);
}

static void done(struct worker_job *job, bool cancelled)
{
	struct window *w = (struct window *)job;
	struct code_windows *cw = w->cw;
	bool ends = cancelled || atomic_load_explicit(job->unwanted, memory_order_relaxed);
	struct process *p = ends ? NULL : process_of(w);
	int err;

	if (!ends && p && one_more_round(w, p))
		return;
	if (ends) {
		end_request(w);
		return;
	}
	if (w->err)
		w->hash = 0;	/* it is tried again */
	unwind_loader_drop(cw->deps.loader, table_of(w));
	err = w->err ? w->err : p ? unwind_loader_table(cw->deps.loader, table_of(w), w->table) : 0;
	w->evicted = false;
	end_request(w);
	if (p)
		publish(w, p, !err);
	else
		forget(w);
}

/* ---- reading ---- */

/* FNV-1a by words: it tells whether code has changed. */
static uint64_t hash_code(const uint8_t *code, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ull, word;

	for (size_t i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, code + i, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
		hash ^= hash >> 29;
	}
	return hash;
}

static bool is_seed(const struct window *w, uint64_t pc)
{
	unsigned nr = w->nr_seeds < CODE_MAX_SEEDS ? w->nr_seeds : CODE_MAX_SEEDS;

	for (unsigned i = 0; i < nr; i++)
		if (w->seeds[i] == pc)
			return true;
	return false;
}

/* Reads the window's memory; also some octets behind it, because instructions go on there. */
static bool read_window(struct window *w, uint64_t map_end)
{
	struct request *q = w->request;
	size_t len = w->end - w->begin,
	       behind = map_end - w->end < CODE_BEHIND ? map_end - w->end : CODE_BEHIND;

	w->cw->reads++;
	w->read_ns = now_ns();
	if (!memory_reader_get(w->cw->deps.memory, (pid_t)w->tgid, w->begin, q->window,
			       len + behind))
		return false;
	q->pieces[0] = (struct code_piece){ q->window, len + behind, w->begin };
	q->in = (struct code_window){ .pieces = q->pieces, .nr_pieces = 1, .pins = q->pins,
				      .seeds = q->seeds };
	return true;
}

/* Half of the seeds at most, so that there is room for those of other pieces. */
static void take_seeds(struct window *w)
{
	struct request *q = w->request;
	unsigned nr = w->nr_seeds < CODE_MAX_SEEDS / 2 ? w->nr_seeds : CODE_MAX_SEEDS / 2;

	for (unsigned i = 0; i < nr; i++)
		q->seeds[i] = w->seeds[(w->nr_seeds - 1 - i) % CODE_MAX_SEEDS];
	q->in.nr_seeds = nr;
}

/* Rules of what was left to before; they are looked up anew, because code changes. */
static void take_exits(struct window *w, const struct process *p)
{
	const struct of_process *of = per_process_find(&w->cw->of_process, p);

	for (unsigned i = 0; of && i < KNOWN_EXITS; i++)
		if (of->exits[i].addr)
			add_want(w, p, of->exits[i].addr);
}

/*
 * Reads the window, and has it parsed if it is not what it was when the rows were made. pc: code
 * that was met there; 0: none. true: it is pending.
 */
static bool begin(struct window *w, struct process *p, const struct mapping *m, uint64_t pc)
{
	struct window_of_code *of = process_window(p, w->begin, false);
	bool is_new = !w->read_ns || w->evicted, is_met = pc && !is_seed(w, pc);
	uint64_t hash;

	if (is_met)
		w->seeds[w->nr_seeds++ % CODE_MAX_SEEDS] = pc;
	w->request = calloc(1, sizeof(*w->request));
	if (!w->request || !read_window(w, m->end)) {
		end_request(w);
		unwind_loader_drop(w->cw->deps.loader, table_of(w));
		w->hash = 0;
		publish(w, p, false);
		return false;
	}
	hash = hash_code(w->request->window, w->request->pieces[0].len);
	if (hash == w->hash && !is_new && !is_met) {
		bool is_shown = !of || !of->table || of->read_ns >= m->born_ns;

		end_request(w);
		if (!is_shown)	/* the same code in a new mapping */
			publish(w, p, true);
		return !is_shown;
	}
	if (!may_parse(w->cw, p, !pc)) {
		w->hash = 0;
		end_request(w);
		return false;
	}
	w->hash = hash;
	take_seeds(w);
	take_exits(w, p);
	w->pending = true;
	w->round = 0;
	worker_submit(w->cw->deps.pool, &w->job);
	return true;
}

/* The last window of p's that was not asked for goes: which one is in use is not known here. */
static void make_room(struct code_windows *cw, struct process *p)
{
	struct window *w = &cw->v[p->windows[cw->reads % p->nr_windows].place];

	if (!w->pending && process_of(w) == p)
		forget(w);
}

static struct window *unused(struct code_windows *cw)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < UNWIND_MAX_WINDOWS; i++)
		if (!cw->v[i].tgid && !cw->v[i].pending &&
		    now > cw->v[i].unused_since_ns + RESTS_NS)
			return &cw->v[i];
	return NULL;
}

static bool is_of(const struct window *w, const struct process *p, uint64_t begin)
{
	return w->tgid == p->tgid && w->serial == p->serial && w->begin == begin;
}

/* The window that holds pc; a new one if there is none. NULL: there is no room. */
static struct window *window_of(struct code_windows *cw, struct process *p,
				const struct mapping *m, uint64_t pc)
{
	uint64_t begin = BASE(pc) > m->start ? BASE(pc) : m->start,
		 end = BASE(pc) + CODE_WINDOW_BYTES;
	struct window_of_code *of = process_window(p, begin, false);
	struct window *w = of ? &cw->v[of->place] : NULL;

	if (w && !is_of(w, p, begin)) {
		assert(!of->table);
		w = NULL;
	}
	if (!w && p->nr_windows >= MAX_OF_PROCESS) {
		make_room(cw, p);
		of = process_window(p, begin, false);
	}
	if (!w)
		w = unused(cw);
	if (w && !of)
		of = process_window(p, begin, true);
	if (!w || !of)
		return NULL;
	of->place = (uint32_t)(w - cw->v);
	if (!is_of(w, p, begin)) {
		*w = (struct window){ .job = { .run = run, .done = done }, .cw = cw,
				      .tgid = p->tgid, .serial = p->serial, .begin = begin };
	}
	if (!w->pending)
		w->end = end < m->end ? end : m->end;
	return w;
}

static const struct mapping *generated_at(const struct code_windows *cw, const struct process *p,
					  uint64_t pc)
{
	const struct mapping *m = process_find_mapping(p, pc, TIME_NEVER - 1);
	const struct binary *b = m ? binaries_get(cw->deps.binaries, m->binary) : NULL;

	return m && m->died_ns == TIME_NEVER && (!b || binary_is_memory(b)) ? m : NULL;
}

bool code_windows_want(struct code_windows *cw, struct process *p, uint64_t pc)
{
	const struct mapping *m = p->died_ns == TIME_NEVER ? generated_at(cw, p, pc) : NULL;
	struct window *w = m ? window_of(cw, p, m, pc) : NULL;

	if (!w || w->pending)
		return w;
	if (w->read_ns && w->read_ns >= m->born_ns && !w->evicted &&
	    now_ns() < w->read_ns + AGAIN_NS)
		return false;
	return begin(w, p, m, pc);
}

uint64_t code_windows_news(const struct code_windows *cw)
{
	return cw->news;
}

/* ---- afterwards ---- */

/* Reads a window again, or forgets it. */
static void look_again(struct window *w)
{
	struct process *p = process_of(w);
	const struct mapping *m = p ? generated_at(w->cw, p, w->begin) : NULL;

	if (!m || m->end < w->end) {
		forget(w);
		return;
	}
	begin(w, p, m, 0);
}

static void end_second(struct code_windows *cw, struct process *p)
{
	struct of_process *of = p->no_more_windows ? per_process_find(&cw->of_process, p) : NULL;

	if (of && of->budget.second != now_ns() / NSEC_PER_SEC)
		set_over(cw, p, of, false);
}

void code_windows_update(struct code_windows *cw)
{
	uint64_t now = now_ns();
	unsigned left = READ_AN_UPDATE;

	if (now < cw->next_update_ns)
		return;
	cw->next_update_ns = now + UPDATE_NS;
	for (const struct process *p = cw->deps.processes->all; p; p = p->next)
		end_second(cw, (struct process *)p);
	for (size_t i = 0; i < UNWIND_MAX_WINDOWS && left; i++) {
		struct window *w = &cw->v[cw->next];

		cw->next = (cw->next + 1) % UNWIND_MAX_WINDOWS;
		if (!w->tgid || w->pending || now < w->read_ns + UPDATE_NS)
			continue;
		look_again(w);
		left--;
	}
}

void code_windows_evicted(struct code_windows *cw, uint32_t table)
{
	assert(table >= UNWIND_FIRST_WINDOW);
	cw->v[table - UNWIND_FIRST_WINDOW].evicted = true;
}
