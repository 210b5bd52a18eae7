/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between the recorder and the keeper of a flight recorder (flight_keeper.h): fixed
 * sizes, over a pair of sockets that keep messages apart.
 *
 *	keeper				recorder
 *	MARK, of a trigger		notes it, and makes a snapshot of every thread at once
 *	NOTE, of one that is too soon	notes it
 *	CUT				ends the segment, so that it is whole
 *					CUT_DONE: another segment begins at .at
 *	END				ends the recording
 *					TRIGGER number .at: a row or a probe was seen
 *
 * When either end closes, the other one knows that it is alone. The recorder reads foreign bytes,
 * so what it says is checked: the worst that it can do is to call a trigger.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum flight_message_kind {
	FLIGHT_MARK = 1, FLIGHT_NOTE, FLIGHT_CUT, FLIGHT_END,	/* to the recorder */
	FLIGHT_TRIGGER = 16, FLIGHT_CUT_DONE,			/* to the keeper */
};

#define FLIGHT_TEXT 1024

struct flight_message {
	uint32_t kind;			/* enum flight_message_kind */
	uint32_t times;			/* TRIGGER: it came so often since the last message */
	uint64_t at;			/* TRIGGER: its number; CUT_DONE: bytes of the file */
	uint64_t time_ns;		/* of the trigger */
	char text[FLIGHT_TEXT];		/* about it; MARK: the trigger */
	char counts[FLIGHT_TEXT];	/* MARK: META flight */
};

/* ends[0] for the keeper, ends[1] for the recorder. 0 or -errno, silent. */
int flight_link_open(int ends[2]);
/* 0; -EAGAIN: the other side does not read; -EPIPE: it has gone; silent. */
int flight_link_send(int fd, const struct flight_message *m);
/* 1: a whole message; 0: none is there; -EPIPE: the other side has gone; never waits. */
int flight_link_receive(int fd, struct flight_message *m);
