/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF object: opened, set up and loaded for one recording.
 *
 *	capture_bpf_open(&opts, &b)		loads and verifies; attaches only on_running and the
 *						programs of bpf/lifetime.bpf.h
 *	capture_bpf_target(b, tgid) ...		a process that the filters let through
 *	capture_bpf_counters(b, out)
 *	capture_bpf_close(b)			detaches and frees everything
 *
 * capture_bpf_open() says what is missing and what to try. -EPERM and -ENOTSUP mean that this
 * machine cannot record (exit code 77).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/knobs.h"
#include "bpf/rate_limit.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/tables/user_costs.h"

struct capture_bpf;
struct bpf_program;

enum {
#define CAPTURE(NAME) CAPTURE_BIT_##NAME,
#include "bpf/kinds.def"
	CAPTURE_BITS
};

_Static_assert(CAPTURE_BITS < 31, "the highest bit is IN_PID_NS");

/* What a recording is to be capable of: bits, which bpf/kinds.def explains. */
enum {
#define CAPTURE(NAME) CAPTURE_##NAME = 1 << CAPTURE_BIT_##NAME,
#include "bpf/kinds.def"
	CAPTURE_TASKS = CAPTURE_SNAPSHOT | CAPTURE_SLEEPERS,
	CAPTURE_PROBES = CAPTURE_UPROBES | CAPTURE_KPROBES | CAPTURE_TRACEPOINTS |
			 CAPTURE_RAW_TRACEPOINTS | CAPTURE_TRACED
};

struct capture_bpf_options {
	unsigned programs;		/* CAPTURE_... */
	struct knobs knobs;
	double samples_hz;		/* of a CPU; 0: not known */
	bool few_processes;		/* the targets are named, and only their children join */
};

int capture_bpf_open(const struct capture_bpf_options *opts, struct capture_bpf **bp);
void capture_bpf_close(struct capture_bpf *b);		/* NULL is fine */

/* Whether maps were made smaller than usual, for want of memory; which ones, in words. */
bool capture_bpf_reduced(const struct capture_bpf *b, char *buf, size_t size);

int capture_bpf_target(struct capture_bpf *b, uint32_t tgid);
int capture_bpf_tid(struct capture_bpf *b, uint32_t tid);
bool capture_bpf_is_target(const struct capture_bpf *b, uint32_t tgid);
bool capture_bpf_has_targets(const struct capture_bpf *b);	/* some target still lives */
/*
 * Returns how many targets there are; max + 1: more than max. One may come up twice when another
 * ends meanwhile.
 */
size_t capture_bpf_targets(const struct capture_bpf *b, uint32_t *tgids, size_t max);
void capture_bpf_fds(const struct capture_bpf *b, struct unwind_loader_fds *out);
/* The maps of frame programs, and of runtimes by tgid; -1: memory is too tight for them. */
void capture_bpf_runtimes(const struct capture_bpf *b, int *programs_fd, int *runtimes_fd);

/* Makes slab number key of the unwind rows. Its fd, which the caller owns, or -errno. */
int capture_bpf_new_slab(struct capture_bpf *b, uint32_t key);

/* Memory of all tables, slabs included, as the kernel counts it. */
uint64_t capture_bpf_table_bytes(const struct capture_bpf *b);

struct bpf_program *capture_bpf_sampler(struct capture_bpf *b);
struct bpf_program *capture_bpf_snapshot(struct capture_bpf *b);
int capture_bpf_ring(const struct capture_bpf *b);
/* The number of possible CPUs; all CPU numbers are below it. */
unsigned capture_bpf_cpus(const struct capture_bpf *b);
int capture_bpf_oncpu_fd(const struct capture_bpf *b);	/* on_running, for BPF_PROG_TEST_RUN */
int capture_bpf_oncpu_ring(const struct capture_bpf *b);
/* A thread is requested on this CPU. */
bool capture_bpf_is_requested(const struct capture_bpf *b, uint32_t cpu);
/* The threads requested at their next switch. */
struct switch_requests *capture_bpf_switch_requests(struct capture_bpf *b);
struct rate_limit *capture_bpf_rate_limit(struct capture_bpf *b);
/* From now on one in so many stacks of these users is taken, and each stack of all others. */
void capture_bpf_slow_users(struct capture_bpf *b, const struct number_rate *v, size_t nr);
struct scan_totals *capture_bpf_totals(struct capture_bpf *b);
struct scan_place *capture_bpf_scan_place(struct capture_bpf *b);
struct scan_control *capture_bpf_scan_control(struct capture_bpf *b);
int capture_bpf_holder_fd(const struct capture_bpf *b);	/* on_holder, an iterator */
int capture_bpf_holders(const struct capture_bpf *b);	/* the map of its keys and answers */
struct holder_scan *capture_bpf_holder_scan(struct capture_bpf *b);
/* who: a process, or HUNG_USER | a user, whose memory is not read from now on, or read again. */
int capture_bpf_leave_alone(struct capture_bpf *b, uint64_t who);
void capture_bpf_read_again(struct capture_bpf *b, uint64_t who);

/*
 * What a kind of capture has in the object, by the names that it has there (bpf/kinds.def): those
 * of programs, maps and variables that this recording lacks are mistakes.
 */
struct bpf_program *capture_bpf_program(const struct capture_bpf *b, const char *name);
int capture_bpf_map(const struct capture_bpf *b, const char *name);	/* its descriptor */
/* A variable of size bytes, which the programs see as it is written. */
void *capture_bpf_variable(const struct capture_bpf *b, const char *name, size_t size);
/* An entry of so many words, of which each CPU has its own, summed up. 0 or -errno. */
int capture_bpf_sums(const struct capture_bpf *b, const char *map, uint32_t key, uint64_t *out,
		     size_t words);

/* A map of shadow frames by struct shadow_place: bpf/shadow.bpf.h. */
int capture_bpf_shadow_frames(const struct capture_bpf *b);
int capture_bpf_shadow_counts(const struct capture_bpf *b, struct shadow_counts *out);
/* Sets a place of a USDT probe, below USDT_PLACES. 0 or -errno, explained. */
int capture_bpf_usdt_place(struct capture_bpf *b, uint32_t number, const struct usdt_place *p);
/* Those of bpf/probe.bpf.h; capture: one of CAPTURE_UPROBES and so on. */
struct bpf_program *capture_bpf_probe(struct capture_bpf *b, unsigned capture);
int capture_bpf_probe_ring(const struct capture_bpf *b);
int capture_bpf_probe_sums(const struct capture_bpf *b);	/* a map of struct probe_sum */
/* event: its number in the recording. 0 or -errno, explained. */
int capture_bpf_probe_filter(struct capture_bpf *b, uint32_t event, const struct probe_filter *f);
int capture_bpf_probe_counts(const struct capture_bpf *b, uint32_t event, struct probe_counts *out);
struct probe_control *capture_bpf_probe_control(struct capture_bpf *b);
bool capture_bpf_has_uprobe_multi(const struct capture_bpf *b);	/* Linux 6.6 */
bool capture_bpf_has_raw_cookies(const struct capture_bpf *b);	/* Linux 6.10 */

/* Sums over all CPUs, of the sampler; all are 0 without it. */
int capture_bpf_counters(const struct capture_bpf *b, uint64_t out[COUNTERS]);
/* Those of another map of one struct gather for each CPU. */
int capture_bpf_counters_of(const struct capture_bpf *b, const char *map, uint64_t out[COUNTERS]);
