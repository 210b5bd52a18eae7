/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/http_places.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "src/base/clock.h"

struct http_place {
	struct http_place *prev, *next;
	struct MHD_Connection *connection;
	enum http_place_kind kind;
	uint64_t since_ns;		/* it is of this kind */
};

void http_places_init(struct http_places *p, const struct http_library *http, unsigned strangers,
		      unsigned known)
{
	*p = (struct http_places){ .http = http, .max_strangers = strangers, .max_known = known };
}

unsigned http_places_limit(const struct http_places *p)
{
	return p->max_known + 2 * p->max_strangers;
}

/* ---- lists ---- */

static void take_out(struct http_places *p, struct http_place *at)
{
	struct http_place_list *l = &p->of[at->kind];

	*(at->prev ? &at->prev->next : &l->first) = at->next;
	*(at->next ? &at->next->prev : &l->last) = at->prev;
	assert(l->nr);
	l->nr--;
}

static void put_in(struct http_places *p, struct http_place *at, enum http_place_kind kind)
{
	struct http_place_list *l = &p->of[kind];

	at->kind = kind;
	at->since_ns = now_ns();
	at->prev = l->last;
	at->next = NULL;
	*(l->last ? &l->last->next : &l->first) = at;
	l->last = at;
	l->nr++;
}

static void become(struct http_places *p, struct http_place *at, enum http_place_kind kind)
{
	take_out(p, at);
	put_in(p, at, kind);
}

/* ---- connections ---- */

static void shut_down(const struct http_places *p, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		p->http->get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		shutdown(info->connect_fd, SHUT_RDWR);
}

static void send_away(struct http_places *p, struct http_place *at)
{
	become(p, at, PLACE_LEAVING);
	shut_down(p, at->connection);
	p->sent_away++;
}

static struct http_place *place_of(const struct http_places *p, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		p->http->get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static struct http_place *begin(struct http_places *p, struct MHD_Connection *c)
{
	struct http_place *at = calloc(1, sizeof(*at));

	if (!at) {			/* nobody would count it */
		shut_down(p, c);
		return NULL;
	}
	at->connection = c;
	put_in(p, at, PLACE_STRANGER);
	if (p->of[PLACE_STRANGER].nr > p->max_strangers)
		send_away(p, p->of[PLACE_STRANGER].first);
	return at;
}

void http_places_notify(void *places, struct MHD_Connection *c, void **place,
			enum MHD_ConnectionNotificationCode code)
{
	struct http_places *p = places;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*place = begin(p, c);
	} else if (*place) {
		take_out(p, *place);
		free(*place);
		*place = NULL;
	}
}

bool http_places_admit(struct http_places *p, struct MHD_Connection *c)
{
	struct http_place *at = place_of(p, c);
	unsigned known = p->of[PLACE_IDLE].nr + p->of[PLACE_BUSY].nr;

	if (!at || at->kind == PLACE_LEAVING)
		return false;
	if (at->kind == PLACE_STRANGER && known >= p->max_known) {
		if (!p->of[PLACE_IDLE].nr)
			return false;
		send_away(p, p->of[PLACE_IDLE].first);
	}
	become(p, at, PLACE_BUSY);
	return true;
}

void http_places_done(struct http_places *p, struct MHD_Connection *c)
{
	struct http_place *at = place_of(p, c);

	if (at && at->kind == PLACE_BUSY)
		become(p, at, PLACE_IDLE);
}

uint64_t http_places_expire(struct http_places *p, uint64_t now)
{
	const uint64_t time = HTTP_STRANGER_S * NSEC_PER_SEC;
	struct http_place *at;

	while ((at = p->of[PLACE_STRANGER].first)) {
		if (now - at->since_ns < time)
			return at->since_ns + time;
		send_away(p, at);
	}
	return UINT64_MAX;
}
