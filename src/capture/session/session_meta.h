/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * META records at the beginning of a recording: what, where, with which settings (keys: TRACE.md).
 */
#pragma once

#include "src/model/record.h"

struct session_info;

int session_meta(record_fn sink, void *sink_ctx, const struct session_info *info);
