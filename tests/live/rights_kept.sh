#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/rights src/recording docs/SECURITY.md
# beside: live
# A recording sheds what it does not need again: all threads of all its processes hold exactly the capabilities that the
# documentation names, as far as the user had them, in no other set, and with no_new_privs. The command after "--" has what
# the user has.
. "$(dirname "$0")/lib.sh"

getent passwd nobody >/dev/null || skip "no user nobody"
held() { python3 -S "$LIVE/held.py" "$@"; }
alike() { diff "$1" "$2"; }

# --- one table: what the doctor says is what the documentation says
"$PROBEE" doctor --rights >rights
check "the doctor's table" at_least "$(wc -l <rights)" 5
awk -F '[|`]' '/^\| `cap_/ { gsub(/ /, "", $5); gsub(/^ | $/, "", $6); print $3 "\t" $5 "\t" $6 }' "$ROOT/docs/SECURITY.md" >documented
check "docs/SECURITY.md has the same table" alike rights documented

# spun BEFORE: the target has run for half a second since it had run for BEFORE ticks of the clock, so that it has samples.
ticks() { awk '{ print $14 }' "/proc/$target/stat"; }
spun() { (($(ticks) >= $1 + 50)); }

# recording NAME HELD COMMAND...: COMMAND records; what it holds once it has begun is compared with the table. HELD: the
# capabilities it was started with.
recording() {
	local what=$1 had=$2
	shift 2
	background "$@" 2>"$T/err"
	until_true 30 held begun "$PID" || { check "$what: begins" false; return; }
	# On a busy machine a helper may not have come to its first steps yet.
	until_true 10 held judge "$PID" rights "$had"
	until_true 30 spun "$(ticks)"
	check "$what: holds what is documented, and no more" held judge "$PID" rights "$had"
	finish "$PID" INT
}

start chain30 spin
target=$PID
mine=$(sed -n 's/^CapPrm:[[:space:]]*//p' /proc/self/status)
recording "sample" "$mine" "$PROBEE" sample -a -d 30 -o a.pbz
recording "sample --java-perf-map" "$mine" "$PROBEE" sample -a --java-perf-map -d 30 -o m.pbz
recording "sample -p" "$mine" "$PROBEE" sample -p "$target" -d 30 -o b.pbz
recording "snapshot" "$mine" "$PROBEE" snapshot -a -F 5 -d 30 -o c.pbz
recording "sample -- CMD" "$mine" "$PROBEE" sample -d 30 -o k.pbz -- sleep 30
recording "record" "$mine" "$PROBEE" record -a -d 30 -o d.pbz
"$PROBEE" report d.pbz --collapse >d.folded 2>"$T/err"
check "record: has stacks" stacks share d.folded "main;f1" --of f30 --min 5

# --- as a user: by capabilities that are passed on, and by those of the program's file
six=bpf,perfmon,sys_ptrace,dac_read_search,checkpoint_restore,syslog
few=-all,+${six//,/,+}
mkdir -m 777 out
as_nobody=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
install -m 755 "$PROBEE" probee
if "${as_nobody[@]}" --inh-caps=$few --ambient-caps=$few true 2>/dev/null; then
	recording "a user with capabilities" "$(held mask $six)" "${as_nobody[@]}" --inh-caps=$few --ambient-caps=$few \
		./probee record -a -d 30 -o out/e.pbz
	recording "a user with two" "$(held mask bpf,perfmon)" "${as_nobody[@]}" --inh-caps=-all,+bpf,+perfmon \
		--ambient-caps=-all,+bpf,+perfmon ./probee snapshot -a -F 5 -d 30 -o out/f.pbz
fi
if command -v setcap >/dev/null && setcap "cap_${six//,/,cap_}=ep" probee 2>/dev/null; then
	recording "a program with capabilities" "$(held mask $six)" "${as_nobody[@]}" ./probee record -a -d 30 -o out/g.pbz
	# Where kernel.perf_event_paranoid is 3, users give cap_sys_admin as well. It goes when all is open.
	setcap "cap_${six//,/,cap_},cap_sys_admin=ep" probee
	recording "with cap_sys_admin" "$(held mask $six,sys_admin)" "${as_nobody[@]}" ./probee sample -a -d 30 -o out/h.pbz
	setcap "cap_bpf,cap_perfmon,cap_sys_admin=ep" probee
	recording "with cap_sys_admin in place of others" "$(held mask bpf,perfmon,sys_admin)" "${as_nobody[@]}" \
		./probee sample -a -d 30 -o out/i.pbz
else
	skip_part "no file capabilities here"
fi

# --- the command
status="grep -E '^(Cap|NoNewPrivs)' /proc/self/status"
sh -c "$status" >mine
sample -o j.pbz -- sh -c "sleep 0.3; $status >command"
check "the command has the rights of the user" alike mine command
done_testing
