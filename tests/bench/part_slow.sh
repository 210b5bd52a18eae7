# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What sampling at 999 Hz adds to the CPU time of a program that spins, 30 calls deep, on a CPU of its own: per cent of its time, and us
# for a sample. "quarter" is the lower quartile of pieces of 6 ms, each with six ticks: what samples themselves cost. "mean" has what a
# tool and others do to the caches, too, and is worth something on a quiet machine only.

gcc -std=gnu11 -O1 -fomit-frame-pointer "$here/fixed_work.c" -o "$bin/fixed_work" || cannot "fixed_work could not be built"
SLOW_S=${SLOW_S:-4}
slow_names=(none perf 'perf -g' bpftrace probee)

# slow_command NAME: prints the words, one a line.
slow_command() {
	case $1 in
	perf) printf '%s\n' perf record -q -F 999 -p PID -o slow.data ;;
	'perf -g') printf '%s\n' perf record -q -F 999 -g -p PID -o slow.data ;;
	bpftrace) printf '%s\n' bpftrace -e 'profile:hz:999 /pid == PID/ { @[ustack, kstack] = count(); }' ;;
	probee) printf '%s\n' "$PROBEE" sample -q -F 999 -p PID --force -o slow.pbz ;;
	esac
}

for round in $(seq "$ROUNDS"); do
	unset base_quarter base_mean
	for name in "${slow_names[@]}"; do
		mapfile -t words < <(slow_command "$name")
		[ "$name" = none ] || have "$(basename "${words[0]}")" || [ -x "${words[0]}" ] || continue
		python3 -S "$here/slow_down.py" "$bin/fixed_work" "$SLOW_S" "${words[@]}" >slow.out 2>slow.err ||
			{ say "$name: $(tail -n 1 slow.err)"; continue; }
		if [ "$name" = none ]; then
			base_quarter=$(of slow.out quarter) base_mean=$(of slow.out mean)
			continue
		fi
		record '999 Hz: % added, quarter' "$name" "$(calc "100 * ($(of slow.out quarter) / $base_quarter - 1)")"
		record '999 Hz: us a sample, quarter' "$name" "$(calc "1e6 / 999 * ($(of slow.out quarter) / $base_quarter - 1)")"
		record '999 Hz: % added, mean' "$name" "$(calc "100 * ($(of slow.out mean) / $base_mean - 1)")"
	done
done
