/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server and its traces count, in the text format of Prometheus (version 0.0.4).
 *
 * Counters of a trace begin at 0 with its recording. Series of traces have a label trace.
 */
#pragma once

struct serve;
struct shared_text;

struct shared_text *metrics_text(const struct serve *s);	/* NULL: out of memory */
