# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A busy mix of programs: python3, node, redis, xz, and C++ with debug information and many inlined functions (inlines.cc).
#
#	build_mix		in the current directory
#	begin_mix [gcc]		with a compiler that starts again and again; sets mix to the pids
#	end_mix

mix=()
mixed() { "$@" >/dev/null 2>&1 & mix+=($!); STARTED+=($!); }

build_mix() {
	local n
	printf '#include <%s>\n' stdio.h stdlib.h string.h >big.c
	for n in $(seq 300); do
		echo "int f$n(int x) { char b[64]; int s = $n; for (int i = 0; i < x; i++) s += i * x % ($n + 3); sprintf(b, \"%d\", s); return strlen(b) + s; }"
	done >>big.c
	g++ -std=gnu++17 -O2 -g "$here/inlines.cc" -o inlines || cannot "no C++ compiler"
}

begin_mix() {
	mix=()
	mixed python3 -c 'import json
while True: json.loads(json.dumps([{"a": i, "b": [i] * 5} for i in range(500)]))'
	mixed sh -c 'exec xz -9 </dev/urandom'
	! have node || mixed node -e 'while (1) JSON.stringify([...Array(9999).keys()].sort())'
	mixed ./inlines
	if have redis-server && have redis-benchmark; then
		mixed redis-server --port 0 --unixsocket "$T/redis.sock" --save ''
		sleep 0.5
		mixed redis-benchmark -s "$T/redis.sock" -n 1000000000 -c 4 -q
	fi
	[ "${1:-}" != gcc ] || mixed bash -c 'while :; do gcc -O2 -c big.c -o big.o; done'
}

end_mix() {
	local p
	for p in "${mix[@]}"; do finish "$p"; done 2>/dev/null
}
