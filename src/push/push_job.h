/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of an encoding share: push_encode.c cuts the samples into profiles, and one of the
 * encoders makes bodies of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/push/push_body.h"
#include "src/push/push_encode_opts.h"
#include "src/push/push_rows.h"
#include "src/push/push_types.h"

struct report;

#define PUSH_WHAT_MAX 224

struct push_job {
	struct report *rep;
	struct push_encode_opts opts;	/* with all that was 0 filled in */
	struct push_types types;
	push_body_fn fn;
	void *ctx;
	struct push_counts *counts;
};

/* The rows of one profile, or of a part of one if there are too many. */
struct push_group {
	const struct push_row *rows;	/* all of one profile (push_rows.h) */
	size_t nr;
	uint64_t from_ns, to_ns;	/* CLOCK_REALTIME, moved by rebase_ns */
};

/* Makes bodies of profiles. Its functions return 0, -ENOMEM, or what fn returned. */
struct push_encoder {
	void *(*begin)(struct push_job *job);	/* NULL: out of memory */
	/* Takes some of the first rows of the group, at least one, and says how many. */
	int (*profile)(void *enc, const struct push_group *g, size_t *taken);
	int (*flush)(void *enc);		/* gives fn what waits */
	void (*end)(void *enc);
};

extern const struct push_encoder push_encoder_otlp;
extern const struct push_encoder push_encoder_pyroscope;	/* both of Pyroscope's protocols */

/* The id of the next profile. Ids of one trace differ, and equal calls give equal ids. */
void push_profile_id(struct push_job *job, const struct push_group *g, uint8_t id[16]);

/* Counts a body and gives it to fn. */
int push_give(struct push_job *job, const struct push_body *b);
/* Makes these bytes a body, compressed if the options say so, and gives it to fn. */
int push_give_packed(struct push_job *job, struct push_body *b, const void *raw, size_t raw_len);

/* A value that the protocols can carry; those beyond are counted. */
int64_t push_value(struct push_job *job, uint64_t v);

/* How many rows all of the group's samples together are: of the trace, and of losses. */
void push_group_sums(const struct push_group *g, uint64_t *samples, uint64_t *lost);

/* What the frame of a loss is called: "[lost: ring-full]"; by push_row.ustack. */
void push_loss_name(uint32_t cause, char *out, size_t size);

/* "cpu of nginx[812], 10 s from 2026-11-25 19:20:10 UTC" */
void push_what_one(const struct push_job *job, const struct push_group *g, const char *title,
		   char out[PUSH_WHAT_MAX]);
/* "12 profiles of 7 processes, 60 s from ..." */
void push_what_many(uint32_t profiles, uint32_t processes, uint64_t from_ns, uint64_t to_ns,
		    char out[PUSH_WHAT_MAX]);
