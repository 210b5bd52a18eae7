/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of --html, fed with what a recording under way has.
 *
 *	live_page_new(l, &p)
 *	live_page_html(title, out)		the page itself: no data, the scripts ask for them
 *	live_page_update(p)			after records have come
 *	live_page_message(p, since, &bytes)	for a reader that has version since; 0: nothing yet
 *	live_page_free(p)
 *
 * A message takes the page's script (assets/page/live.js) from a version to the present one, so a
 * slow reader gets all that it has missed in one message. What a version needs is kept for
 * LIVE_VERSIONS versions or LIVE_LOG_BYTES; a reader that is further behind gets all anew.
 *
 * Ids of the profile must keep their meaning. Where they do not, a page is made anew, and its
 * readers, who have versions of the old one, get all.
 *
 * page_message.h says what a message is. Besides the sections that all pages have, there are:
 *
 *	changed-nodes	triples: node, function, flags, of nodes that are known
 *	stacks		from, nr; column: node
 *	changed-stacks	pairs: stack, node, of stacks that are known
 *	counts		from, nr; columns: event (index in facts; another number: it is not shown),
 *			thread, stack, activity
 *	entries		ticks, as live_entries.h says
 *	rows		the threads as they are now, as live_threads.h says
 *
 * There is one tree for all events. Nodes are in the order in which they were met.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define LIVE_VERSIONS 512
#define LIVE_LOG_BYTES (4u << 20)

struct byte_buf;
struct live_page;
struct live_profile;

/* l is borrowed. 0 or -ENOMEM */
int live_page_new(const struct live_profile *l, struct live_page **pp);
/* Before the first update: waits of threads without work are shown, not folded. */
void live_page_show_idle(struct live_page *p);
void live_page_free(struct live_page *p);		/* NULL is fine */

/* 1: the version has grown; 0: nothing is new; -ENOMEM, silently: it is of no use any more. */
int live_page_update(struct live_page *p);
uint64_t live_page_version(const struct live_page *p);	/* 0 before the first update */

/*
 * What a reader of version since lacks; since 0: all, and then the page is updated first, so ask
 * for the version afterwards. The caller releases out. 0; -ESTALE: since is not known any more;
 * -ENOMEM.
 */
int live_page_message(struct live_page *p, uint64_t since, struct byte_buf *out);

/*
 * The page, and the policy that the header Content-Security-Policy should have. Its script asks
 * the address "events", relative to the page's own, for server-sent events, whose data are
 * messages in base64. 0, -ENOMEM, or the error of out.
 */
int live_page_html(const char *title, FILE *out);
int live_page_policy(FILE *out);
