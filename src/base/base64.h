/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes bytes as base64 (RFC 4648), in one line. ferror(out) tells whether a write failed. */
#pragma once

#include <stddef.h>
#include <stdio.h>

void base64_put(FILE *out, const void *data, size_t len);
