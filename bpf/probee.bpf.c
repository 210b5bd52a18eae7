/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF object of probee. All programs share the maps of maps.bpf.h. User space loads only the
 * programs that it needs (SEC("?...")): the sampler for `probee sample`, the iterator for `probee
 * snapshot`, lifetimes for both.
 *
 * libbpf looks through all types of the kernel for each type that any function of the object reads,
 * loaded or not: 0.7 ms each, and it takes memory for each program. So it is compiled again with
 * WITH_PROBES=0, for recordings without probes, and with WITH_SCANS=0 as well, for those that only
 * sample (src/capture/bpf/bpf_object.h). Maps and programs have the same names there, and variables
 * the same places, but programs that are left out are empty.
 */
#define KINDS_OF_BPF
#include "bpf/kinds.def"

char LICENSE[] SEC("license") = "GPL";
