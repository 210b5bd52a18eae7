/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/wait_what.h"

#include <inttypes.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/waits/wait_text.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_graph.h"
#include "src/waits/wait_place.h"

struct what {
	const struct wait_edges *e;
	FILE *out;
};

/* " inventory+0x28": the static variable that a futex lies in. false: it lies in none. */
static bool put_variable(const struct what *w, const struct rec_sample *rec)
{
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!wait_variable(w->e->g->tables, rec, buf, &v))
		return false;
	putc(' ', w->out);
	escape_text(w->out, v.name, v.len);
	if (v.has_offset)
		fprintf(w->out, "+0x%" PRIx64, v.offset);
	return true;
}

/* The variable says more than the address, which is another one each time the program runs. */
static void put_futex(const struct what *w, const struct rec_sample *rec)
{
	fputs("futex", w->out);
	if (!put_variable(w, rec))
		fprintf(w->out, " 0x%" PRIx64, rec->wait);
}

void wait_put_what(const struct wait_edges *e, const struct syscall_names *calls, uint32_t row,
		   bool is_unknown, FILE *out)
{
	const struct rec_sample *rec = &e->g->rows[row].rec;
	const struct lock_kind *lock = e->known[row].lock;
	const struct what w = { e, out };
	char number[WAIT_CALL_MAX];
	const char *call = wait_call_name(calls, rec, number);

	if (lock && rec->wait_kind == WAIT_UNKNOWN &&
	    (is_unknown || lock->class == LOCK_MAYBE || lock->class == LOCK_HELD_ELSEWHERE ||
	     wait_lock_of_variable(e->g->tables, rec))) {
		fputs(lock->what, out);
		put_variable(&w, rec);
	} else if (!strncmp(call, "futex", 5)) {
		put_futex(&w, rec);
	} else if (!wait_put_object(e->g->tables, calls, rec, out)) {
		fputs(call, out);
	}
}

bool wait_is_on_object(const struct wait_edges *e, const struct syscall_names *calls, uint32_t row)
{
	const struct rec_sample *rec = &e->g->rows[row].rec;
	char text[WAIT_TEXT_MAX], number[WAIT_CALL_MAX];

	return e->known[row].lock || rec->file || *wait_object_text(calls, rec, text) ||
	       !strncmp(wait_call_name(calls, rec, number), "futex", 5);
}
