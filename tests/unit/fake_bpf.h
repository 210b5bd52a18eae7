/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's side of a walk, as a test wants it to be. This file defines the functions of
 * capture_bpf.c and libbpf that the walks call, so the linker takes these and leaves those out. A
 * test includes it once, behind cmocka.h, and sets fake.
 *
 * BPF_PROG_TEST_RUN on a CPU calls fake.on_run, which may put records into the ring with
 * fake_caught(); they come out of it with ring_buffer__consume().
 */
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/capture/bpf/capture_bpf.h"

#define FAKE_CPUS 4

struct fake_bpf {
	struct scan_totals totals;
	struct scan_place place;
	struct scan_control control;
	struct switch_requests switch_requests;
	uint64_t hung[SCAN_SLOTS];	/* whose memory is left alone, as it came */
	uint32_t nr_hung;
	uint64_t again[SCAN_SLOTS];	/* whose is read again */
	uint32_t nr_again;
	uint32_t targets[8];
	size_t nr_targets;
	bool nobody_wished[FAKE_CPUS];
	unsigned runs[FAKE_CPUS];	/* BPF_PROG_TEST_RUN on that CPU */
	void (*on_run)(uint32_t cpu);
	ring_buffer_sample_fn on_record;
	void *on_record_ctx;
	struct { void *data; size_t len; } ring[16];
	size_t nr_ring;
};

static struct fake_bpf fake;

static inline void fake_caught(const void *data, size_t len)
{
	assert_true(fake.nr_ring < 16);
	fake.ring[fake.nr_ring].data = malloc(len);
	memcpy(fake.ring[fake.nr_ring].data, data, len);
	fake.ring[fake.nr_ring++].len = len;
}

unsigned capture_bpf_cpus(const struct capture_bpf *b)
{
	(void)b;
	return FAKE_CPUS;
}

int capture_bpf_oncpu_ring(const struct capture_bpf *b)
{
	(void)b;
	return 77;
}

int capture_bpf_oncpu_fd(const struct capture_bpf *b)
{
	(void)b;
	return 78;
}

bool capture_bpf_is_requested(const struct capture_bpf *b, uint32_t cpu)
{
	(void)b;
	assert_true(cpu < FAKE_CPUS);
	return !fake.nobody_wished[cpu];
}

struct bpf_program *capture_bpf_snapshot(struct capture_bpf *b)
{
	(void)b;
	return NULL;
}

struct scan_totals *capture_bpf_totals(struct capture_bpf *b)
{
	(void)b;
	return &fake.totals;
}

struct switch_requests *capture_bpf_switch_requests(struct capture_bpf *b)
{
	(void)b;
	return &fake.switch_requests;
}

struct scan_place *capture_bpf_scan_place(struct capture_bpf *b)
{
	(void)b;
	return &fake.place;
}

struct scan_control *capture_bpf_scan_control(struct capture_bpf *b)
{
	(void)b;
	return &fake.control;
}

int capture_bpf_leave_alone(struct capture_bpf *b, uint64_t who)
{
	(void)b;
	assert_true(fake.nr_hung < SCAN_SLOTS);
	fake.hung[fake.nr_hung++] = who;
	return 0;
}

void capture_bpf_read_again(struct capture_bpf *b, uint64_t who)
{
	(void)b;
	assert_true(fake.nr_again < SCAN_SLOTS);
	fake.again[fake.nr_again++] = who;
}

size_t capture_bpf_targets(const struct capture_bpf *b, uint32_t *tgids, size_t max)
{
	(void)b;
	for (size_t i = 0; i < fake.nr_targets && i < max; i++)
		tgids[i] = fake.targets[i];
	return fake.nr_targets;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	(void)prog;
	return 79;
}

struct ring_buffer *ring_buffer__new(int map_fd, ring_buffer_sample_fn fn, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	(void)opts;
	assert_int_equal(map_fd, 77);
	fake.on_record = fn;
	fake.on_record_ctx = ctx;
	return (struct ring_buffer *)&fake;
}

void ring_buffer__free(struct ring_buffer *rb)
{
	(void)rb;
}

int ring_buffer__consume(struct ring_buffer *rb)
{
	size_t nr = fake.nr_ring;

	(void)rb;
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(fake.on_record(fake.on_record_ctx, fake.ring[i].data,
						fake.ring[i].len), 0);
		free(fake.ring[i].data);
	}
	fake.nr_ring = 0;
	return (int)nr;
}

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	assert_int_equal(prog_fd, 78);
	assert_int_equal(opts->flags, BPF_F_TEST_RUN_ON_CPU);
	assert_true(opts->cpu < FAKE_CPUS);
	fake.runs[opts->cpu]++;
	if (fake.on_run)
		fake.on_run(opts->cpu);
	return 0;
}
