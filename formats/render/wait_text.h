/*
 * What a thread waits for, in words.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rec_sample;

#define WAIT_TEXT_MAX 64

/*
 * "data from pipe:[1234]", "socket:[1234]", "its child"; "" when nothing is known. Always ends with
 * NUL; in buf or constant.
 */
const char *wait_object_text(const char *arch, const struct rec_sample *rec,
			     char buf[WAIT_TEXT_MAX]);
