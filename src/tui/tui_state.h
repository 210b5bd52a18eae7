/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the views of the terminal share: what is looked at, and where in it the user is.
 *
 *	tui_state_open(t, source, opts, view)
 *	tui_state_update(t)		reads what has come; makes the tree again if it is time
 *	tui_draw(t)			tui_draw.h: the whole screen to t->canvas
 *	tui_key(t, key)			tui_keys.h: what a key does
 *	tui_state_close(t)
 *
 * The tree is made again when records have come and the refresh time is over, and at once when the
 * user asks for another one. What is selected is found again in the new tree by the names on the
 * way to it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/live/thread_rows.h"
#include "src/profile/fold_roots.h"
#include "src/live/live_profile.h"
#include "src/profile/profile.h"
#include "src/tui/canvas.h"
#include "src/tui/cursor.h"
#include "src/tui/export_files.h"
#include "src/tui/function_minute.h"
#include "src/tui/process_memory.h"
#include "src/tui/top_list.h"
#include "src/tui/tui_keycodes.h"
#include "src/tui/tui_search.h"
#include "src/tui/tui_source.h"

struct tui_view;

struct flame_state {
	uint32_t zoom, at;		/* nodes of the profile */
	int scroll;			/* rows of the tree above what is seen */
	bool is_up;			/* the root is below, as in a flame graph */
};

struct top_state {
	struct cursor cursor;
	bool by_total, as_tree;
	struct top_list list;
	struct function_minute minute;
	uint8_t *open;			/* by node, in tree mode: its children are shown */
	size_t cap_open;
};

struct processes_state {
	struct cursor cursor;
	uint32_t at_tgid;		/* the process that is selected; 0: none yet */
};

struct threads_state {
	struct cursor cursor;
	uint32_t at_thread;		/* record of the thread that is selected */
	uint32_t at_tid;		/* its number, which outlives an epoch (feed.h) */
	uint32_t epoch;			/* that at_thread is of */
	bool has_detail;		/* its stack is shown */
	enum thread_sort sort;
	enum thread_group group;
};

struct time_state {
	uint32_t at;			/* column of the cursor */
	bool is_brushing;
	uint64_t brush_ns;		/* where the brush began */
};

/* What is asked for in the last line of the screen. */
enum prompt_kind { PROMPT_NONE, PROMPT_SEARCH, PROMPT_EXPORT };
struct prompt {
	enum prompt_kind kind;
	char text[SEARCH_TEXT_MAX];	/* also the name of a file */
	size_t len;
};

struct tui {
	const struct tui_source *source;
	const struct tui_options *opts;
	struct feed *feed;
	struct syscall_names *calls;	/* tui_calls() */
	struct export_files exports;	/* opened by the caller, if at all */
	struct process_memory memory;	/* likewise */
	char export_name[EXPORT_NAME_MAX];	/* while .exports.is_busy */
	bool is_leaving;		/* was told that a file is not written yet */
	struct canvas canvas;
	bool is_plain;			/* there are no colours: signs tell instead */
	const struct tui_view *view;
	bool is_unfinished;		/* what was drawn last is not whole yet */
	/* What is shown. */
	struct profile *profile;	/* NULL: nothing to show yet */
	uint64_t tree_serial, mark_serial;	/* numbers of .profile and .mark, from 1 */
	uint32_t event;			/* its id; 0: nothing was sampled yet */
	bool has_chosen_event;		/* else CPU time is taken once there is some */
	char event_name[128], event_unit[32];	/* by which it is found again */
	uint32_t epoch;			/* of the ids: feed.h */
	struct live_choice choice;
	struct fold_by by;
	uint32_t span;			/* index into the spans of time; 0: all */
	bool is_inverted;
	enum tui_mode mode;
	struct profile *mark;		/* what it is compared with; NULL: nothing */
	/* When it is made again. */
	bool is_frozen, is_stale, has_news, is_over;
	uint64_t made_ns, shown_ns;	/* CLOCK_MONOTONIC, of the tree; of the last sample in it */
	uint64_t made_in_ns;		/* what making it took */
	uint64_t first_ns;		/* of the first tree; 0: there was none */
	/* Where the user is. */
	struct flame_state flame;
	struct top_state top;
	struct processes_state processes;
	struct threads_state threads;
	struct time_state time;
	uint32_t scroll;		/* of waits, health and help */
	struct prompt prompt;
	struct tui_search search;
	bool has_help, wants_quit;
	char message[256];		/* shown until the next key; "": none */
};

int tui_state_open(struct tui *t, const struct tui_source *source, const struct tui_options *opts,
		   const struct tui_view *view);
void tui_state_close(struct tui *t);

/* 1: there is something new to draw; 0: nothing; -errno, which was reported. */
int tui_state_update(struct tui *t);
/* Makes the tree again now: the user asked for another one. */
void tui_remake(struct tui *t);
/* Keeps what is shown now, to be compared with what comes later; or forgets it. */
void tui_mark(struct tui *t);
/* The node of the mark that a node of the profile is; NODE_NONE: there is none. */
uint32_t tui_marked(const struct tui *t, uint32_t node);
/*
 * The node of the mark that a child is, where that of its parent is known (NODE_NONE: there is
 * none).
 */
uint32_t tui_marked_child(const struct tui *t, uint32_t parent_then, uint32_t node);
/*
 * How much the share of a node differs from that of the mark, beyond what so few samples may differ
 * by chance: -CHANGE_STEPS .. CHANGE_STEPS, 0: not. then: tui_marked().
 */
int tui_change(const struct tui *t, uint32_t node, uint32_t then);
/* Which samples are seen: what the user chose, the span of time, the mode. */
struct live_choice tui_choice(const struct tui *t);
const struct live_profile *tui_live(const struct tui *t);	/* NULL: nothing has come yet */

void tui_say(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Names of system calls on the recording's machine; NULL: out of memory. */
const struct syscall_names *tui_calls(struct tui *t);
