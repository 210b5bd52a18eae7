/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes two definitions the same: the one rule, for all who look for a definition by its
 * contents. The references of both are ids of one recording.
 *
 * A process is known by its number, its start, and what it is called. The program that it runs may
 * become known later: where one of the two does not say it, they are equal. After an exec it has
 * another program or name, and is another definition. Its user, group, command line and parent, and
 * the numbers in namespaces of its own, are facts about it and no part of what it is: they may
 * change, or become known late.
 *
 * A binary without a file (BINARY_ANON) equals no other: nothing tells whose memory it is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

/* The types that define something, in the order in which records may refer to them. */
extern const enum record_tag definition_tags[];
extern const unsigned nr_definition_tags;

/* Equal definitions have equal hashes. rec: a definition, as for all below. */
uint64_t definition_hash(const struct record *rec);
/* Whether it equals no other, so that there is no sense in looking for it. */
bool definition_is_unique(const struct record *rec);
/* a and b have one type. */
bool definition_is_equal(const struct record *a, const struct record *b);

uint64_t func_hash(const struct rec_func *f);
bool func_is_equal(const struct rec_func *a, const struct rec_func *b);
uint64_t thread_hash(const struct rec_thread *t);
bool thread_is_equal(const struct rec_thread *a, const struct rec_thread *b);

/* Facts of from that to lacks. Both are the same process. */
void process_learn(struct rec_process *to, const struct rec_process *from);
