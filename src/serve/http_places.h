/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may hold a connection to a server, and for how long.
 *
 * The problem. A server has a limited number of connections. Whoever can connect could hold all of
 * them without being allowed anything: with half a request and a byte now and then, each of which
 * begins libmicrohttpd's time of silence anew.
 *
 * The idea. A connection is a stranger's until a request on it has been found to be allowed. There
 * are places for strangers, and others for those who are known. So strangers can take places only
 * from each other: one that comes when all of theirs are taken sends the oldest of them away, and
 * each is sent away when its time is over. A known one that has no request under way makes room for
 * another known one. To send away is to shut its socket down, whereupon libmicrohttpd closes it.
 *
 *	http_places_init(&p, &http, strangers, known)
 *	start_daemon(... MHD_OPTION_NOTIFY_CONNECTION, http_places_notify, &p,
 *		     MHD_OPTION_CONNECTION_LIMIT, http_places_limit(&p) ...)
 *	http_places_admit(&p, connection)	each time that a request on it was found allowed
 *	http_places_done(&p, connection)	each time that one has ended
 *	http_places_expire(&p, now)		before each wait, which may be as long as it says
 *	stop_daemon()				ends all of them
 *
 * Limits. Known ones can fill the places of known ones with requests that do not end, such as
 * streams of events; then further requests are refused, and no stranger is kept waiting for that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/serve/http_library.h"

#define HTTP_STRANGER_S 10		/* within which a stranger must have sent its request */

struct http_place;

/* Connections of one kind, the one that has been it for longest first. */
struct http_place_list {
	struct http_place *first, *last;
	unsigned nr;
};

enum http_place_kind { PLACE_STRANGER, PLACE_IDLE, PLACE_BUSY, PLACE_LEAVING, PLACE_KINDS };

struct http_places {
	const struct http_library *http;
	struct http_place_list of[PLACE_KINDS];
	unsigned max_strangers, max_known;
	uint64_t sent_away;		/* counted for /metrics */
};

void http_places_init(struct http_places *p, const struct http_library *http, unsigned strangers,
		      unsigned known);

/* What libmicrohttpd has room for: those who leave need some until they are gone. */
unsigned http_places_limit(const struct http_places *p);

/* For MHD_OPTION_NOTIFY_CONNECTION. */
void http_places_notify(void *places, struct MHD_Connection *c, void **place,
			enum MHD_ConnectionNotificationCode code);

/* false: all places of known ones are taken by requests. */
bool http_places_admit(struct http_places *p, struct MHD_Connection *c);
void http_places_done(struct http_places *p, struct MHD_Connection *c);

/* Sends strangers away whose time is over. When that will be of the next one; UINT64_MAX: never. */
uint64_t http_places_expire(struct http_places *p, uint64_t now);
