# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The memory of the BPF maps on machines with more CPUs than this one, by the sizes that a recording would give them. Nothing
# is recorded, so there are no rounds.

CPUS=${CPUS:-2 16 64 256 1024}

build_bench map_bytes || cannot "map_bytes could not be built"
# shellcheck disable=SC2086
{ echo "MiB_for_possible_CPUs:" $CPUS | tr ' _' '\t '; "$bin/map_bytes" $CPUS; } | column -t -s "$(printf '\t')"
