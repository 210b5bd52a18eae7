/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC-32C (Castagnoli), as in iSCSI and ext4: reflected polynomial 0x82F63B78, initial and final
 * value ~0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *data, size_t len);
