#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/proc/target_rules.c src/proc/container_names.c src/recording src/profile/fold_roots.c
# Targets by what people know of them: names, users, cgroups, units, containers; trees; several kinds at once; what begins later;
# numbers of processes that have ended. Which processes are recorded is compared with those that were started here.
. "$(dirname "$0")/lib.sh"

id=4f3a5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566779c
name=tgt$$			# of this test alone: others run beside it
cp "$(command -v sleep)" "$name-nap"
cp "$(command -v sleep)" "$name-a-name-of-many-letters"
nap() { background "./$name-nap" 300; }

# recorded TRACE: the processes in it.
recorded() { "$PROBEE" report -q "$1" --csv --columns tgid 2>/dev/null | sort -un | tr '\n' ' '; }
# are WHAT WANTED ARG...: a snapshot with these options has these processes, and no others.
are() {
	local what=$1 wanted=$2
	shift 2
	snapshot "$@" -i 1 -o t.pbz
	check "$what: exit status" equal "$RC" 0
	check "$what" equal "$(recorded t.pbz)" "$(tr ' ' '\n' <<<"$wanted" | sort -n | tr '\n' ' ' | sed 's/^ //')"
}

nap; one=$PID
nap; two=$PID
background "./$name-a-name-of-many-letters" 300
long=$PID
until_true 10 grep -q "^$name" "/proc/$long/comm"

are "a number" "$one" -p "$one"
are "numbers, one of which has ended" "$one" -p "$one,4194303"
check "that is said" grep -q 'process 4194303 has ended' err
snapshot -p 4194303 -i 1 -o t.pbz
check "a number alone that has ended is an error" equal "$RC" 1
are "a name" "$one $two" -p "$name-nap"
are "a name that the kernel cuts" "$long" -p "$name-a-name-of-many-letters"
are "a glob" "$one $two $long" -p "$name-*"
are "a name and a number" "$one $two $long" -p "$name-nap,$long"
are "--comm" "$one $two" --comm "$name-n*"
are "two kinds" "$one $two $long" --comm "$name-nap" -p "$long"

# A process that has children already, which have children.
background sh -c "./$name-nap 301 & sh -c './$name-nap 302 & wait' & wait"
tree=$PID
until_true 10 bash -c "[ \"\$(pgrep -fc '$name-nap 30[12]\$')\" -ge 2 ]"
descendants() { local c; echo "$1"; for c in $(pgrep -P "$1"); do descendants "$c"; done; }
are "without --tree" "$tree" -p "$tree"
for p in $(descendants "$tree"); do STARTED+=("$p"); done
are "--tree" "$(descendants "$tree" | tr '\n' ' ' | sed 's/ $//')" -p "$tree" --tree

# A user.
if setpriv --reuid=65011 --regid=65011 --clear-groups true 2>/dev/null; then
	background setpriv --reuid=65011 --regid=65011 --clear-groups "./$name-nap" 300
	other=$PID
	until_true 10 bash -c "[ \"\$(stat -c %u /proc/$other)\" = 65011 ] && grep -q nap /proc/$other/comm"
	are "--uid" "$other" --uid 65011
fi

# Cgroups: a unit and a container below a group of this test.
group=
for root in /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e "$root/cgroup.procs" ] && mkdir "$root/$name.slice" 2>/dev/null && group=$root/$name.slice && break
done
if [ "$group" ] && mkdir "$group/docker-$id.scope" "$group/web.service" && echo "$one" >"$group/web.service/cgroup.procs" &&
	echo "$two" >"$group/docker-$id.scope/cgroup.procs" && grep -q "$id" "/proc/$two/cgroup" &&
	"$PROBEE" snapshot -q -p "$two" -i 1 -o t.pbz && "$PROBEE" report -q t.pbz --csv --columns cgroup | grep -q "$id"; then
	are "--cgroup" "$one $two" --cgroup "/$name.slice"
	are "--cgroup, a glob" "$one" --cgroup '*/web.service'
	are "--unit" "$one" --unit web
	are "--unit, its whole name" "$one" --unit web.service
	are "--container" "$two" --container "${id:0:12}"
	are "a union of three" "$one $two $long" --unit web --container "$id" -p "$long"
	snapshot -p "$one,$two,$long" -i 1 -o t.pbz
	"$PROBEE" report -q t.pbz --by unit --collapse >folded 2>/dev/null
	check "--by unit" grep -q '^web.service;' folded
	"$PROBEE" report -q t.pbz --by container --collapse >folded 2>/dev/null
	check "--by container" grep -q "^${id:0:12};" folded
	check "--by container: and those of none" grep -q '^\[no container\];' folded
else
	check "cgroups # SKIP none can be made here" true
fi

# What begins later joins; the recording goes on when there is nothing yet.
"$PROBEE" record --comm "$name-late" -o late.pbz 2>late.err &
recorder=$!
STARTED+=("$recorder")
until_true 20 grep -q 'is recorded when it begins' late.err
until_true 20 test -s late.pbz
cp "$(command -v sleep)" "$name-late"
background "./$name-late" 300
late=$PID
until_true 20 bash -c "'$PROBEE' report -q late.pbz --weight wall --csv --columns tgid 2>/dev/null | grep -qx $late"
check "what begins later is recorded" equal "$(recorded late.pbz)" "$late "
kill -INT "$recorder"
wait "$recorder"
check "Ctrl-C ends it" equal $? 0

snapshot -p "${name}-npa" -i 1 -o t.pbz
check "a name that is not there is an error" equal "$RC" 1
check "what is like it is said" grep -q "no process is called '$name-npa'. Try: -p $name-nap" err
background python3 -S -c 'import ctypes, time
ctypes.CDLL(None).prctl(15, b"")
time.sleep(99)'
nameless=$PID
check "a process without a name" until_true 20 bash -c "[ -z \"\$(cat /proc/$nameless/comm)\" ]"
"$PROBEE" sample -p q -d 1 2>err
check "is not what was meant" not grep -qE -e '-p *$' err
finish "$nameless"
snapshot -p "$name-entirely-different" -i 1 -o t.pbz
check "nothing like it is there: --comm would wait" grep -q "Try: --comm '$name-entirely-different'" err
[ -z "$group" ] || { kill "$one" "$two"; wait "$one" "$two" 2>/dev/null; rmdir "$group"/*/ "$group" 2>/dev/null; }
done_testing
