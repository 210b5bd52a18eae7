# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Whole stacks at high rates, of programs that are new to the recording and keep all CPUs busy: compilers, runtimes that start
# again and again (rates.py; the page cache is dropped before "compile, cold"), and programs that ran before. BASE=FILE is an
# earlier probee to compare with. Lost are samples by any cause, ticks that were passed over among them.

rates_tools=("$PROBEE")
[ -z "${BASE:-}" ] || rates_tools=("$BASE" "$PROBEE")

# one_rate TOOL LOAD HZ [--cold]
one_rate() {
	local name=new metric value
	[ "$1" != "${BASE:-}" ] || name=base
	python3 "$here/rates.py" "$1" "$2" "$3" "${RATES_S:-4}" "${@:4}" >rates.out || return
	while IFS=$'\t' read -r metric value; do
		case $metric in
		whole) record "$2${4:+, cold}, $3 Hz: % whole" "$name" "$value" ;;
		stacks) record "$2${4:+, cold}, $3 Hz: user stacks" "$name" "$value" ;;
		lost) record "$2${4:+, cold}, $3 Hz: lost" "$name" "$value" ;;
		pss) record "$2${4:+, cold}, $3 Hz: peak PSS of all its processes, MiB" "$name" "$value" ;;
		waiting) record "$2${4:+, cold}, $3 Hz: stacks that wait, MiB at most" "$name" "$value" ;;
		esac
	done <rates.out
}

for ((round = 0; round < ROUNDS; round++)); do
	for hz in 999 10000 20000 100000; do
		for tool in "${rates_tools[@]}"; do
			one_rate "$tool" compile $hz
			one_rate "$tool" start $hz
			one_rate "$tool" long $hz
			one_rate "$tool" compile $hz --cold
		done
	done
done
