# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# probee dump of DUMP_PROCESSES processes of all runtimes that are here, in turn, with some 300 threads; beside eu-stack, process by process. Every
# thread that /proc has before and after must be there: the row "dump: threads missing" is 0.

DUMP_PROCESSES=${DUMP_PROCESSES:-60}

cat >threads.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_it(void *p) { pthread_mutex_lock(&m); return p; }
int main(void) { pthread_t t; pthread_mutex_lock(&m); for (int i = 0; i < 3; i++) pthread_create(&t, NULL, wait_for_it, NULL); for (;;) pause(); }
END
gcc -O1 -g -pthread -o threads threads.c || cannot "no C compiler"
cat >threads.py <<'END'
import threading
lock = threading.Lock()
lock.acquire()
def want(): lock.acquire()
for _ in range(3): threading.Thread(target=want, daemon=True).start()
threading.Event().wait()
END
cat >Sleepers.java <<'END'
public class Sleepers {
	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 3; i++) new Thread(() -> { try { Thread.sleep(1000000); } catch (InterruptedException e) { } }).start();
	}
}
END
cat >threads.go <<'END'
package main
import "time"
func main() { for i := 0; i < 4; i++ { go func() { for { time.Sleep(time.Millisecond) } }() }; select {} }
END
commands=("$T/threads" "python3 $T/threads.py")
have java && have javac && javac -d . Sleepers.java && commands+=("java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp $T Sleepers")
have node && commands+=("node -e setInterval(()=>{},1000)")
have go && HOME=$T GOFLAGS=-mod=mod go build -o gothreads threads.go 2>/dev/null && commands+=("$T/gothreads")
have ruby && commands+=("ruby -e 3.times{Thread.new{sleep}};sleep")
have perl && commands+=("perl -e sleep(1000000)")
pids=()
for ((i = 0; i < DUMP_PROCESSES; i++)); do
	# Words have no blanks in them.
	${commands[i % ${#commands[@]}]} >/dev/null 2>&1 &
	pids+=($!)
	STARTED+=($!)
done
threads() { for p in "${pids[@]}"; do ls "/proc/$p/task"; done 2>/dev/null | sort; }
before=
until now=$(threads | wc -l) && [ "$now" = "$before" ]; do before=$now; sleep 2; done
list=$(IFS=,; echo "${pids[*]}")
say "${#commands[@]} runtimes, ${#pids[@]} processes, $before threads"

seconds() { local s=$EPOCHREALTIME; "$@" >dump.out 2>dump.err; calc "$EPOCHREALTIME - $s"; }
stacks() { for p in "${pids[@]}"; do eu-stack -p "$p"; done; }
for _ in $(seq "$ROUNDS"); do
	have eu-stack && record "dump: s" eu-stack "$(seconds stacks)"
	threads >there
	record "dump: s" probee "$(seconds "$PROBEE" dump -p "$list")"
	threads | comm -12 there - >stayed
	"$PROBEE" dump -p "$list" --json 2>/dev/null | grep -o '"tid":[0-9]*' | cut -d: -f2 | sort -u >dumped
	record "dump: threads" probee "$(wc -l <stayed)"
	record "dump: threads missing" probee "$(comm -23 stayed dumped | wc -l)"
done
for p in "${pids[@]}"; do finish "$p"; done
