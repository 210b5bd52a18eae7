/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a socket, as text: its family or protocol, its ends, its state. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct wire_object;

/* Its bytes are those of an address, so they may be any but NUL (written as '@'). */
#define SOCKET_TEXT_MAX 256

bool socket_is(const struct wire_object *o);
void socket_text(const struct wire_object *o, char buf[SOCKET_TEXT_MAX]);
