/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as hexadecimal digits: build-ids, uuids. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes two digits for each byte, and a NUL behind them. Returns where the NUL is. */
char *hex_put(char *out, const uint8_t *bytes, size_t nr);
