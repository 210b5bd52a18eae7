# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/consumers/*.sh, as tests/cli/lib.sh.
#
#	consumer NAME		sets modules (tests/consumers/install.sh), or skips the test
#	make_traces		$TMP/plain.pbz, hostile.pbz, ...: tests/consumers/make_traces.c
. tests/cli/lib.sh

consumer() { modules=$(sh tests/consumers/install.sh "$1") || skip "$modules"; }

make_traces() {
	local CC=${CC:-gcc}
	[ -e "$OUT/libprobee.a" ] && command -v "$CC" >/dev/null || skip 'nothing to build the traces with'
	run "$CC" -std=gnu11 -D_GNU_SOURCE -I. -Wno-unused -o "$TMP/make_traces" tests/consumers/make_traces.c \
		"$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread -lcmocka
	exits 0
	"$TMP/make_traces" "$TMP" || skip 'the traces could not be made'
}

# need_profiler_cli, then profiler_open FILE, profiler ARGUMENT..., profiler_close: the loader of the Firefox Profiler. It asks
# for node 24, but 20 runs it. Its process is started here, because `profiler-cli load` waits only half a second for it.
# profiler_open fails, with the reason in $TMP/stderr, if the profiler does not like the file.
need_profiler_cli() {
	consumer profiler-cli
	profiler=$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
	export PROFILER_CLI_SESSION_DIR=$TMP/profiler PROFILER_CLI_NO_SYMBOLICATE=1
	mkdir -p "$PROFILER_CLI_SESSION_DIR"
	trap profiler_close EXIT
	node=$(command -v node) && [ "$("$node" -p 'parseInt(process.versions.node) >= 20')" = true ] && return
	consumer node
	node=$(echo "$modules"/node-linux-*/bin/node)
}

profiler() { "$node" "$profiler" "$@" --session "$session"; }

profiler_open() {
	local tries=200
	session=s$((${session#s} + 1))
	"$node" "$profiler" --daemon "$1" --session "$session" >/dev/null 2>&1 &
	daemon=$!
	# A client that finds no session removes the files of a session that begins at that moment, so none may ask before they exist.
	while [ $((tries--)) -gt 0 ] && kill -0 "$daemon" 2>/dev/null &&
		! [ -e "$PROFILER_CLI_SESSION_DIR/$session.json" -a -e "$PROFILER_CLI_SESSION_DIR/$session.sock" ]; do
		sleep 0.1
	done
	tries=200
	while [ $((tries--)) -gt 0 ]; do
		profiler thread list --json >"$TMP/stdout" 2>"$TMP/stderr" && return
		! grep -q 'Profile load failed' "$TMP/stderr" || return 1
		sleep 0.1
	done
	return 1
}
session=0

profiler_close() {
	[ -z "${daemon:-}" ] || kill "$daemon" 2>/dev/null
	wait "${daemon:-}" 2>/dev/null
	daemon=
}
