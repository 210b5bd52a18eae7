# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bytes a sample with names, inlined functions and lines, and with names alone: BYTES_SAMPLES (200,000) samples of a busy mix
# (mix.sh), recorded once with addresses only, and then named twice from the same files: as they are, and without their
# debug information, which leaves the names as they are. So both traces have the same samples. At the same time another recording
# adds names and lines while the programs run.

# shellcheck source=/dev/null
. "$here/mix.sh"
build_mix
BYTES_HZ=4999

# plain_files PID...: the files that these processes have mapped with code, below plain/, and their debug files, below debug/,
# without debug information.
plain_files() {
	local file id debug
	cat "${@/#//proc/}" 2>/dev/null | awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' | sort -u >mapped
	while read -r file; do
		[ -f "$file" ] || continue
		mkdir -p "plain/${file%/*}"
		objcopy --strip-debug "$file" "plain/$file" 2>/dev/null || cp "$file" "plain/$file"
		id=$(readelf -n "$file" 2>/dev/null | sed -n 's/.*Build ID: //p')
		debug=.build-id/${id:0:2}/${id:2}.debug
		[ -f "/usr/lib/debug/$debug" ] || continue
		mkdir -p "debug/${debug%/*}"
		objcopy --strip-debug "/usr/lib/debug/$debug" "debug/$debug"
	done <mapped
}

# size NAME TRACE
size() {
	[ -s "$2" ] || { say "no $2"; return; }
	"$PROBEE" info "$2" --json >size.json
	record "bytes a sample" "$1" "$(calc "$(stat -c %s "$2") / $(figure json size.json samples)")"
	record "% of sampled frames with lines" "$1" \
		"$(calc "100 * $(figure json size.json names.with_lines.sampled) / $(figure json size.json names.all.sampled)")"
	record "% of sampled frames with names" "$1" \
		"$(calc "100 * $(figure json size.json names.named.sampled) / $(figure json size.json names.all.sampled)")"
	record "samples" "$1" "$(figure json size.json samples)"
}

seconds=$(calc "${BYTES_SAMPLES:-200000} / $BYTES_HZ / $(nproc)")
for round in $(seq "$ROUNDS"); do
	begin_mix
	sleep 2
	rm -rf plain debug
	plain_files "${mix[@]/%//maps}"
	targets=$(IFS=,; echo "${mix[*]}")
	"$PROBEE" sample -q -F $BYTES_HZ -d "${seconds}s" -p "$targets" -o live.pbz --force &
	live=$!
	"$PROBEE" sample -q -F $BYTES_HZ -d "${seconds}s" -p "$targets" --no-symbolize -o bare.pbz --force
	wait $live
	end_mix
	# Nothing of /usr/lib/debug: it would be found beside --debug-dir.
	unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug; exec "$@"' - \
		"$PROBEE" symbolize -q bare.pbz -o names.pbz --force --binary-dir plain --debug-dir debug
	"$PROBEE" symbolize -q bare.pbz -o lines.pbz --force --binary-dir / --debug-dir /usr/lib/debug
	size "names" names.pbz
	size "names, inlines, lines" lines.pbz
	size "names, inlines, lines, while recording" live.pbz
	size "addresses only" bare.pbz
done
