# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What a recording of the whole machine at 99 Hz costs once it has met all programs: CPU time of all of probee's processes
# (not of the BPF programs, which run in the time of those that they interrupt), in per cent of one CPU, in STEADY_S (30) s
# after the first STEADY_WARM_S (30). With names, inlined functions and lines, and without (--no-symbolize), beside a busy mix of
# programs (mix.sh), then also beside a compiler that starts again and again. OLD=FILE: another probee to compare with, in turns.
# All of it is in a PID namespace of its own, so that whoever uses the machine meanwhile is not recorded, but the events
# of their processes still cost something.

if [ -z "${STEADY_INSIDE:-}" ]; then
	STEADY_INSIDE=1 OUT=$OUT PROBEE=$PROBEE ROUNDS=$ROUNDS unshare -pf --mount-proc "$here/bench.sh" steady
	return
fi
STEADY_S=${STEADY_S:-30} STEADY_WARM_S=${STEADY_WARM_S:-30}

# shellcheck source=/dev/null
. "$here/mix.sh"
build_mix

# steady LOAD NAME PROBEE OPTION...
steady() {
	local load=$1 name=$2 prog=$3
	python3 -S "$here/steady.py" "$STEADY_WARM_S" "$STEADY_S" "$prog" sample -q -a -F 99 -o steady.pbz "${@:4}" >steady.out || return
	record "$load: % of one CPU" "$name" "$(head -n 1 steady.out)"
	say "$load, $name: $(sed -n 2p steady.out)"
	"$prog" info steady.pbz --json >steady.json
	record "$load: samples a second" "$name" "$(calc "$(figure json steady.json samples) / ($STEADY_WARM_S + $STEADY_S)")"
	record "$load: % of sampled frames with lines" "$name" \
		"$(calc "100 * $(figure json steady.json names.with_lines.sampled) / $(figure json steady.json names.all.sampled)")"
}

for round in $(seq "$ROUNDS"); do
	for load in "long lives" "with gcc"; do
		begin_mix "${load#with }"
		steady "$load" 'addresses only' "$PROBEE" --no-symbolize
		[ -z "${OLD:-}" ] || steady "$load" 'addresses only, old' "$OLD" --no-symbolize
		steady "$load" 'names, inlines, lines' "$PROBEE"
		[ -z "${OLD:-}" ] || steady "$load" 'names, inlines, lines, old' "$OLD"
		end_mix
	done
done
