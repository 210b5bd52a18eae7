/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF object of probee. All programs share the maps of maps.bpf.h. User space loads only the
 * programs that it needs (SEC("?...")): the sampler for `probee sample`, the iterator for `probee
 * snapshot`, lifetimes for both.
 */
#include "bpf/sample.bpf.h"
#include "bpf/snapshot.bpf.h"
#include "bpf/holders.bpf.h"
#include "bpf/lifetime.bpf.h"

char LICENSE[] SEC("license") = "GPL";
