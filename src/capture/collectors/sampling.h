/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler as a collector: perf events on every CPU (perf_sampler.h). Each of them is an event
 * of the recording.
 */
#pragma once

struct collector;

extern const struct collector sampling_collector;
