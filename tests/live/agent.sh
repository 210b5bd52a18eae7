#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/agent src/push src/recording src/commands/cmd_agent.c src/commands/agent_push.c
# light: yes
# timeout: 360
# probee agent for real: it records, keeps windows and sends them; its receiver is away for a while; it is told to read its configuration
# again; its recorder and its sender stop; it is killed; the disk is full; it costs more than it may.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 1
TMP=$T
. tests/push/lib.sh
command -v curl >/dev/null || skip "curl is not installed"
export PYTHONDONTWRITEBYTECODE=1

conf=$T/agent.conf
config() { printf '%s\n' "$@" >"$conf.new" && mv "$conf.new" "$conf"; }
# agent: starts one with this configuration; sets AGENT. Its messages go to $T/err.
agent() {
	NOTIFY_SOCKET=$T/notify WATCHDOG_USEC=3000000 "$PROBEE" agent --config "$conf" 2>>"$T/err" &
	AGENT=$!
	STARTED+=("$AGENT")
}
agent_end() { kill "${1:-TERM}" "$AGENT" 2>/dev/null; wait "$AGENT"; RC=$?; }
status() { "$PROBEE" agent --config "$conf" --status; }
# number WORDS: the number before these words in the status.
number() { status 2>/dev/null | grep -oE "[0-9]+ $1" | head -n 1 | cut -d' ' -f1; }
at_least() { [ "$(number "$2")" -ge "$1" ]; }
whole() { ls "$T/spool" | grep -c '\.pbz$'; }
said() { grep -q -e "$1" "$T/err"; }
json() { "$PROBEE" info --json "$1" | python3 -c "import json, sys; d = json.load(sys.stdin); print($2)"; }
# is_up: the status is that of this agent, not of one before it.
is_up() { status 2>/dev/null | grep -q "process $AGENT\$"; }
# recorder: the number of the agent's recorder.
recorder() { for p in $(cat /proc/"$AGENT"/task/*/children); do ! grep -qx probee-record /proc/"$p"/comm || echo "$p"; done; }

start "$(command -v python3)" "$LIVE/agent_notify.py" "$T/notify" "$T/told-systemd"
receiver one
first_port=$port
basic=('[record]' 'window = 1s' 'budget = no' '[spool]' "folder = $T/spool" '[metrics]' 'listen = 127.0.0.1:0')
config "${basic[@]}" '[target main]' 'batch = no' "url = http://127.0.0.1:$first_port"

# --- it cannot record
if command -v setpriv >/dev/null; then
	cp "$PROBEE" "$T/probee" && chmod 755 "$T/probee"
	printf '%s\n' '[spool]' "folder = $T/mine/spool" >"$T/mine.conf"
	install -d -o nobody "$T/mine"
	timeout 60 setpriv --reuid=nobody --clear-groups --inh-caps=-all --bounding-set=-all "$T/probee" agent --config "$T/mine.conf" 2>"$T/refused"
	check "without rights it ends as a recording does" equal $? 77
fi

# --- it records and sends
sed -i 's/127.0.0.1:0$/127.0.0.1:19466/' "$conf"
agent
check "windows are sent" until_true 30 at_least 3 "sent,"
check "systemd is told that it is ready" grep -q '^READY=1' "$T/told-systemd"
check "systemd is told of life" until_true 10 grep -q '^WATCHDOG=1' "$T/told-systemd"
curl -s http://127.0.0.1:19466/metrics >"$T/metrics"
check "/metrics has its figures" grep -qE '^probee_agent_target_windows_sent_total\{target="main"\} [1-9]' "$T/metrics"
if command -v promtool >/dev/null; then check "promtool finds nothing wrong" promtool check metrics <"$T/metrics"; fi
check "other hosts' pages get nothing" equal "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' http://127.0.0.1:19466/metrics)" 403
check "nothing but /metrics is there" equal "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:19466/x)" 404
strangers=()
for _ in {1..60}; do
	exec {fd}<>/dev/tcp/127.0.0.1/19466
	printf 'GET /metrics HTTP/1.1\r\nX' >&"$fd"
	strangers+=("$fd")
done
check "half requests keep nobody from /metrics" equal "$(curl -s -m 8 -o /dev/null -w '%{http_code}' http://127.0.0.1:19466/metrics)" 200
for fd in "${strangers[@]}"; do exec {fd}>&-; done
first=$(ls "$T"/spool/*.pbz | head -n 1)
check "a window is a whole trace" test "$(json "$first" 'd["samples"] > 0 and d["damage"]["bad_chunks"] == 0 and not d["damage"]["truncated"]')" = True

# --- the receiver is away
plan 503
check "failures are counted" until_true 20 at_least 1 "failures"
before=$(whole)
check "recording goes on" until_true 20 test "$(($(whole) + 0))" -ge "$before"
sleep 3
check "windows wait" test "$(number 'wait;')" -ge 2
plan ok
check "and are sent when it is back" until_true 60 sh -c "[ \$('$PROBEE' agent --config '$conf' --status | grep -oE '[0-9]+ wait;' | cut -d' ' -f1) -le 1 ]"
check "nothing may have come twice" equal "$(number 'may have come twice')" 0

# --- another configuration
receiver two
second=$port
config "${basic[@]/127.0.0.1:0/127.0.0.1:19466}" '[target main]' 'batch = no' "url = http://127.0.0.1:$first_port" '[target other]' 'batch = no' "url = http://127.0.0.1:$second"
kill -HUP "$AGENT"
check "a second target gets windows" until_true 30 wait_for 2
check "systemd is told of the reload" grep -q '^RELOADING=1; MONOTONIC_USEC=' "$T/told-systemd"
config '[record]' 'windo = 1s'
kill -HUP "$AGENT"
check "mistakes are said, and the old one stays" until_true 10 said 'old one stays'
config "${basic[@]/127.0.0.1:0/127.0.0.1:19466}" '[target main]' 'batch = no' "url = http://127.0.0.1:$first_port"
sed -i 's/^window = 1s/window = 1s\nfrequency = 49/' "$conf"
kill -HUP "$AGENT"
check "another rate starts another recorder" until_true 30 at_least 2 "recorders"
newest_has() { [ "$(json "$(ls "$T"/spool/*.pbz | tail -n 1)" 'd["events"][0]["frequency_hz"]')" = 49.0 ]; }
check "which records at that rate" until_true 30 newest_has

# --- a recorder that stops
victim=$(recorder)
kill -STOP "$victim"
check "a recorder without progress is ended" until_true 40 said 'the recorder has made no progress'
check "and another one begins" until_true 40 at_least 3 "recorders"
before=$(whole)
more() { [ "$(whole)" -gt $((before + 1)) ]; }
check "and records" until_true 40 more

# --- the end
before=$(whole)
agent_end
check "it ends in good order" equal "$RC" 0
check "systemd is told of the end" grep -q '^STOPPING=1' "$T/told-systemd"
check "no window is left open" not ls "$T"/spool/*.open
last=$(ls "$T"/spool/*.pbz | tail -n 1)
check "the last window has its end" equal "$(json "$last" 'd["ended"]["by"]')" signal

# --- kills
for i in 1 2 3 4 5; do
	agent
	sleep "1.$i"
	kill -KILL "$AGENT"
	wait "$AGENT" 2>/dev/null
done
config "${basic[@]}" '[target main]' 'batch = 3s' "url = http://127.0.0.1:$first_port"
agent
until_true 30 is_up
check "after kills all is sent" until_true 60 sh -c "[ \$('$PROBEE' agent --config '$conf' --status | grep -oE '[0-9]+ wait;' | cut -d' ' -f1) -le 1 ]"
agent_end
check "kills: the agent ends in good order" equal "$RC" 0
numbers=$(ls "$T/spool" | sed -n 's/^0*\([0-9]*\)\..*\.pbz$/\1/p')
check "kills: windows that are missing had nothing in them" test \
	"$(($(echo "$numbers" | tail -n 1) - $(echo "$numbers" | wc -l)))" -le "$(number 'empty,')"

# --- batches
receiver three
config "${basic[@]}" '[target batches]' 'batch = 5s' "url = http://127.0.0.1:$port"
agent
until_true 30 is_up
check "batches: windows are sent" until_true 60 at_least 10 "sent,"
sent=$(number "sent,") requests=$(number "requests")
check "batches: several in a request" test "$requests" -lt "$sent"
agent_end
check "batches: at the end what is left is sent" equal "$(number 'wait;')" 0
check "batches: and counted" test "$(number 'sent,')" -gt "$sent"

# --- a full disk
mkdir "$T/mnt" && mount -t tmpfs -o size=1100k tmpfs "$T/mnt" || skip "cannot mount"
config '[record]' 'window = 1s' 'budget = no' '[spool]' "folder = $T/mnt/spool" '[target main]' 'url = http://127.0.0.1:9'
agent
dropped() { [ "$("$PROBEE" agent --config "$conf" --status 2>/dev/null | grep -oE '[0-9]+ dropped' | cut -d' ' -f1)" -ge 2 ]; }
check "full disk: the oldest windows go, and are counted" until_true 90 dropped
check "full disk: the agent goes on" kill -0 "$AGENT"
newest=$(ls "$T/mnt/spool" | grep 'pbz$' | tail -n 1)
check "full disk: windows are whole" test "$(json "$T/mnt/spool/$newest" 'd["damage"]["bad_chunks"] == 0 and not d["damage"]["truncated"]')" = True
agent_end
check "full disk: it ends in good order" equal "$RC" 0

# --- the budget
config '[record]' 'window = 1s' 'budget = 0.1%' '[spool]' "folder = $T/cheap"
agent
check "budget: the rates are lowered, and the log says so" until_true 60 said 'more than its budget of 0.1 %'
lowered() { "$PROBEE" info --json "$(ls "$T"/cheap/*.pbz | tail -n 1)" | grep -q 'rate.budget'; }
check "budget: the trace says so" until_true 60 lowered
trace=$(ls "$T"/cheap/*.pbz | tail -n 1)
check "budget: and has the rates that were used" test \
	"$(json "$trace" 'd["events"][0]["frequency_hz"] < 97 and abs(d["events"][0]["period"] * d["events"][0]["frequency_hz"] / 1e9 - 1) < 0.01')" = True
agent_end
cat "$T"/cheap/*.pbz >"$T/all.pbz"
check "budget: windows of several rates are one recording" equal "$(json "$T/all.pbz" 'd["recordings"]["all"]')" 1

done_testing
