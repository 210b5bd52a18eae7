/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of `probee doctor`. Each looks at one property of this machine and says what it found.
 *
 * A check tries what probee would do (it opens the event, loads a program of two instructions).
 * Version numbers would not tell: distributions backport features, and sandboxes forbid them.
 */
#pragma once

struct finding;

struct check {
	const char *what;
	void (*look)(struct finding *f);
};

/* Reads the first line of a small file; "" when it cannot be read. */
void doctor_first_line(const char *path, char *buf, unsigned size);

/* doctor_system.c: files under /proc and /sys, rights, limits. */
void doctor_look_kernel(struct finding *f);
void doctor_look_caps(struct finding *f);
void doctor_look_symbol_caps(struct finding *f);
void doctor_look_lockdown(struct finding *f);
void doctor_look_kallsyms(struct finding *f);
void doctor_look_tracefs(struct finding *f);
void doctor_look_files(struct finding *f);
void doctor_look_pid_namespace(struct finding *f);
void doctor_look_kprobes(struct finding *f);
void doctor_look_jit(struct finding *f);
void doctor_look_sandbox(struct finding *f);
void doctor_look_interpreters(struct finding *f);

/* doctor_bpf.c: what bpf(2) and perf_event_open(2) answer. */
void doctor_look_btf(struct finding *f);
void doctor_look_ringbuf(struct finding *f);
void doctor_look_sampler(struct finding *f);
void doctor_look_iterator(struct finding *f);
void doctor_look_sampler_helpers(struct finding *f);
void doctor_look_iterator_helpers(struct finding *f);
void doctor_look_uprobes(struct finding *f);
void doctor_look_off_cpu(struct finding *f);
void doctor_look_cpu_clock(struct finding *f);
void doctor_look_cycles(struct finding *f);

/* doctor_hidden.c: whether snapshots can have all threads. */
void doctor_look_hidden(struct finding *f);
