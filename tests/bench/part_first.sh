# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How long functions of runtimes have no name after their process began (first.py): with an empty cache (fresh), and with what the recording
# before has kept. BEFORE=FILE: an earlier probee, by turns with this one. PROGRAMS: some of first.py's, a line each.

mkdir -m 700 -p "$T/before" "$T/fresh" "$T/kept"
mapfile -t first_programs < <([ -z "${PROGRAMS:-}" ] || printf '%s\n' "$PROGRAMS")

# first_of LABEL PROBEE [VARIABLE=VALUE]
first_of() {
	local metric name value
	env XDG_CACHE_HOME="$T/$1" "${@:3}" python3 "$here/first.py" "$2" "${first_programs[@]}" >first.out 2>/dev/null
	grep '^#' first.out | sed "s/^#/# $1:/" >&2
	while IFS=$'\t' read -r metric name value; do record "$name: $metric" "$1" "$value"; done < <(grep -v '^#' first.out)
}

XDG_CACHE_HOME="$T/kept" SECONDS_EACH=2 WAYS=command python3 "$here/first.py" "$PROBEE" "${first_programs[@]}" >/dev/null 2>&1
for ((round = 0; round < ROUNDS; round++)); do
	[ -z "${BEFORE:-}" ] || first_of before "$BEFORE"
	first_of fresh "$PROBEE" FRESH=1
	first_of kept "$PROBEE"
done
