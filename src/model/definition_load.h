/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A definition of a store as the record that defined it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

struct definition_store;

/*
 * The definition that a store has under an id, with strings that are borrowed from it. false: it
 * has none.
 */
bool definition_load(const struct definition_store *t, enum record_tag tag, uint32_t id,
		     struct record *out);
