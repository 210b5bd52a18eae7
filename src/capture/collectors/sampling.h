/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler as a collector: perf events on every CPU, each of them an event of the recording
 * (perf_sampler.h).
 */
#pragma once

struct collector;

extern const struct collector sampling_collector;
