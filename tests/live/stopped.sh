#!/usr/bin/env bash
# probee itself is stopped for a while, as by Ctrl-Z or a debugger: it goes on, and blames nobody for the time.
. "$(dirname "$0")/lib.sh"

start threads 100 sleep
"$PROBEE" snapshot -p "$PID" -F 10 -d 15 -o stopped.pbz 2>err &
probee=$!
STARTED+=($probee)
check "the reader is there" until_true 20 pgrep -P $probee -x probee-reader
reader=$(pgrep -P $probee -x probee-reader)
sleep 0.5
kill -STOP $probee "$reader"
sleep 10
kill -CONT $probee "$reader"
sleep 0.5
kill -STOP "$reader"
sleep 3
kill -CONT "$reader"
wait $probee
check "probee stopped for 10 s: exit status" equal $? 0
csv stopped.pbz >stopped.csv
check "probee stopped for 10 s: nobody is blamed" not grep -q hangs err
check "probee stopped for 10 s: rows of whole walks" equal "$(($(stacks rows stopped.csv) % 101))" 0
check "probee stopped for 10 s: at least 10 walks" at_least "$(($(stacks rows stopped.csv) / 101))" 10

# Its reader is killed: one line, and what was recorded is there.
"$PROBEE" snapshot -p "$PID" -F 10 -o killed.pbz 2>err &
probee=$!
STARTED+=($probee)
until_true 20 pgrep -P $probee -x probee-reader
sleep 0.7
pkill -KILL -P $probee -x probee-reader
wait $probee
check "reader killed: exit status" equal $? 1
check "reader killed: one line" one_line err
check "reader killed: the trace can be read" bash -c "'$PROBEE' info killed.pbz >info.txt"
done_testing
