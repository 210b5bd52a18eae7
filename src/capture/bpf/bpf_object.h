/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the three BPF objects is opened: the one with all programs, that without probes and
 * stays off the CPU, or that of the sampler alone; programs that are left out are empty there
 * (bpf/probee.bpf.c). libbpf and the kernel take less time and memory for the smaller ones. All
 * have the same skeleton, so only this file knows the difference.
 *
 *	bpf_object_bytes(scans, probes, &bytes)			the object as ELF
 *	struct probee_bpf *skel = bpf_object_open(scans, probes, types)	NULL: errno says why
 *	probee_bpf__load(skel), probee_bpf__destroy(skel)	as ever
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct probee_bpf;

/*
 * scans, probes: these programs are needed. types: the file that has the kernel's types
 * (kernel_types.h); NULL: libbpf looks for them.
 */
const void *bpf_object_bytes(bool scans, bool probes, size_t *bytes);
struct probee_bpf *bpf_object_open(bool scans, bool probes, const char *types);
