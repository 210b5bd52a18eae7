/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the two BPF objects is opened: the whole one, or the one in which the programs of scans
 * are empty (bpf/probee.bpf.c). The second one is there because libbpf and the kernel take a third
 * less time for it. Both have the same skeleton, so only this file knows the difference.
 *
 *	struct probee_bpf *skel = bpf_object_open(with_scans)	NULL: errno says why
 *	probee_bpf__load(skel), probee_bpf__destroy(skel)	as ever
 */
#pragma once

#include <stdbool.h>

struct probee_bpf;

struct probee_bpf *bpf_object_open(bool with_scans);
