# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bytes that are sent to receivers of profiles for one host and day at 97 Hz on eight busy CPUs, and the CPU time of encoding
# them. Three hosts:
#
#	mix		six programs that are busy here (mix.sh), recorded for PUSH_MIX (240) seconds at a rate by which the CPUs of
#			this machine give as many samples as eight do at 97 Hz
#	steady		PUSH_SECONDS (600) of a made recording (make_recording.c): 8 threads, 300 paths of functions
#	wide		the same, 16 threads and 3,385 paths, nearly each sample on a path of its own in its window
#
# All with source lines and inlined functions. A day has 67,046,400 samples.

build_bench push_bytes && build_bench make_recording || cannot "push_bytes could not be built: make first"
# shellcheck source=/dev/null
. "$here/mix.sh"

# sends HOST TRACE PROTOCOL WINDOWS
sends() {
	local name="$1: $3, $4 x 10 s" days
	"$bin/push_bytes" "$2" "$3" "$4" >push.out || { say "push_bytes $3 failed"; return; }
	days="($(of push.out samples) / 67046400)"
	record "MB a day" "$name" "$(calc "$(of push.out bytes) / $days / 1e6")"
	record "MB a day before compression" "$name" "$(calc "$(of push.out raw_bytes) / $days / 1e6")"
	record "samples of profiles, % of samples" "$name" "$(calc "100 * $(of push.out rows) / $(of push.out samples)")"
	record "% of a CPU to encode" "$name" "$(calc "$(of push.out encode_ms) / $days / 864000")"
}

sends_all() {
	local windows
	for windows in 1 6 12; do sends "$1" "$2" otlp $windows; done
	sends "$1" "$2" push 12
	sends "$1" "$2" ingest 12
}

build_mix
begin_mix
sleep 2
targets=$(IFS=,; echo "${mix[*]}")
"$PROBEE" sample -q -F $((97 * 8 / $(nproc))) -d "${PUSH_MIX:-240}s" -p "$targets" -o mix.pbz --force
end_mix
sends_all mix mix.pbz
seconds=${PUSH_SECONDS:-600}
for shape in 'steady threads=8 stacks=300' 'wide threads=16 stacks=3385'; do
	# shellcheck disable=SC2086  # words
	"$bin/make_recording" made.pbz samples=$((97 * 8 * seconds)) hz=97 cpus=8 lines=1 ${shape#* } || exit 1
	sends_all "${shape%% *}" made.pbz
done
