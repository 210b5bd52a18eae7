/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A state of some bytes that survives a kill at any instant and a crash of the machine.
 *
 * The problem. A state that is written over itself is neither the old nor the new one when the
 * write is cut short. A log that is only appended to grows, and on a full disk it cannot be.
 *
 * The idea. A file of RING_SLOTS slots that has its full size from the beginning. Each state goes
 * into the next slot, with a number that counts on and a checksum; after the last slot comes the
 * first one. The state is that of the whole slot with the highest number. A slot that was cut short
 * has a wrong checksum, and the one before it counts. Nothing is allocated after the creation, so a
 * full disk does not stop it.
 *
 *	ring_journal_open(dir, name, state, len, &j)	reads the last state into state; unchanged
 *							if there is none
 *	ring_journal_put(&j, state)			it is on the disk when this returns
 *	ring_journal_close(&j)
 *
 * Slots are of the byte order of the machine, and belong to the version of the struct that is in
 * them: len is part of the checksum's bytes, so a state of another length counts as none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	RING_SLOTS = 128,
	RING_SLOT_BYTES = 512,
	RING_HEAD_BYTES = 24,
	RING_STATE_MAX = RING_SLOT_BYTES - RING_HEAD_BYTES,
};

struct ring_journal {
	int fd;				/* -1: closed */
	size_t len;
	uint64_t number;		/* of the last state; 0: there is none */
};

/* len: at most RING_STATE_MAX. 0 or -errno, silent; -EACCES: not one's own file (own_file.h). */
int ring_journal_open(int dir, const char *name, void *state, size_t len, struct ring_journal *j);
int ring_journal_put(struct ring_journal *j, const void *state);
void ring_journal_close(struct ring_journal *j);
