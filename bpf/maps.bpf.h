/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings, and the maps that user space fills or reads and several programs share; a map that
 * belongs to one program is declared beside it. The unwind tables are written by
 * src/capture/tables/unwind_loader.c, mostly through mmap.
 */
#pragma once

#include "bpf/kernel.h"
#include "bpf/knobs.h"
#include "bpf/wire.h"
#include "unwind/unwind_limits.h"

/*
 * An entry of a map that several runs share has a word, busy: who claims the entry has it until it
 * is left. false: another run has it.
 */
#define CLAIM(busy) (!__sync_val_compare_and_swap(busy, 0, 1))
#define LEAVE(busy) __sync_lock_test_and_set(busy, 0)

#define MAX_PROCESSES 16384
#define MAX_TARGETS 16384
#define MAX_RUNTIMES 4096

/* 0: the programs of scans are empty, and what only they use is not there (probee.bpf.c). */
#ifndef WITH_SCANS
#define WITH_SCANS 1
#endif

/* 0: the programs of probes and of stays off the CPU are empty likewise. */
#ifndef WITH_PROBES
#define WITH_PROBES 1
#endif

const volatile struct knobs knobs = {};
struct scan_control control = {};	/* written by user space between scans */

struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, 4);
	__uint(value_size, UNWIND_SLAB_ROWS * 4);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_MAX_SLABS);
	__uint(key_size, 4);
	__array(values, struct slab);
} slabs SEC(".maps");

#define TABLE(name, nr, T)				\
	struct {					\
		__uint(type, BPF_MAP_TYPE_ARRAY);	\
		__uint(max_entries, nr);		\
		__uint(map_flags, BPF_F_MMAPABLE);	\
		__uint(key_size, 4);			\
		__uint(value_size, sizeof(T));		\
	} name SEC(".maps")

TABLE(pages, UNWIND_MAX_PAGES, struct unwind_page);
TABLE(rules, UNWIND_MAX_RULES, struct unwind_rule);
TABLE(mappings, UNWIND_MAX_MAPPINGS, struct unwind_mapping);
TABLE(binaries, UNWIND_MAX_BINARIES, struct unwind_binary);
TABLE(rule_cache, UNWIND_CACHE_WORDS, uint64_t);

/* tgid -> the slice of mappings[] that holds its executable mappings. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, uint32_t);
	__type(value, struct unwind_process);
} processes SEC(".maps");

TABLE(frame_programs, PROGRAM_MAX_NR, struct frame_program);

/* tgid -> its runtimes; user space adds it with the mappings (process_runtimes.h). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_RUNTIMES);
	__type(key, uint32_t);
	__type(value, struct unwind_runtimes);
} runtimes SEC(".maps");

/* tgid -> time at which its last exec was complete, CLOCK_MONOTONIC. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, uint32_t);
	__type(value, uint64_t);
} last_exec SEC(".maps");

/* Thread groups to record (knobs.only_targets). on_fork() adds their children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGETS);
	__type(key, uint32_t);
	__type(value, uint32_t);
} targets SEC(".maps");

/* Threads to record (knobs.only_tids). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGETS);
	__type(key, uint32_t);
	__type(value, uint32_t);
} tids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024);	/* set by user space */
} ring SEC(".maps");

/* Stacks of the threads that a scan has met on a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);	/* set by user space */
} oncpu_ring SEC(".maps");
