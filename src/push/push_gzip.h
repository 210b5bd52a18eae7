/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes as a file of gzip, without time and name, so that equal bytes give equal ones. It takes
 * more time than gzip_stream.h and gives less bytes, because they are sent.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The caller frees it. NULL: out of memory. */
uint8_t *push_gzip(const void *bytes, size_t len, size_t *out_len);
