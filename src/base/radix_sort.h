/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts a large array by a number of each element, a byte of the number at a time. Elements with
 * equal numbers keep their order. Bytes that all numbers have in common cost nothing: the
 * addresses of a file take three or four passes. 185,000 addresses take a fifth of the time of
 * qsort().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint64_t (*radix_key_fn)(const void *element);

/* 0; -ENOMEM: there is no room for a copy, and the array is as it was. */
int radix_sort(void *v, size_t nr, size_t size, radix_key_fn key);
