/* The sentences that a report says about its trace. Both cut what does not fit into size. */
#pragma once

#include <stddef.h>

struct report;
struct report_info;

/* "9 samples lost (ring-full 7, throttled 2); 1 chunk damaged; the file was cut short"; "" when all is well. */
void report_warning_text(const struct report_info *info, char *out, size_t size);

/* "cpu-clock 99 Hz, snapshot": the event sources of all recordings, each once. */
void report_event_text(const struct report *rep, char *out, size_t size);
