/*
 * The order of samples in a chunk: by time, and those of the same time as they came. The writer and
 * whoever shows rows before they are read back must agree about it.
 */
#pragma once

#include <stddef.h>

struct rec_sample;

/* 0, or -ENOMEM with nothing moved. Costs one pass where they are in order already. */
int samples_sort(struct rec_sample *v, size_t n);
