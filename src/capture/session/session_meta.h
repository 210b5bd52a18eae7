/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The META records at the beginning of a recording: what is recorded, on which machine, with which
 * settings (TRACE.md lists the keys).
 */
#pragma once

#include "src/model/record.h"

struct session_info;

/* part: 1, or 2, 3, ... where the recording goes on in another segment. */
int session_meta(record_fn sink, void *sink_ctx, const struct session_info *info, uint32_t part);
