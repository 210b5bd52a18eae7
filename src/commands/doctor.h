/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of `probee doctor`. Each looks at one property of this machine and says what it found.
 *
 * A check tries what probee would do (it opens the event, loads a program of two instructions).
 * Version numbers would not tell: distributions backport features, and sandboxes forbid them.
 */
#pragma once

enum verdict {
	FOUND_OK,
	FOUND_WARN,	/* probee works, but shows less */
	FOUND_NO,	/* sample or snapshot cannot work */
};

struct finding {
	enum verdict verdict;
	char detail[256];
	char remedy[512];	/* "": none */
};

struct check {
	const char *what;
	void (*look)(struct finding *f);
};

void found(struct finding *f, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void remedy(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "setcap cap_bpf,cap_perfmon=ep /usr/bin/probee": the remedy for missing rights. */
void remedy_setcap(struct finding *f, const char *caps);

/* Reads the first line of a small file; "" when it cannot be read. */
void first_line(const char *path, char *buf, unsigned size);

/* doctor_system.c: files under /proc and /sys, rights, limits. */
void look_kernel(struct finding *f);
void look_caps(struct finding *f);
void look_symbol_caps(struct finding *f);
void look_lockdown(struct finding *f);
void look_kallsyms(struct finding *f);
void look_tracefs(struct finding *f);
void look_files(struct finding *f);
void look_pid_namespace(struct finding *f);
void look_kprobes(struct finding *f);
void look_jit(struct finding *f);
void look_sandbox(struct finding *f);
void look_interpreters(struct finding *f);

/* doctor_bpf.c: what bpf(2) and perf_event_open(2) answer. */
void look_btf(struct finding *f);
void look_ringbuf(struct finding *f);
void look_sampler(struct finding *f);
void look_iterator(struct finding *f);
void look_sampler_helpers(struct finding *f);
void look_iterator_helpers(struct finding *f);
void look_uprobes(struct finding *f);
void look_off_cpu(struct finding *f);
void look_cpu_clock(struct finding *f);
void look_cycles(struct finding *f);
