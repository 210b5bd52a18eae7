/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modes behind an event's name: what it counts, and how exact its place is. */
#pragma once

#include <stddef.h>

struct event_spec;
struct opt;

/* ":u", ":k", ":p" and so on, len bytes without the colon, of the event called name. */
int event_modes_parse(const struct opt *o, const char *name, const char *text, size_t len,
		      struct event_spec *e);
