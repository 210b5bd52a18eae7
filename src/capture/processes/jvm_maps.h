/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Java virtual machines that a recording meets, and what became of asking them for maps of
 * their code (jvm_attach.h; --java-perf-map).
 *
 * Each is asked a second after it was met, so that there are names soon, and at the end of each
 * part of the recording, because code is compiled all the time. It writes its map anew each time.
 *
 * Limit: of a JVM that ends before the recording the code that was compiled since the first time
 * has no names. -XX:+DumpPerfMapAtExit makes it write a map by itself.
 *
 *	jvm_maps_new(binaries, &m)	while all rights are there
 *	jvm_maps_add(m, p)		a process that has generated code; others are left alone
 *	jvm_maps_tick(m)		now and then
 *	jvm_maps_renew(m, wait)		at the end of a part that another one follows
 *	jvm_maps_finish(m, wait)	at the end; 5 s at most
 *	jvm_maps_free(m)
 */
#pragma once

#include <stdint.h>

struct binaries;
struct jvm_maps;
struct patience;
struct process;

/* Forks the process that those who ask are forked by, so before any thread is started. */
struct helper_deaths;			/* helper_deaths.h; borrowed */
int jvm_maps_new(const struct binaries *binaries, struct helper_deaths *deaths,
		 struct jvm_maps **mp);
void jvm_maps_free(struct jvm_maps *m);			/* NULL is fine */

/* These functions do nothing if m is NULL. */
void jvm_maps_add(struct jvm_maps *m, const struct process *p);
void jvm_maps_tick(struct jvm_maps *m);
/*
 * Has the maps written again that have been written before, for as long as the patience lasts, and
 * forgets the JVMs that have ended.
 */
void jvm_maps_renew(struct jvm_maps *m, struct patience *wait);
/* Says of which JVMs there is no map. */
void jvm_maps_finish(struct jvm_maps *m, struct patience *wait);
uint64_t jvm_maps_cpu_ns(const struct jvm_maps *m);	/* of the processes that ask */
