/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name of an event, short enough for its place. What tells a probe from others is behind its
 * path, so the path is cut first: "uprobe:.../libc.so.6:malloc".
 */
#pragma once

#include <stddef.h>

/*
 * Copies len bytes of name, as at most max bytes, into buf, which has room for max + 1. A name
 * without a path, or with a last part that is too long itself, is cut at its end.
 */
const char *event_name_cut(const char *name, size_t len, size_t max, char *buf);
