#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/probes src/capture/collectors bpf
# core: yes
# timeout: 120
# USDT probes (-e usdt:): each passing is a stack, in programs of any kind, with semaphores; and what files have.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

USDT=$WORKLOADS/usdt
[ -x "$USDT" ] || no_workload usdt

# probe NAME ARG...: records; what the program prints is in NAME.out.
probe() {
	local name=$1
	shift
	timeout -k 5 60 "$PROBEE" sample -v -o "$name.pbz" "$@" >"$name.out" 2>"$name.err"
	RC=$?
	cp "$name.err" "$T/err"
}
count() { "$PROBEE" report "$1.pbz" ${2:+--event "$2"} --no-inline --collapse 2>>"$T/err" | awk '{ s += $NF } END { printf "%.0f\n", s }'; }
fired() { sed -n "s/^probee: usdt:$2: fired=\([0-9]*\) .*/\1/p" "$1.err"; }

# What a file has is what readelf says.
"$PROBEE" probes "usdt:$USDT:*:*" >list.out 2>"$T/err"
check "the list: exit status" equal $? 0
readelf -n "$USDT" | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 } /Location:/ { gsub(",", ""); l = $2; s = $6 }
	/Arguments:/ { sub(/.*Arguments: ?/, ""); print p ":" n, substr(l, 11), "(" $0 ")" (s ~ /^0x0*$/ ? "" : " semaphore") }' | sort >elf.txt
sed -n 's/^  \([^ ]*\) *0x\([0-9a-f]*\)  \((.*)\)  *\(semaphore\)*/\1 \2 \3 \4/; T; s/ $//; p' list.out >got.txt
sed -n 's/^  \([^ ]*\) *0x\([0-9a-f]*\)  \((.*)\)$/\1 \2 \3/p' list.out >>got.txt
check "places, arguments and semaphores are those of readelf" equal "$(sort got.txt)" "$(cat elf.txt)"
check "six places" equal "$(wc -l <elf.txt)" 6
"$PROBEE" --list-probes "usdt:$USDT:fixture:plain" >list.out 2>"$T/err"
check "--list-probes" equal "$(grep -c ' fixture:plain ' list.out)" 2
"$PROBEE" probes "usdt:$USDT:fixture:nosuch" >list.out 2>"$T/err"
check "what is not there: exit status" equal $? 1
check "and a remedy" grep -q "no such USDT probe in 1 file. Try: .*'usdt:/path/to/file:\*:\*'" "$T/err"

# Each passing, in children too; two places are one probe; nothing is passed without a semaphore that is on.
for kind in usdt usdt_nopie; do
	probe $kind -e "usdt:$WORKLOADS/$kind:fixture:plain" -e "usdt:$WORKLOADS/$kind:fixture:values" -- "$WORKLOADS/$kind" fork 100
	check "$kind: exit status" equal "$RC" 0
	check "$kind: two places, no semaphore" equal "$(count $kind "usdt:$WORKLOADS/$kind:fixture:plain")" 200
	check "$kind: with a semaphore, in the child as well" equal "$(count $kind "usdt:$WORKLOADS/$kind:fixture:values")" 200
	check "$kind: the program sees the tool" equal "$(cat $kind.out)" "semaphore 100"
	check "$kind: whole stacks" grep -q "100.0 % of user stacks whole" $kind.err
	check "$kind: the function with the probe is the leaf" stacks share <("$PROBEE" report $kind.pbz --event "usdt:$WORKLOADS/$kind:fixture:values" \
		--no-inline --collapse 2>>"$T/err") "main;calls;values" --min 200
done
check "afterwards it sees none" equal "$("$USDT" calls 100)" "semaphore 0"

# Conditions on arguments: those of each kind that the fixture has, in registers and in memory, of all sizes.
condition() {
	probe if -e "usdt:$USDT:$1" --if "$2" -- "$USDT" calls 200
	check "$1 --if '$2'" equal "$(count if)" "$3"
}
condition fixture:values 'arg1 < -90 && arg1 >= -99' 18
condition fixture:values 'arg2 == 60007' 2
condition fixture:values 'arg3 < -189' 10
condition fixture:values 'arg4 == 0x640000000000' 1
condition fixture:values 'arg5 == -12' 50
condition fixture:values 'arg6 == 42' 200
condition fixture:text 'arg2 > 197' 2
condition fixture:plain 'arg1 > 0' 100
condition fixture:plain 'arg1 == -198' 1
probe ifbad -e "usdt:$USDT:fixture:text" --if 'arg3 > 1' -- "$USDT" calls 1
check "an argument that it has not: refused" equal "$RC" 1
check "with those that it has" grep -q 'no such argument that could be read: "8@' ifbad.err

# The values of arguments are a frame. The program's own calculation says what they are.
probe args -e "usdt:$USDT:fixture:text" --args arg1:str,arg2 -e "usdt:$USDT:fixture:values" --args arg1,arg2,arg3,arg4,arg5,arg6 \
	-e "usdt:$USDT:plain" --args arg1 -- "$USDT" calls 200
for name in fixture:text fixture:values plain; do
	"$PROBEE" report args.pbz --event "usdt:$USDT:$name" --no-inline --collapse 2>>"$T/err"
done | sed 's/.*;//' | sort >args.got
python3 - >args.want <<'END'
rows = []
for i in range(200):
    number = [10, 11, -12, 13][i % 4]
    rows.append(f'fixture:text("{["alpha", "beta", "gamma"][i % 3]}", {i})')
    rows.append(f"fixture:values({-(i % 100)}, {60000 + i % 100}, {-i}, {i << 40}, {number}, 42)")
    rows.append(f"fixture:plain({i if i % 2 else -i})")
print("\n".join(f"{r} 1" for r in rows))
END
check "--args: all 600 values" equal "$(cat args.got)" "$(sort args.want)"
"$PROBEE" report args.pbz --event "usdt:$USDT:fixture:text" --no-inline --collapse >args.folded 2>>"$T/err"
check "--args: the function that has the probe is the caller" equal "$(grep -c ';text;fixture:text(' args.folded)" 200
probe same -e "usdt:$USDT:fixture:text" --args arg1:str -- "$USDT" calls 300
check "--args: equal values are one frame" equal "$("$PROBEE" report same.pbz --no-inline --collapse | sed 's/.*;//' | sort | tr '\n' ' ')" \
	'fixture:text("alpha") 100 fixture:text("beta") 100 fixture:text("gamma") 100 '
probe argsbad -e "usdt:$USDT:fixture:text" --args arg3 -- "$USDT" calls 1
check "--args: an argument that it has not" grep -q 'args arg3: fixture:text of .* has no such argument' argsbad.err

# A program that runs: its semaphore is on while probee is there. Its file is in a mount namespace that probee is not in.
mkdir -p mnt
# shellcheck disable=SC2016
background unshare -m --propagation unchanged sh -c 'mount -t tmpfs none "$0/mnt" && cp "$1" "$0/mnt/boxed" && exec "$0/mnt/boxed" wait 50 <"$0/in" >"$0/out"' "$T" "$USDT"
mkfifo in 2>/dev/null
boxed=$PID
exec 5>in
check "the boxed program runs" until_true 20 grep -q boxed "/proc/$boxed/comm"
check "its file is not here" test ! -e mnt/boxed
answers() { [ "$(wc -l <out)" = "$1" ]; }
echo >&5
until_true 20 answers 1
background "$PROBEE" sample -v -p "$boxed" -e usdt:boxed:fixture:values -e usdt:fixture:text -o boxed.pbz 2>boxed.err
recorder=$PID
check "the recorder is there" until_true 20 test -s boxed.pbz
sleep 0.5
echo >&5
until_true 20 answers 2
finish "$recorder" INT
echo >&5
until_true 20 answers 3
check "its semaphore is off, on, off" equal "$(tr '\n' ' ' <out)" "semaphore 0 semaphore 50 semaphore 0 "
check "each passing of the boxed program" equal "$(count boxed usdt:boxed:fixture:values)" 50
check "found without the file's name" equal "$(count boxed usdt:fixture:text)" 50
exec 5>&-

# Programs of others.
probe cxx -e usdt:libstdc++:libstdcxx:throw -e usdt:libstdcxx:catch -d 1 -- timeout 0.3 "$WORKLOADS/throws"
if grep -q 'no such USDT probe' cxx.err; then
	skip_part "this libstdc++ has no probes"
else
	check "libstdc++: exceptions" at_least "$(fired cxx libstdc++:libstdcxx:throw)" 10
	check "below the function that throws" bash -c "'$PROBEE' report cxx.pbz --event usdt:libstdc++:libstdcxx:throw --no-inline --collapse | grep -q ';deepest.*__cxa_throw '"
fi
if command -v php >/dev/null && [ "$(php -r 'echo 1;')" = 1 ] && "$PROBEE" probes usdt:php:php:function__entry >/dev/null 2>&1; then
	# shellcheck disable=SC2016
	USE_ZEND_DTRACE=1 probe php -e usdt:php:php:function-entry -e usdt:php:function__return -- \
		php -r 'function f($n) { return $n ? f($n - 1) : 0; } for ($i = 0; $i < 50; $i++) f(9);'
	check "PHP: each call" equal "$(fired php php:php:function-entry)" 500
	check "PHP: each return" equal "$(fired php php:function__return)" 500
else
	skip_part "no PHP with probes"
fi
python=$(readlink -f /usr/bin/python3)
if "$PROBEE" probes "usdt:$python:python:gc__start" >/dev/null 2>&1; then
	probe python -e "usdt:$python:python:gc__start" -- "$python" -I -c 'import gc; gc.disable(); [gc.collect() for _ in range(30)]'
	check "Python: collections" at_least "$(fired python "$(sed 's,/,\\/,g' <<<"$python"):python:gc__start")" 30
else
	skip_part "no Python with probes"
fi

# A note that lies: the place is inside of an instruction.
cp "$USDT" lies
python3 - lies <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"fixture\0values\0") - 24
place, = struct.unpack_from("<Q", data, at)
struct.pack_into("<Q", data, at, place + 1)
open(sys.argv[1], "wb").write(data)
END
probe lies -e "usdt:$T/lies:fixture:values" -- ./lies calls 10
check "a note that lies: refused" grep -q 'no nop is there, so the note is wrong' lies.err
check "and nothing is put" equal "$RC" 1
refused() {
	"$PROBEE" sample -d 1 -o bad.pbz "${@:3}" 2>"$T/err"
	check "refused: ${*:3}" equal $? "$1"
	check "with a reason" grep -q "$2" "$T/err"
}
refused 2 'a provider and a name' -e usdt:main
refused 1 'no such USDT probe' -e usdt:fixture:nosuch
refused 2 'of which function or USDT probe' -e k:vfs_read --args arg1
refused 2 'not a list of arguments. Try: ret' -e ur:malloc --args arg1
refused 2 'not a list of arguments' -e u:malloc --args arg7
refused 2 'not a list of arguments' -e usdt:a:b --args arg1,
refused 2 'not a list of arguments' -e usdt:a:b --args arg13
refused 2 'not a list of arguments' -e usdt:a:b --args arg1:int
refused 2 'at most 6 arguments, and 3 of them texts' -e usdt:a:b --args arg1:str,arg2:str,arg3:str,arg4:str
done_testing
