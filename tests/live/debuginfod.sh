#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/late_names src/foreign src/commands/cmd_symbolize.c
# beside: live
# --debuginfod: debug files come from a server, by a process that is not root, and only when asked for.
. "$(dirname "$0")/lib.sh"
command -v debuginfod >/dev/null || skip "no debuginfod: make deps LEVEL=check"
ldconfig -p | grep -q 'libdebuginfod\.so\.1' || skip "no libdebuginfod.so.1"

cat >where.c <<'EOT'
#include <stdio.h>
#include <unistd.h>
static void __attribute__((noinline)) wanted(void)
{
	for (;;)
		pause();
}
int main(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	wanted();
}
EOT
# The build-id is of this run alone: other servers and caches do not have it.
id=$(head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n')
cc -O1 "-Wl,--build-id=0x$id" -o whole where.c
mkdir served
objcopy --only-keep-debug whole served/whole.debug
strip -o stripped whole
start "$T/stripped"

cat >port.py <<'EOT'
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])
EOT
# fake.py SECONDS FILE: answers with that file, whatever it is asked for, after SECONDS.
cat >fake.py <<'EOT'
import http.server, sys, time
class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("GET", self.client_address[1], flush=True)
        time.sleep(float(sys.argv[1]))
        data = open(sys.argv[2], "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print("ready", server.server_address[1], flush=True)
server.serve_forever()
EOT
# fake LOG SECONDS FILE: sets port.
fake() {
	python3 -S fake.py "${@:2}" >"$1" &
	STARTED+=($!)
	until_true 10 grep -q ready "$1"
	port=$(awk '/ready/ { print $2 }' "$1")
}

port=$(python3 -S port.py)
debuginfod -vv -F -p "$port" -d :memory: "$T/served" >server.log 2>&1 &
STARTED+=($!)
url=http://127.0.0.1:$port
until_true 20 grep -q 'fts traversed' server.log || skip "debuginfod does not start: $(tail -n 1 server.log)"
asked() { grep -c "GET /buildid/$id/debuginfo" server.log; }
# named FILE: the function has its name.
named() { "$PROBEE" report -q "$1" --csv | grep -q 'wanted+'; }

export DEBUGINFOD_URLS=$url
snapshot -p "$PID" -i 1 -o none.pbz
check "not asked for: exit status" equal "$RC" 0
check "not asked for: no server is asked" equal "$(grep -c GET server.log)" 0
check "not asked for: no name" not named none.pbz

# --- the user behind sudo: his cache
mkdir cache && chown 12345:12345 cache
export SUDO_UID=12345 SUDO_GID=12345 DEBUGINFOD_CACHE_PATH=$T/cache
snapshot -p "$PID" -i 1 -o sudo.pbz --debuginfod
check "sudo: exit status" equal "$RC" 0
check "sudo: the name is there" named sudo.pbz
check "sudo: the server was asked" equal "$(asked)" 1
check "sudo: the file is in his cache, and his" equal "$(stat -c %u "cache/$id/debuginfo")" 12345
snapshot -p "$PID" -i 1 -o sudo2.pbz --debuginfod
check "sudo, again: the name is there" named sudo2.pbz
check "sudo, again: from the cache" equal "$(asked)" 1
unset SUDO_UID SUDO_GID DEBUGINFOD_CACHE_PATH DEBUGINFOD_URLS

# --- root alone: nobody asks, and keeps nothing
snapshot -p "$PID" -i 1 -o root.pbz "--debuginfod=$url"
check "root: the name is there" named root.pbz
check "root: the server was asked" equal "$(asked)" 2
kept() { [ "$(find /var/tmp -maxdepth 1 -name 'probee-debuginfod.*' -newer sudo2.pbz)" ]; }
check "root: nothing is kept" until_true 5 not kept

# --- names that are added later: with the binary, and without
"$PROBEE" symbolize none.pbz -o later0.pbz --binary-dir / 2>err
check "symbolize, not asked for: no name" not named later0.pbz
for dirs in "--binary-dir /" ""; do
	"$PROBEE" symbolize none.pbz -o later.pbz "--debuginfod=$url" $dirs 2>err
	check "symbolize $dirs: exit status" equal $? 0
	check "symbolize $dirs: the name is there" named later.pbz
done

# --- a server that gives another file, and none
cc -O1 -Wl,--build-id=0x1234 -o other where.c
fake lies.log 0 "$T/other"
snapshot -p "$PID" -i 1 -o lies.pbz "--debuginfod=http://127.0.0.1:$port"
check "wrong file: it was asked for" grep -q GET lies.log
check "wrong file: no name" not named lies.pbz
"$PROBEE" symbolize none.pbz -o lies2.pbz "--debuginfod=http://127.0.0.1:$port" 2>err
check "wrong file, symbolize: no name" not named lies2.pbz
check "wrong file, symbolize: says so" grep -q 'the file found is another version' err
snapshot -p "$PID" -i 1 -o gone.pbz "--debuginfod=http://127.0.0.1:$(python3 -S port.py)"
check "no server there: exit status" equal "$RC" 0
check "no server there: no name" not named gone.pbz
check "no server there: says so" grep -qE 'debuginfod: ([0-9]+) of \1 debug files did not come: Connection refused' err

# A helper that sleeps for so long would be taken for stuck if it were of another kind.
fake slow.log 2 "$T/served/whole.debug"
snapshot -p "$PID" -i 1 -o slow.pbz "--debuginfod=http://127.0.0.1:$port"
check "slow server: the name is there" named slow.pbz

# --- a server that never answers: who asks, and Ctrl-C
fake hangs.log 60 "$T/other"
"$PROBEE" snapshot -p "$PID" -i 1 -o hangs.pbz "--debuginfod=http://127.0.0.1:$port" 2>err &
recorder=$!
STARTED+=($recorder)
until_true 20 grep -q GET hangs.log
fetcher=$(pgrep -P "$(pgrep -d, -P "$recorder" -x probee-keeper)" -x probee-fetcher)
status() { awk -v f="$2:" '$1 == f { print $3 }' "/proc/$1/status"; }
check "who asks: is not root" equal "$(status "$fetcher" Uid)" 65534
check "who asks: nor is its group" equal "$(status "$fetcher" Gid)" 65534
check "who asks: has no other group" equal "$(awk '/^Groups:/ { print NF }' "/proc/$fetcher/status")" 1
check "who asks: has no capabilities" equal "$(awk '/^Cap(Prm|Eff|Inh|Amb):/ { print $2 }' "/proc/$fetcher/status" | sort -u)" \
	0000000000000000
check "who asks: its keeper is not root either" equal "$(status "$(awk '/^PPid:/ { print $2 }' "/proc/$fetcher/status")" Uid)" 65534
before=$(date +%s%N)
kill -INT "$recorder"
wait "$recorder"
check "server that hangs, Ctrl-C: exit status" equal $? 0
check "server that hangs, Ctrl-C: ends" at_most $((($(date +%s%N) - before) / 1000000)) 4000
check "server that hangs: the process ends" until_true 5 not kill -0 "$fetcher"
check "server that hangs: the trace is whole" grep -q '^ended' <("$PROBEE" info hangs.pbz)
done_testing
