#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind bpf
# timeout: 120
# beside: live
# Threads of Go that have no goroutine: their stacks end in the runtime's own functions and are whole. Here those of the first
# thread, whose structs are static variables, lie in a page of the program's file; scans read no memory of most files.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "no go"
[ "$(uname -m)" = x86_64 ] || skip "Go's tables are read on x86-64 only"

cat >idle.go <<'EOT'
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	runtime.GOMAXPROCS(1)
	for i := 0; i < 100; i++ {
		go func() {
			for {
				time.Sleep(20 * time.Millisecond)
			}
		}()
	}
	fmt.Printf("ready %d %p\n", os.Getpid(), &pad)
	time.Sleep(300 * time.Second)
}
EOT
# build BYTES: with so much more initialised data.
build() {
	printf 'package main\n\nvar pad = [%d]byte{1}\n' "$1" >pad.go
	env GO111MODULE=off GOCACHE="$WORKLOADS/.gocache" go build -o idle idle.go pad.go
}
# symbol NAME: its address. bss: where the data of the file ends.
symbol() { nm idle | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
bss() { readelf -SW idle | sed -nE 's/.* \.bss +NOBITS +([0-9a-f]+) .*/0x\1/p'; }

build 32 || { check "the program is built" false; exit 1; }
build $((32 + 4096 + 32 - $(bss) % 4096))
if [ $(($(symbol runtime.g0) / 4096)) != $(($(bss) / 4096)) ]; then
	skip_part "the linker put runtime.g0 elsewhere"
fi
start ./idle

snapshot -p "$PID" -F 20 -i 60 -o snap.pbz
"$PROBEE" report snap.pbz --json >snap.json 2>>"$T/err"
check "scans: whole, nothing guessed" python3 -S "$LIVE/go_stacks.py" whole snap.json 99
folded snap.pbz --tid "$PID" >snap.folded
check "scans: the first thread looks for work" stacks share snap.folded "runtime.mcall;runtime.park_m;runtime.schedule" \
	--of runtime.schedule --percent 100 --min 10

sample --off-cpu -p "$PID" -d 2 -o off.pbz
"$PROBEE" report off.pbz --json >off.json 2>>"$T/err"
check "off a CPU: whole, nothing guessed" python3 -S "$LIVE/go_stacks.py" whole off.json 99
finish "$PID"
done_testing
