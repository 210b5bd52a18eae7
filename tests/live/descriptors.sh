#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/proc src/capture/waits src/capture/session
# core: yes
# beside: live
# snapshot --syscall-args: the arguments of system calls are those of /proc/PID/syscall, and descriptors have the names of
# /proc/PID/fd and /proc/net; whatever bytes they have, both dialects of CSV are whole. Rows that are written while
# recording equal those of the report with the same options.
# timeout: 100
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "needs python3"

mkdir files
background python3 "$LIVE/descriptors.py" target "$PWD/files" >ready
until_true 20 grep -q ready ready || { cat ready; exit 1; }
pid=$(cut -d ' ' -f 2 ready)

# Those that are empty while it is recorded are left out.
all=$("$PROBEE" report --columns help | grep -v 'empty while it is recorded' | sed 's/ .*//' | paste -sd ,)
for dialect in xstack rfc4180; do
	run_limited snapshot -p "$pid" -F 5 -i 3 --syscall-args -o "$dialect.pbz" --csv --columns="$all" --csv-dialect=$dialect >live.csv
	check "$dialect: exit status" equal "$RC" 0
	check "$dialect: as /proc has it" python3 "$LIVE/descriptors.py" check live.csv "$pid" $dialect
	"$PROBEE" report "$dialect.pbz" --csv --columns="$all" --csv-dialect=$dialect >report.csv 2>>"$T/err"
	check "$dialect: the report's bytes" cmp live.csv report.csv
done

# To files, compressed, and without a header.
columns=timestamp,tid,syscall,sysc_arg1,filename,connection,ustack
run_limited snapshot -p "$pid" -F 5 -i 2 -o named.csv --columns $columns --csv-dialect rfc4180
check "-o named.csv: exit status" equal "$RC" 0
"$PROBEE" report named.pbz --csv --columns $columns --csv-dialect rfc4180 >report.csv 2>>"$T/err"
check "-o named.csv: the report's bytes" cmp named.csv report.csv
check "-o named.csv: arguments only if asked for" equal "$(cut -d , -f 4 named.csv | sort -u | tr '\n' ' ')" " sysc_arg1 "
run_limited snapshot -p "$pid" -F 5 -i 2 -q -o packed.pbz --csv=packed.csv.zst --columns $columns
"$PROBEE" report packed.pbz -q --csv --columns $columns >report.csv 2>>"$T/err"
check "packed.csv.zst: the report's bytes" cmp <(zstd -dcq packed.csv.zst) report.csv

# --waits says what is waited for.
"$PROBEE" report xstack.pbz --waits --all-waits >waits.txt 2>>"$T/err"
check "--waits: a connection" grep -qE 'data from tcp 127\.0\.0\.1:[0-9]+ -> 127\.0\.0\.1:[0-9]+ ESTABLISHED' waits.txt
check "--waits: a lock of a file" grep -q 'a lock of /.*/files/lock' waits.txt
check "--waits: no control characters" not grep -q $'\x1b' waits.txt
"$PROBEE" report xstack.pbz --waits-json >waits.json 2>>"$T/err"
check "--waits-json: is JSON" python3 -c 'import json; t = json.load(open("waits.json"))["threads"]; assert any(x.get("file", "").startswith("tcp ") for x in t)'

run_limited snapshot --columns help >help.txt
check "--columns help: exit status" equal "$RC" 0
check "--columns help" grep -q '^connection ' help.txt
run_limited snapshot -a --csv --columns nothing >/dev/null
check "--columns nothing: exit status" equal "$RC" 2
done_testing
