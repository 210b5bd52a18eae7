/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a trace is encoded for a receiver, and what is counted meanwhile (push_encode.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/frame_style.h"

enum push_protocol {
	PUSH_OTLP,			/* OTLP/HTTP, profiles of v1.10: many profiles in a body */
	PUSH_PYROSCOPE,			/* Pyroscope's push.v1, Connect with JSON: likewise */
	PUSH_INGEST,			/* Pyroscope's /ingest: one profile in a body */
	PUSH_PROTOCOLS
};

/* What tells samples of different threads apart. */
enum push_threads {
	PUSH_THREADS_ID,		/* thread.id and thread.name: each thread by itself */
	PUSH_THREADS_NAME,		/* thread.name: threads of equal names are one */
	PUSH_THREADS_NONE,
	PUSH_THREADS
};

#define PUSH_WINDOW_NS 10000000000ull	/* also the most that a window may last */
#define PUSH_MAX_LABELS 10		/* with ours that is less than Pyroscope's 30 */

struct push_label {
	const char *name, *value;
};

/* Zero stands for what is said in brackets. Everything is borrowed for the call. */
struct push_encode_opts {
	enum push_protocol protocol;
	uint64_t window_ns;		/* [10 s], at most that, at least 1 ms */
	/* Windows that share a body, if they fit; counted from the first one of the trace. [12] */
	uint32_t bundle_windows;
	uint32_t max_samples;		/* in one profile [16,000] */
	size_t max_profile_bytes;	/* of one profile before compression [4 MiB] */
	size_t max_body_bytes;		/* of one body before compression [16 MiB] */
	/*
	 * The bytes of one body, as Pyroscope counts them: each profile by itself, with all that it
	 * refers to. [no limit]
	 */
	size_t max_cost;
	uint32_t max_rows;		/* that wait for their windows to end [131,072] */
	const char *service;		/* name of every process's service [NULL: from the trace] */
	const struct push_label *labels;
	size_t nr_labels;		/* at most PUSH_MAX_LABELS */
	int64_t rebase_ns;		/* added to all times */
	struct frame_style style;
	/*
	 * A part of what is encoded without these: as many samples and losses as skip says are
	 * left out at the beginning, and take (0: all) are encoded. Ids of profiles depend on
	 * their numbers, which begin with first_profile.
	 */
	uint64_t skip, take, first_profile;
	bool no_gzip;			/* bodies are not compressed; profiles of pprof are */
	enum push_threads threads;	/* fewer of them make fewer samples and series */
	/*
	 * OTLP has the addresses of frames with names, too. Without them, frames of one function
	 * and line are one, and so are more stacks: a quarter fewer bytes.
	 */
	bool addresses;
};

struct push_counts {
	uint64_t bodies, profiles;
	uint64_t samples;		/* of the trace */
	uint64_t rows;			/* samples of profiles */
	uint64_t lost;			/* what the trace says is missing, in profiles of losses */
	uint64_t late;			/* samples that came when their window had been sent */
	uint64_t split;			/* profiles that were cut for their size */
	uint64_t capped;		/* values beyond 2^63 - 1, which are that now */
	uint64_t cut_values;		/* values of attributes and labels that were too long */
	uint64_t bytes, raw_bytes;	/* of bodies */
};
