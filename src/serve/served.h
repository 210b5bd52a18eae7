/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One trace that is served: it is read as it grows, and what clients get of it is made once for
 * all that are equally far.
 *
 *	served_open(&source, &v)
 *	served_update(v)		reads what has come; 1: something is new, 0, -errno
 *	served_events(v, since)		a message of server-sent events for the page
 *	served_tree(v, name)		the call tree as JSON
 *	served_snapshot(v)		the trace as it is now
 *	served_close(v)
 *
 * A client is not sent each message: it is sent what differs between what it has and what there is,
 * whenever it can take more. So a slow client gets to the newest state in one step, and nothing is
 * queued for it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/serve/serve_source.h"

struct feed;
struct live_page;
struct live_profile;
struct shared_text;

/* How far a client is. All zero: it has nothing. */
struct served_at {
	uint64_t epoch, version;
};

#define SERVED_TEXTS 4

struct served {
	struct serve_source source;
	bool shows_idle;		/* set between served_open() and the first update */
	struct feed *feed;
	const struct live_profile *profile;	/* NULL: nothing has come yet */
	uint32_t feed_epoch;
	struct live_page *page;		/* NULL likewise */
	struct served_at now;		/* what is newest */
	bool is_over;			/* nothing will come any more */
	/* Messages that were made lately, for the next client that is as far. */
	struct {
		struct served_at since, at;
		struct shared_text *text;
	} texts[SERVED_TEXTS];
	size_t next_text;
	struct shared_text *tree;	/* of the event that is shown by itself; NULL: none */
	struct served_at tree_at;
};

int served_open(const struct serve_source *source, struct served *v);
/* Reads for budget_ns at most. More may be there: served_is_behind(). */
int served_update(struct served *v, uint64_t budget_ns);
bool served_is_behind(const struct served *v);
void served_close(struct served *v);

/*
 * What brings a client from *at to the newest state; *at is there then. The caller has a reference.
 * NULL: out of memory.
 */
struct shared_text *served_events(struct served *v, struct served_at *at);
/* event: its name; NULL: the one that is shown by itself. NULL: out of memory. */
struct shared_text *served_tree(struct served *v, const char *event);
/* Puts served_tree() of the event that is shown into a message of server-sent events. */
struct shared_text *served_tree_event(struct served *v);
/*
 * A descriptor of a trace that stays as it is, and its range in there. -errno, silently. It is
 * whole up to what was read last.
 */
int served_snapshot(struct served *v, uint64_t *begin, uint64_t *end);
/* The id of server-sent events, as the client says it again: "3-17". Others are all zero. */
struct served_at served_at_parse(const char *id);
