/*
 * The tables of `probee info`, each with its heading, to stdout; one without rows prints nothing. Shares are
 * of samples. Names are foreign and are escaped.
 */
#pragma once

#include <stdint.h>

struct report;

/* "key         value", the value escaped; nothing when it is empty. */
void info_line(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void info_losses(const struct report *rep);
void info_walks(const struct report *rep);
void info_ends(const struct report *rep);		/* why user stacks ended, and what helps */
int info_end_places(const struct report *rep);		/* in whose code those that are not whole ended */
int info_names(const struct report *rep);		/* binaries whose functions have no names */
void info_notes(const struct report *rep);
void info_sizes(const struct report *rep);		/* what takes how much room in the file */
