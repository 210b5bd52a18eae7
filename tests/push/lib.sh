# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Receivers for tests (tests/push/receiver.py), sourced after tests/cli/lib.sh or tests/tap.sh.
#
#	protos			makes Python modules of formats/proto in $TMP/proto; fails where protoc or its module is missing
#	receiver NAME [ARG...]	starts one; $port is its port, $dir its directory. It ends with the test.
#	receiver_end		ends the one that was started last
#	plan WORDS		what it does from now on
#	answered [STATUS]	how many requests it has seen, or answered with this status
#	told EXPRESSION		for each request the value of a Python expression of r, a line each: 'r["path"]'
#	wait_for N		until it has seen so many requests

# The python3 that has the module of protobuf need not be the first one.
for receiver_python in python3 /usr/bin/python3; do
	! "$receiver_python" -c 'import google.protobuf' 2>/dev/null || break
done

protos() {
	[ ! -d "$TMP/proto" ] || return 0
	command -v protoc >/dev/null && "$receiver_python" -c 'import google.protobuf' 2>/dev/null || return 1
	mkdir "$TMP/proto"
	(cd formats/proto/* && find . -name '*.proto' -exec protoc -I. --python_out="$TMP/proto" {} +)
}

receiver() {
	dir=$TMP/$1
	shift
	rm -rf "$dir"; mkdir "$dir"
	[ ! -d "$TMP/proto" ] || set -- "$@" --proto "$TMP/proto"
	exec {receiver_fd}> >(exec "$receiver_python" tests/push/receiver.py "$dir" "$@" >"$dir/port" 2>"$dir/err")
	for _ in $(seq 200); do
		[ ! -s "$dir/port" ] || break
		sleep 0.05
	done
	port=$(cat "$dir/port")
	[ "$port" ] || { echo "the receiver does not start: $(tail -n 1 "$dir/err")"; exit 1; }
}

receiver_end() { exec {receiver_fd}>&-; }
plan() { echo "$1" >"$dir/plan.new"; mv "$dir/plan.new" "$dir/plan"; }

told() {
	[ ! -e "$dir/requests.ndjson" ] || python3 -c '
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    print(eval(sys.argv[2]))' "$dir/requests.ndjson" "$1"
}
answered() { told "r['status']" | grep -c "^${1:-}"; }
wait_for() {
	for _ in $(seq 400); do
		[ "$(answered)" -lt "$1" ] || return 0
		sleep 0.05
	done
	return 1
}
