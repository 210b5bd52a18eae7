/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of a PMU by the terms that the kernel describes in /sys/bus/event_source/devices, and raw
 * ones, as perf writes them:
 *
 *	cpu/event=0x3c,umask=0x01/	fields of the PMU "cpu": format/event says "config:0-7"
 *	cpu/cache-misses/u		an event that it names, in programs only
 *	cpu/config=0x13c,config1=2/	whole words
 *	cpu/inv/			a field alone is set to 1
 *	r13c, r13c:k			config of the CPU's own PMU
 *	.../period=1000/ .../freq=99/	among the terms
 *
 * Sources: Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/capture/collectors/event_table.h"

struct opt;

/* Where PMUs are described; another folder in tests. */
#define PMU_DEVICES "/sys/bus/event_source/devices"

/* Whether the text, of len bytes, is "r" and hexadecimal digits, of which one is a number. */
bool pmu_event_is_raw(const char *text, size_t len);

/* Whether it is "NAME/...", and devices has a folder of that name. */
bool pmu_event_is_pmu(const char *devices, const char *text, size_t len);

/*
 * The length of the event at text in a list with commas between its events: commas between slashes
 * belong to it.
 */
size_t pmu_event_len(const char *text);

/*
 * Parses such an event of len bytes. e->type is allocated, and e->own is set to it; the caller
 * frees that. 0 or -errno, explained.
 */
int pmu_event_parse(const struct opt *o, const char *devices, const char *text, size_t len,
		    struct event_spec *e);

/* Writes a line "PMU/EVENT/" for each event that a PMU names. */
void pmu_event_list(const char *devices, FILE *out);
