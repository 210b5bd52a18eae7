/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of one HTTP request, as an encoder makes it and a sender sends it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct push_body {
	/*
	 * Below the receiver's URL: "/v1development/profiles", "/push.v1.PusherService/Push",
	 * "/ingest?name=...&from=...&until=...&format=pprof".
	 */
	const char *path;
	const char *content_type;
	bool is_gzip;			/* Content-Encoding: gzip */
	const uint8_t *bytes;
	size_t len;
	uint64_t raw_len;		/* before compression */
	uint64_t cost;			/* bytes that Pyroscope counts of it, about */
	uint32_t profiles;
	uint64_t samples;		/* samples of the trace that are in it */
	uint64_t lost;			/* what the profiles of losses in it sum up to */
	uint64_t from_ns, to_ns;	/* CLOCK_REALTIME */
	/* For people: "cpu of nginx[812], 10 s from 2026-11-25 19:20:10 UTC". Safe to print. */
	const char *what;
};

/* The body is borrowed for the call. A result other than 0 ends the encoding and is returned. */
typedef int (*push_body_fn)(void *ctx, const struct push_body *b);
