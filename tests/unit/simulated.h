/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of a simulated load, to try what a comparison finds. One thread calls SIM_FUNCTIONS
 * functions through SIM_GROUPS callers; the same settings give the same trace.
 *
 *	struct sim s = { .seed = 1, .samples = 2000 };
 *	sim_write(&s, "a.pbz")			in the directory of trace_files.h
 *	sim_write_path(&s, "/tmp/a.pbz")	anywhere else
 */
#pragma once

#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

enum { SIM_GROUPS = 4, SIM_FUNCTIONS = 16, SIM_PERIOD = 1001001 };

struct sim {
	uint64_t seed;
	uint32_t samples;		/* about so many: a Poisson-like number of each function */
	uint32_t burst;			/* once chosen, a function stays for so many samples; 0: 1 */
	uint32_t slow_percent;		/* function f15 takes so much longer */
	bool is_command;		/* it ends with its command */
	const char *unit;		/* NULL: ns */
	uint32_t empty_percent;		/* at the end, so much of the time has no samples */
	const char *last;		/* name of the last function; NULL: f15 */
	const char *comm;		/* name of the program; NULL: sim */
};

static inline uint32_t sim_random(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*seed >> 33) % limit);
}

/* The first functions are rare; the last one has 120 of 256. */
static inline uint32_t sim_function(uint64_t *seed)
{
	uint32_t r = sim_random(seed, 256);

	for (uint32_t f = 0; f < SIM_FUNCTIONS - 1; f++) {
		uint32_t share = 2 + f;		/* 137 of 256 in all */

		if (r < share)
			return f;
		r -= share;
	}
	return SIM_FUNCTIONS - 1;
}

static inline int sim_names(record_fn fn, void *ctx, const struct sim *s)
{
	char name[16];
	int err = 0;

	FIX_SEND(CLOCK, clock, { FIX_T0, FIX_REAL, 0, 0 });
	FIX_SEND(STRING, string, { 1, s->comm ? s->comm : "sim",
				   strlen(s->comm ? s->comm : "sim") });
	FIX_SEND(STRING, string, { 2, "cpu-clock", 9 });
	FIX_SEND(STRING, string, { 3, s->unit ? s->unit : "ns", strlen(s->unit ? s->unit : "ns") });
	FIX_SEND(PROCESS, process, { .id = 1, .tgid = 100 + (uint32_t)s->seed % 7, .comm = 1 });
	FIX_SEND(THREAD, thread, { 1, 1, 100, 1, 0, 0 });
	FIX_SEND(EVENT, event, { .id = 1, .name = 2, .kind = EVENT_CPU_CLOCK, .freq_mhz = 999000,
				 .period = SIM_PERIOD, .unit = 3 });
	for (uint32_t i = 1; i <= SIM_GROUPS + SIM_FUNCTIONS; i++) {
		bool is_group = i <= SIM_GROUPS;

		snprintf(name, sizeof(name), is_group ? "g%u" : "f%u",
			 is_group ? i - 1 : i - SIM_GROUPS - 1);
		if (s->last && i == SIM_GROUPS + SIM_FUNCTIONS)
			FIX_SEND(STRING, string, { 3 + i, s->last, strlen(s->last) });
		else
			FIX_SEND(STRING, string, { 3 + i, name, strlen(name) });
		FIX_SEND(FRAME, frame, { .id = i, .kind = FRAME_USER, .addr = i });
		FIX_SEND(FUNC, func, { .id = i, .name = 3 + i, .sysname = 3 + i });
		FIX_SEND(SYMBOL, symbol, { .frame = i, .lines = &(struct rec_line){ i, 0, 0, 0 },
					   .nr_lines = 1 });
		FIX_SEND(NODE, node, { i, is_group ? 0 : 1 + i % SIM_GROUPS, i });
	}
	return err;
}

static inline int sim_samples(record_fn fn, void *ctx, const struct sim *s)
{
	uint64_t seed = s->seed * 7919 + 1, time = FIX_T0;
	uint32_t burst = s->burst ? s->burst : 1, extra = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->samples && !err; i += burst) {
		uint32_t f = sim_function(&seed), nr = burst;

		/* Of each hundred per cent of work, so many samples more. */
		extra += f == SIM_FUNCTIONS - 1 ? s->slow_percent * burst : 0;
		for (; extra >= 100 && f == SIM_FUNCTIONS - 1; extra -= 100)
			nr++;
		while (nr--) {
			time += SIM_PERIOD;
			FIX_SEND(SAMPLE, sample, { .time_ns = time, .event = 1, .thread = 1,
						   .ustack = SIM_GROUPS + 1 + f,
						   .weight = SIM_PERIOD, .state = TASK_RUNNING,
						   .end = END_ROOT });
		}
	}
	time += (time - FIX_T0) * s->empty_percent / (100 - s->empty_percent);
	FIX_SEND(END, end, { .time_ns = time, .samples = s->samples, .target_status = -1,
			     .reason = s->is_command ? ENDED_TARGET_EXIT : ENDED_DURATION });
	return err;
}

static inline void sim_write_path(const struct sim *s, const char *path)
{
	struct trace_writer *w;

	unlink(path);
	if (trace_writer_open(path, NULL, &w) ||
	    sim_names(trace_writer_record, w, s) || sim_samples(trace_writer_record, w, s) ||
	    trace_writer_close(w))
		abort();
}

static inline void sim_write(const struct sim *s, const char *name)
{
	sim_write_path(s, trace_file(name));
}
