/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a report in the order of their times. They stand in a trace in nearly that order:
 * those of neighbouring chunks may overlap by META reorder_ns, and those of several recordings in
 * any way.
 *
 *	time_order_samples(rep, fn, ctx)	as report_samples(), but sorted
 *
 * Samples are held back until no earlier one can come: for reorder_ns or, where there are several
 * recordings, until the end. At most TIME_ORDER_MAX of them are; beyond that, the earliest one goes
 * on, and later ones may be out of order.
 */
#pragma once

#include "src/report/report.h"

#define TIME_ORDER_MAX (1u << 20)

/* The .rec that fn gets has no scan, no event and nothing about waits: these are 0. */
int time_order_samples(struct report *rep, report_sample_fn fn, void *ctx);
