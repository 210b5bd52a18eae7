/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of capture that there are. */
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/interrupts.h"
#include "src/capture/collectors/off_cpu.h"
#include "src/capture/collectors/probes.h"
#include "src/capture/collectors/sampling.h"
#include "src/capture/collectors/scans.h"

const struct collector *const collectors[] = {
	&sampling_collector,
	&scans_collector,
	&off_cpu_collector,
	&probes_collector,
	&interrupts_collector,
	NULL,
};
