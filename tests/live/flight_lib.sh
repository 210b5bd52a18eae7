# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests of the flight recorder share; sourced behind lib.sh.
SPEC=$ROOT/tests/spec
export PYTHONDONTWRITEBYTECODE=1

# flight NAME COMMAND ARG...: probee in the background; sets FLIGHT to its pid; its stderr is in NAME.err.
flight() {
	local name=$1
	shift
	timeout --foreground -k 5 60 "$PROBEE" "$@" 2>"$name.err" &
	STARTED+=($!)
	JOB=$!
	until_true 10 grep -q 'kill -USR1 [0-9]' "$name.err"
	FLIGHT=$(sed -nE 's/.*kill -USR1 ([0-9]+).*/\1/p' "$name.err")
	cp "$name.err" err
}

# ended NAME: waits for it, as long as a minute; sets RC.
ended() {
	wait "$JOB"
	RC=$?
	cp "$1.err" err
}

# json TRACE EXPRESSION: of `probee info --json`, as d.
json() { "$PROBEE" info --json "$1" 2>>err | python3 -c "import json, sys; d = json.load(sys.stdin); print($2)"; }
files() { ls "$@" 2>/dev/null | wc -l; }
# said_file ERR N: it has said of so many files that they are there.
said_file() { [ "$(grep -c '^probee: [^ ]*\.pbz: .* s, .* [KM]iB$' "$1")" -ge "$2" ]; }
by_the_page() {
	local remarks
	remarks=$(python3 "$SPEC/decode.py" --check "$1" 2>&1) || remarks="$remarks fails"
	[ -z "$remarks" ] || { echo "$remarks"; return 1; }
}
is_empty() { [ -z "$(ls -A "$1")" ]; }
# gone PID: it has ended.
gone() { ! kill -0 "$1" 2>/dev/null; }

# whole NAME TRACE TRIGGER: what holds of every file.
whole() {
	check "$1: the trigger is in it" grep -qF -- "$3" <(json "$2" 'd["flight"]["trigger"]')
	check "$1: it is as the page of the format says" by_the_page "$2"
	check "$1: one recording, which is finished" equal "$(json "$2" '*d["recordings"].values()')" "1 1"
}

# rows_near TRACE PID: how many rows threads of a process have in the first scan behind the trigger.
rows_near() {
	csv "$1" -q --event snapshot --all-threads --columns scan,tgid --from "$(json "$1" 'd["flight"]["at_s"]')" |
		awk -F'|' -v p="$2" '!first || $1 < first { first = $1 } $2 == p { n[$1]++ } END { print n[first] + 0 }'
}
