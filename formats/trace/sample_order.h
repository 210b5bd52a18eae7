/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of samples in a chunk: by time, and those of the same time as they came. The writer
 * sorts by it, and so does live_scans.c, which shows rows before they can be read back.
 */
#pragma once

#include <stddef.h>

struct rec_sample;

/* 0, or -ENOMEM with nothing moved. Rows that are in order already cost one pass. */
int samples_sort(struct rec_sample *v, size_t n);
