/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places of connections, with a library of our own in place of libmicrohttpd: connections are numbers, sockets are pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/serve/http_places.h"

enum { STRANGERS = 3, KNOWN = 2, MOST = 16 };

static struct connection {
	int fds[2];			/* of the server, of the client */
	void *place;
	union MHD_ConnectionInfo info;
} connections[MOST];

static const union MHD_ConnectionInfo *info_of(struct MHD_Connection *c, enum MHD_ConnectionInfoType type, ...)
{
	struct connection *at = (struct connection *)c;

	if (type == MHD_CONNECTION_INFO_CONNECTION_FD)
		at->info.connect_fd = at->fds[0];
	else
		at->info.socket_context = at->place;
	return &at->info;
}

static const struct http_library library = { .get_connection_info = info_of };

static struct MHD_Connection *c(int i)
{
	return (struct MHD_Connection *)&connections[i];
}

static void comes(struct http_places *p, int i)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, connections[i].fds), 0);
	http_places_notify(p, c(i), &connections[i].place, MHD_CONNECTION_NOTIFY_STARTED);
}

static void goes(struct http_places *p, int i)
{
	http_places_notify(p, c(i), &connections[i].place, MHD_CONNECTION_NOTIFY_CLOSED);
	assert_null(connections[i].place);
	close(connections[i].fds[0]);
	close(connections[i].fds[1]);
}

static bool is_sent_away(int i)
{
	char byte;

	return recv(connections[i].fds[1], &byte, 1, MSG_DONTWAIT) == 0;
}

static void all_go(struct http_places *p, int nr)
{
	for (int i = 0; i < nr; i++)
		goes(p, i);
	for (int k = 0; k < PLACE_KINDS; k++)
		assert_true(!p->of[k].nr && !p->of[k].first && !p->of[k].last);
}

static void the_oldest_stranger_goes(void **state)
{
	struct http_places p;

	(void)state;
	http_places_init(&p, &library, STRANGERS, KNOWN);
	for (int i = 0; i < 6; i++)
		comes(&p, i);
	for (int i = 0; i < 6; i++)
		assert_int_equal(is_sent_away(i), i < 3);
	assert_int_equal(p.sent_away, 3);
	/* One that leaves by itself makes room. */
	goes(&p, 4);
	comes(&p, 4);
	assert_false(is_sent_away(3) || is_sent_away(4) || is_sent_away(5));
	comes(&p, 6);
	assert_true(is_sent_away(3));
	all_go(&p, 7);
}

static void strangers_take_no_place_of_known_ones(void **state)
{
	struct http_places p;

	(void)state;
	http_places_init(&p, &library, STRANGERS, KNOWN);
	comes(&p, 0);
	assert_true(http_places_admit(&p, c(0)));
	comes(&p, 1);
	assert_true(http_places_admit(&p, c(1)));
	http_places_done(&p, c(1));
	for (int i = 2; i < 12; i++)
		comes(&p, i);
	assert_false(is_sent_away(0) || is_sent_away(1));
	/* What was sent away is nobody's any more, even if a request was on its way. */
	assert_false(http_places_admit(&p, c(2)));
	/* An idle one makes room for another known one; one whose request is under way does not. */
	assert_true(http_places_admit(&p, c(11)));
	assert_true(is_sent_away(1) && !is_sent_away(0));
	assert_false(http_places_admit(&p, c(10)));
	assert_false(is_sent_away(10));
	/* A second request of one that is known needs no place. */
	assert_true(http_places_admit(&p, c(0)));
	http_places_done(&p, c(0));
	assert_true(http_places_admit(&p, c(10)));
	assert_true(is_sent_away(0));
	all_go(&p, 12);
}

static void strangers_have_a_deadline(void **state)
{
	const uint64_t time = HTTP_STRANGER_S * NSEC_PER_SEC, begin = now_ns();
	struct http_places p;
	uint64_t next;

	(void)state;
	http_places_init(&p, &library, STRANGERS, KNOWN);
	assert_int_equal(http_places_expire(&p, begin), UINT64_MAX);
	comes(&p, 0);
	comes(&p, 1);
	comes(&p, 2);
	assert_true(http_places_admit(&p, c(1)));
	next = http_places_expire(&p, now_ns());
	assert_true(next >= begin + time && next <= now_ns() + time);
	assert_false(is_sent_away(0));
	/* A request that is refused, or ends, gives it no more time. */
	http_places_done(&p, c(0));
	assert_int_equal(http_places_expire(&p, now_ns()), next);
	assert_int_equal(http_places_expire(&p, now_ns() + time), UINT64_MAX);
	assert_true(is_sent_away(0) && is_sent_away(2) && !is_sent_away(1));
	all_go(&p, 3);
}

/* Connections come, are admitted, end and go in any order: the numbers are right at the end. */
static void any_order(void **state)
{
	struct http_places p;
	uint64_t seed = 1;

	(void)state;
	http_places_init(&p, &library, STRANGERS, KNOWN);
	for (int step = 0; step < 20000; step++) {
		int i;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		i = (int)(seed >> 60);
		if (!connections[i].place)
			comes(&p, i);
		else if (seed >> 58 & 1)
			goes(&p, i);
		else if (seed >> 57 & 1)
			http_places_admit(&p, c(i));
		else
			http_places_done(&p, c(i));
		assert_true(p.of[PLACE_STRANGER].nr <= STRANGERS && p.of[PLACE_IDLE].nr + p.of[PLACE_BUSY].nr <= KNOWN);
	}
	for (int i = 0; i < MOST; i++)
		if (connections[i].place)
			goes(&p, i);
	for (int k = 0; k < PLACE_KINDS; k++)
		assert_true(!p.of[k].nr && !p.of[k].first && !p.of[k].last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_stranger_goes),
		cmocka_unit_test(strangers_take_no_place_of_known_ones),
		cmocka_unit_test(strangers_have_a_deadline),
		cmocka_unit_test(any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
