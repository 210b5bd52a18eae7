/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/wait_stacks.h"

#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/waits/wait_text.h"
#include "src/model/definition_store.h"
#include "src/profile/frame_style.h"
#include "src/profile/stack_note.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_graph.h"

#define MAX_FRAMES 64			/* of a stack that are shown */
#define MAX_THREADS 30			/* of a ring that are shown */
#define MAX_HEADS 20			/* rings and convoys that are shown */

struct stacks {
	const struct wait_graph *g;
	const char *kernel_suffix;
	FILE *out;
};

static void put_frames(const struct stacks *w, uint32_t stack, bool is_kernel)
{
	const struct table_node *n;
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;
	int lines = 0;

	for (; stack && (n = definition_store_find_node(w->g->tables, stack)); stack = n->parent) {
		uint32_t nr = definition_store_frame_depth(w->g->tables, n->frame);

		if (lines + (int)nr > MAX_FRAMES) {
			fputs("\t\t...\n", w->out);
			return;
		}
		for (uint32_t i = 0; i < nr; i++, lines++) {
			definition_store_frame_view(w->g->tables, n->frame, i, buf, &v);
			fputs("\t\t", w->out);
			escape_text(w->out, v.name, v.len);
			if (is_kernel)
				escape_text(w->out, w->kernel_suffix, strlen(w->kernel_suffix));
			else if (v.inlined)
				fputs(INLINED_SUFFIX, w->out);
			putc('\n', w->out);
		}
	}
	if (stack)
		fputs("\t\t[missing]\n", w->out);
}

static void put_stack(const struct stacks *w, const struct wait_row *row)
{
	char buf[STACK_NOTE_MAX], shown[STACK_NOTE_MAX];
	const char *note = row->absent ? NULL : stack_note(row->rec.end, row->rec.ustack != 0, buf);

	if (row->absent)
		return;
	fputs("\tstack of ", w->out);
	wait_put_thread(w->g->tables, row, w->out);
	fputs(":\n", w->out);
	put_frames(w, row->rec.kstack, true);
	put_frames(w, row->rec.ustack, false);
	if (note && stack_note_shown(note, strlen(note), shown))
		note = shown;
	if (note)
		fprintf(w->out, "\t\t%s\n", note);
}

static void put_head(const struct stacks *w, uint32_t head)
{
	const struct wait_row *rows = w->g->rows;
	uint32_t i = head;

	if (rows[head].ring != WAIT_NONE) {
		const struct wait_ring *ring = &w->g->rings[rows[head].ring];

		for (uint32_t n = 0; n < ring->nr && n < MAX_THREADS; n++, i = rows[i].owner)
			put_stack(w, &rows[i]);
	} else {
		put_stack(w, &rows[head]);
		if (rows[head].first_waiter != WAIT_NONE)
			put_stack(w, &rows[rows[head].first_waiter]);
	}
	putc('\n', w->out);
}

void wait_stacks_put(const struct wait_edges *e, const char *kernel_suffix, bool all, FILE *out)
{
	const struct stacks w = { e->g, kernel_suffix, out };
	uint32_t last = WAIT_NONE, nr = 0;

	for (size_t i = 0; i < e->nr && !ferror(out) && (all || nr < MAX_HEADS); i++) {
		const struct wait_edge *edge = &e->edges[i];

		if (edge->section == EDGES_MANY || edge->section == EDGES_UNKNOWN) {
			put_stack(&w, &e->g->rows[edge->row]);
			putc('\n', out);
		} else if (edge->head != last) {
			last = edge->head;
			put_head(&w, last);
		} else {
			continue;
		}
		nr++;
	}
}
