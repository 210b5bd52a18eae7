/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A loss that is not counted in samples as words: "273 addresses have no name yet: time limit
 * (probee symbolize adds them)". number is nr as text. cause: enum loss_cause; LOSS_CAUSES and more
 * are those that a newer recorder counts.
 */
void loss_words(unsigned cause, uint64_t nr, const char *number, char *out, size_t size);
