/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a call tree a user means by a name: those of exactly that name or, if there is
 * none, those in whose names it is found as a regular expression (PCRE2).
 */
#pragma once

#include <stdint.h>

struct profile;

/*
 * *matches becomes one byte for each name of the profile, 1 where it is meant, which the caller
 * frees. 0, -ENOMEM (silently), -ENODATA or -EINVAL after one line; option: "callers".
 */
int name_match(const struct profile *p, const char *option, const char *wanted, uint8_t **matches);
