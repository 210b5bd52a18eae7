/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells systemd how the service is: datagrams to the socket in $NOTIFY_SOCKET. Without that
 * variable nothing is sent, and all of these do nothing.
 *
 *	sd_notify_open(&n)		reads the environment
 *	sd_notify_send(&n, "READY=1")
 *	sd_notify_reloading(&n)		RELOADING=1 with the time that systemd wants beside it
 *	n.watchdog_ns			WATCHDOG=1 has to be sent so often, or the service is ended;
 *					0: no watchdog
 *	sd_notify_close(&n)
 *
 * Source: sd_notify(3), "Notes": the protocol is part of systemd's stable interfaces.
 */
#pragma once

#include <stdint.h>

struct sd_notify {
	int fd;				/* of the socket; -1: there is none */
	uint64_t watchdog_ns;
};

void sd_notify_open(struct sd_notify *n);
/* Lines of NAME=VALUE. What cannot be sent at once is dropped: the socket's reader is at fault. */
void sd_notify_send(const struct sd_notify *n, const char *lines);
void sd_notify_reloading(const struct sd_notify *n);
void sd_notify_close(struct sd_notify *n);
