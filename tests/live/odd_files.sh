#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/foreign src/parse src/capture/processes src/model
# core: yes
# beside: live
# Programs whose files are gone, change while they are read, are huge or have odd names; a process number that is used
# again; and a thread whose stack pointer leads anywhere.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

chain="main;f1;f2;f3"
# sampled WHAT TRACE: it ended well and in time, and has the workload's chain.
sampled() {
	check "$1: exit status" equal "$RC" 0
	folded "$2" >"$2.folded"
	check "$1: names" stacks share "$2.folded" "$chain" --of f30 --min 1
}
# own_copy NAME: the workload under another name, spinning.
own_copy() {
	cp "$WORKLOADS/chain30" "$1" && start "$PWD/$1" spin
}

# --- deleted, or replaced by another file of the same name
own_copy gone
rm gone
sample -p "$PID" -d 0.3 -o gone.pbz
sampled "deleted program" gone.pbz
finish "$PID"
own_copy replaced
cp "$WORKLOADS/twochains" other && mv other replaced
sample -p "$PID" -d 0.3 -o replaced.pbz
sampled "replaced program" replaced.pbz
finish "$PID"

# --- a mapped file that another process truncates and writes again all the time
cp "$WORKLOADS/chain30" changing
start victim prog "$PWD/changing"
changing=$PID
spoil() { while :; do truncate -s 5000 changing; cat "$WORKLOADS/chain30" >changing; truncate -s 0 changing; done; }
background spoil
spoiler=$PID
ok=0
for i in 1 2 3 4; do
	snapshot -p $changing -i 2 -F 20 -o changing.pbz
	[ "$RC" != 0 ] || [ "$(csv changing.pbz -q | wc -l)" != 2 ] || ok=$((ok + 1))
done
check "file that changes while it is read: four recordings" equal $ok 4
finish $spoiler
finish $changing

# --- a program of 64 GiB
cp "$WORKLOADS/chain30" huge
if truncate -s 64G huge 2>/dev/null; then
	start "$PWD/huge" spin
	before=$(date +%s%N)
	sample -p "$PID" -d 0.3 -o huge.pbz
	sampled "program of 64 GiB" huge.pbz
	check "program of 64 GiB: ends" at_most $((($(date +%s%N) - before) / 1000000)) 10000
	finish "$PID"
	rm huge
else
	skip_part "no file of 64 GiB can be made in $T"
fi

# --- names: of files, so also of threads
names=("two  blanks" $'new\nline' "was (deleted)" ") R 1 (" $'\e[31mred' $'\xff\xfe' '$(id);|<b>' "-p")
pids=
for name in "${names[@]}"; do
	cp "$WORKLOADS/chain30" "./$name"
	start "$PWD/$name" sleep
	pids+=,$PID
done
snapshot -p "${pids#,}" -i 1 -o names.pbz
check "odd names: exit status" equal "$RC" 0
csv names.pbz -q >names.csv
check "odd names: a row each, whole" bash -c "grep -cE 'f30[+].*;f1[+].*main[+].*_start[+]' names.csv | grep -x ${#names[@]}"
"$PROBEE" report names.pbz --svg=names.svg --weight wall 2>/dev/null
"$PROBEE" report names.pbz --weight wall >names.txt
"$PROBEE" info names.pbz >names.info
check "odd names: no control byte and nothing unescaped in reports" bash -c \
	"! LC_ALL=C grep -lP '[\\x00-\\x08\\x0b-\\x1f]' names.csv names.txt names.info names.svg && ! grep -F '<b>' names.svg"
for pid in ${pids//,/ }; do finish "$pid"; done

# --- stack and frame pointers that lead anywhere
if [ "$(uname -m)" = x86_64 ]; then
	start astray
	run_limited record -v -p "$PID" -F 4999 --snap-freq 50 -d 2 -o astray.pbz
	check "random stack pointers: exit status" equal "$RC" 0
	submitted=$(sed -nE 's/.* ([0-9]+) submitted, .*/\1/p' "$T/err")
	check "random stack pointers: every sample has its row" equal "$(csv astray.pbz -q --weight cpu | wc -l)" "$submitted"
	check "random stack pointers: sampled" at_least "${submitted:-0}" 200
	check "random stack pointers: the trace can be read" bash -c "'$PROBEE' info astray.pbz >/dev/null"
	finish "$PID"
fi

# --- another program gets the number of one that has ended; in a namespace the next number can be chosen
cat >reuse <<'END'
# soon COMMAND...: waits for it to succeed, for 10 s at most.
soon() { for _ in $(seq 500); do "$@" && return; sleep 0.02; done; exit 1; }
# spin COMMAND...: as process 300, for half a second.
spin() {
	echo 299 >/proc/sys/kernel/ns_last_pid
	"$@" >ready &
	echo $! >>reuse.pids
	sleep 0.7
	kill -KILL $!
	wait $!
	soon test ! -e /proc/$!
}
"$PROBEE" sample -a -F 499 -d 3 -o reuse.pbz 2>err &
soon test -e reuse.pbz
spin "$WORKLOADS/chain30" spin
spin "$WORKLOADS/brief" 100000
wait
END
export PROBEE WORKLOADS
timeout 30 unshare -pf --mount-proc --kill-child bash reuse 2>/dev/null
if [ "$(cat reuse.pids 2>/dev/null)" = $'300\n300' ]; then
	folded reuse.pbz -p 300 >reuse.folded
	check "a number used again: both programs" bash -c "grep -q '^chain30;.*f29;f30' reuse.folded && grep -q '^brief;.*brief_leaf' reuse.folded"
	check "a number used again: no stack of one has names of the other" not grep -E '^chain30;.*brief_|^brief;.*;f[0-9]' reuse.folded
else
	skip_part "no process number can be chosen here"
fi

# --- a container's root: the path of its program is another file here
mkdir -p root/bin root/old root/proc bin
inside() {
	exec unshare -mp --fork --kill-child bash -c "mount --bind '$T/root' '$T/root' && cd '$T/root' && pivot_root . old &&
		exec /bin/sleep spin"
}
cp "$WORKLOADS/chain30_static" root/bin/sleep && cp "$(type -P bash)" root/bin/
if background inside >inside.out && until_true 5 grep -q ready inside.out; then
	pid=$(pgrep -P "$(pgrep -P "$PID" || echo "$PID")" || pgrep -P "$PID")
	sample -p "${pid:-1}" -d 0.5 -o root.pbz
	sampled "after pivot_root" root.pbz
else
	skip_part "no pivot_root here"
fi
finish "$PID"
done_testing
