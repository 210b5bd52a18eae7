#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/output src/commands
# beside: live
# timeout: 120
# Root writes traces and reports where another user has put something into the way: links, FIFOs, files. Nothing outside is
# touched, nothing is given away, and what stood under a name is lost only if it was an earlier trace of a generation ago.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

MALLORY=54321
mallory() { setpriv --reuid=$MALLORY --regid=$MALLORY --clear-groups "$@"; }
mallory true 2>/dev/null || skip "cannot become another user"
unset SUDO_UID SUDO_GID

start chain30
target=$PID
mkdir private
echo "root's own" >secret
chmod 600 secret
install -d -m 777 -o $MALLORY shared	# not sticky: the setting fs.protected_symlinks makes no difference here
cd shared || exit 1

record() { run_limited snapshot -p "$target" -i 1 "$@"; }
clear() { rm -rf -- "$T"/shared/* "$T"/shared/.[!.]*; }
nothing_else() { equal "$(ls -A "$T/shared" | sort | tr '\n' ' ')" "$1"; }
unharmed() { equal "$(cat "$T/secret")" "root's own" && equal "$(stat -c '%u %a %h' "$T/secret")" "0 600 ${1:-1}" &&
	equal "$(ls -A "$T/private")" ""; }
said_why() {
	check "$1: exit status" equal "$RC" 1
	check "$1: one line with a remedy" bash -c "[ \$(wc -l <'$T/err') = 1 ] && grep -q 'Try:' '$T/err'"
}
refused() {
	said_why "$1"
	check "$1: root's files" unharmed "${2:-}"
}

record -o "$T/plain.pbz"
check "a trace to report" equal "$RC" 0

# --- links, also those that lead nowhere and those above the file
for to in "$T/secret" "$T/private/created"; do
	mallory ln -s "$to" t.pbz
	mallory ln -s "$to" x.out
	record -o t.pbz
	refused "-o, a link to $to"
	for option in svg csv; do
		record -o own.pbz --$option=x.out
		refused "snapshot --$option, a link to $to"
	done
	for option in svg text csv json collapse waits; do
		run_limited report "$T/plain.pbz" --$option=x.out
		refused "report --$option, a link to $to"
	done
	run_limited report "$T/plain.pbz" --force --svg=x.out
	refused "report --force, a link to $to"
	check "links: nothing is left" nothing_else "t.pbz x.out "
	clear
done
mallory ln -s "$T/private" dir
for name in dir/t.pbz dir/../secret; do
	record -o $name
	refused "a directory that is a link: $name"
	run_limited report "$T/plain.pbz" --svg=$name
	refused "report, a directory that is a link: $name"
done
check "and says so" grep -q 'link of another user' "$T/err"
clear
ln -s "$T/shared" "$T/own"
record -o "$T/own/t.pbz"
check "a directory that is a link of one's own" equal "$RC" 0
clear

# --- files and FIFOs of others
mallory touch t.pbz x.svg
chmod 666 t.pbz x.svg
record -o t.pbz
refused "a file of another user"
record -o own.pbz --svg=x.svg
refused "a picture of another user"
cp "$T/plain.pbz" t.pbz
record -o t.pbz
refused "a trace of another user"
check "a trace of another user: stays" cmp "$T/plain.pbz" t.pbz
check "files: nothing is left" nothing_else "t.pbz x.svg "
clear
ln "$T/secret" x.svg
record -o own.pbz --svg=x.svg --force
refused "a hard link" 2
clear
for who in "" mallory; do
	$who mkfifo pipe.pbz pipe.csv
	TIME_LIMIT=15 record -o pipe.pbz
	refused "a FIFO that nobody reads ($who)"
	TIME_LIMIT=15 record -o own.pbz --csv=pipe.csv
	refused "a live FIFO that nobody reads ($who)"
	clear
done
mallory mkfifo pipe.pbz
mallory cat pipe.pbz >"$T/heard" &
reader=$!
record -o pipe.pbz
refused "a FIFO that another user reads"
: >pipe.pbz
wait $reader
check "and hears nothing" equal "$(wc -c <"$T/heard")" 0
clear
mkfifo pipe.pbz
cat pipe.pbz >"$T/heard" &
reader=$!
record -o pipe.pbz
check "one's own FIFO" equal "$RC" 0
wait $reader
check "one's own FIFO: its trace" bash -c "'$PROBEE' info '$T/heard' | grep -q '^rows\|snapshots'"
clear
mknod disk b 250 250
mknod watchdog c 10 130
for bad in "$T" disk watchdog; do
	record -o "$bad"
	refused "-o $bad"
	run_limited report "$T/plain.pbz" --svg="$bad"
	refused "report --svg=$bad"
done
clear

# --- who may read what comes out
modes() { stat -c '%n %a %u:%g' -- *; }
record -o t.pbz --svg=x.svg --csv=x.csv --text=x.txt
check "outputs of a recording" equal "$(modes)" "t.pbz 600 0:0
x.csv 600 0:0
x.svg 600 0:0
x.txt 600 0:0"
exec 9<t.pbz
SUDO_UID=12345 SUDO_GID=12346 record -o t.pbz --svg=x.svg --csv=x.csv
check "under sudo" equal "$(modes)" "t.pbz 600 12345:12346
t.pbz.old 600 0:0
x.csv 600 12345:12346
x.svg 600 12345:12346
x.txt 600 0:0"
check "what existed is not given away" equal "$(stat -L -c '%u %i' /dev/fd/9)" "0 $(stat -c %i t.pbz.old)"
exec 9<&-
clear
umask 022
run_limited report "$T/plain.pbz" --svg=x.svg
check "a report" equal "$(modes)" "x.svg 644 0:0"
chmod 640 x.svg
run_limited report "$T/plain.pbz" --svg=x.svg
check "a report again" equal "$(modes)" "x.svg 640 0:0"
clear

# --- what is replaced
record -o t.pbz
sum() { sha256sum <"$1"; }
first=$(sum t.pbz)
for cmd in /nonexistent no-such-command /etc/passwd "$T" ''; do
	run_limited sample -o t.pbz -- "$cmd"
	check "-- '$cmd': exit status" equal "$RC" 1
	check "-- '$cmd': one line" one_line "$T/err"
	check "-- '$cmd': the earlier trace" equal "$(sum t.pbz)" "$first"
done
printf '#!/nonexistent/interpreter\n' >script
chmod +x script
run_limited sample -o t.pbz -- ./script
check "no interpreter: exit status" equal "$RC" 1
check "no interpreter: the earlier trace" equal "$(sum t.pbz)" "$first"
run_limited sample -p 4999999 -d 1 -o t.pbz
check "no target: the earlier trace" equal "$(sum t.pbz)" "$first"
check "and no old one" nothing_else "script t.pbz "
record -o t.pbz
check "the earlier trace is kept" equal "$(sum t.pbz.old)" "$first"
second=$(sum t.pbz)
record -o t.pbz
check "for one generation" equal "$(sum t.pbz.old)" "$second"
cp /bin/true prog
for bad in prog script "$T/secret"; do
	record -o "$bad"
	refused "-o $bad"
	check "-o $bad: says --force" grep -q -e --force "$T/err"
done
check "prog is whole" cmp prog /bin/true
record -o own.pbz --svg=t.pbz
refused "a picture over a trace"
run_limited report "$T/plain.pbz" --svg=prog
refused "a report over a program"
record -o prog --force
check "--force: exit status" equal "$RC" 0
check "--force: is a trace" bash -c "'$PROBEE' info prog >info.txt"
record -o own.pbz --svg=own.pbz
refused "one name twice"
clear

# --- rights that the program's file lends to a user
PATH=$PATH:/usr/sbin:/sbin
install -m 755 "$PROBEE" "$T/lent"
if setcap cap_dac_override,cap_fowner,cap_chown=ep "$T/lent" 2>/dev/null; then
	chmod 755 "$T/private"
	install -m 644 "$T/plain.pbz" t.pbz
	mallory "$T/lent" report t.pbz --svg="$T/private/x.svg" 2>"$T/err"
	check "setcap: nothing where the user may not write" equal $? 1
	check "setcap: says why" grep -q 'Permission denied' "$T/err"
	check "setcap: root's files" unharmed
fi
clear

# --- a full disk
mkdir mnt
mount -t tmpfs -o size=1m probee-live mnt || skip "cannot mount a tmpfs"
record -o mnt/t.pbz --svg=mnt/x.svg
picture=$(sum mnt/x.svg)
head -c $(((1024 - 52) * 1024)) /dev/zero >mnt/filler
record -o mnt/t.pbz --svg=mnt/x.svg
check "no room for a picture: exit status" equal "$RC" 1
check "no room for a picture: the earlier one" equal "$(sum mnt/x.svg)" "$picture"
check "no room for a picture: the trace" bash -c "'$PROBEE' info mnt/t.pbz >info.txt"
check "no room for a picture: nothing is left" equal "$(ls -A mnt | tr '\n' ' ')" "filler t.pbz t.pbz.old x.svg "
rm -f mnt/t.pbz.old
cat /dev/zero >mnt/filler 2>/dev/null
run_limited report "$T/plain.pbz" --svg=mnt/x.svg --json=mnt/y.json
check "full disk: exit status" equal "$RC" 1
check "full disk: the earlier picture" equal "$(sum mnt/x.svg)" "$picture"
record -o mnt/t.pbz --svg=mnt/x.svg
check "full disk: a recording fails" equal "$RC" 1
check "full disk: the earlier picture still" equal "$(sum mnt/x.svg)" "$picture"
check "full disk: nothing is left" equal "$(ls -A mnt | tr '\n' ' ')" "filler t.pbz x.svg "
check "full disk: the earlier trace" bash -c "'$PROBEE' info mnt/t.pbz >info.txt"
umount mnt
clear

# --- killed, alone and with its process group
temps() { ls -A | grep -c '^\.'; }
chmod 755 .
for who in "" -; do
	setsid "$PROBEE" sample -q -p "$target" -F 99 -o t.pbz --svg=x.svg --text=x.txt &
	recorder=$!
	STARTED+=($recorder)
	check "the trace is there while it records" until_true 20 test -s t.pbz
	check "and temporary files of the reports" equal "$(temps)" 2
	guard=$(pgrep -P "$recorder" probee-outputs)
	check "the guard's rights" equal "$(awk '/^CapEff/ { print $2 }' "/proc/$guard/status")" 000000000000000b
	check "the guard gets no new ones" grep -q 'NoNewPrivs:.1' "/proc/$guard/status"
	kill -KILL -- $who$recorder
	wait $recorder 2>/dev/null
	check "kill -9 $who: the guard ends" until_true 10 not test -d "/proc/$guard"
	check "kill -9 $who: only the trace is left" nothing_else "t.pbz "
	"$PROBEE" info t.pbz >info.txt 2>&1
	check "kill -9 $who: it can be read" at_most $? 3
	clear
done

chmod 777 .
"$PROBEE" sample -q -p "$target" -F 99 -o "$T/private/t.pbz" --svg="$T/private/x.svg" &
recorder=$!
STARTED+=($recorder)
check "where root may write: records" until_true 20 test -s "$T/private/t.pbz"
check "where root may write: the guard's rights, and no more" equal \
	"$(awk '/^CapPrm/ { print $2 }' "/proc/$(pgrep -P $recorder probee-outputs)/status")" 000000000000000b
kill -INT $recorder
wait $recorder
check "where root may write: exit status" equal $? 0
check "where root may write: both are there" equal "$(ls -A "$T/private" | tr '\n' ' ')" "t.pbz x.svg "

# --- places that are no files
record -o - >out.pbz
check "-o -" cmp <("$PROBEE" report -q --csv - <out.pbz | wc -l) <(echo 1)
for place in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	record -o $place >out2.pbz
	check "-o $place" bash -c "'$PROBEE' info out2.pbz >info.txt"
done
record -o >(cat >sub.pbz)
check "-o >(...)" until_true 10 bash -c "'$PROBEE' info sub.pbz >info.txt"
record -o /dev/null
check "-o /dev/null" equal "$RC" 0
record -o /dev/null --text=/dev/stdout >out.txt
check "-o /dev/null --text=/dev/stdout" grep -q '^samples\|^title' out.txt
record -o /dev/fd/1 --text=x.txt >out3.pbz
check "a trace that cannot be read again: refused" equal "$RC" 2
clear
run_limited report "$T/plain.pbz" --csv=/dev/stdout >out.csv
check "report --csv=/dev/stdout" equal "$(head -c 10 out.csv)" "timestamp|"
run_limited report "$T/plain.pbz" --csv=/dev/null --json=/dev/null
check "report to /dev/null twice" equal "$RC" 0

# --- what chattr(1) keeps as it is: that is said before anything is recorded, and nothing is left there
cd "$T" && mkdir kept && mv plain.pbz kept/t.pbz
if chattr +i kept/t.pbz 2>/dev/null; then
	record -o kept/t.pbz
	chattr -i kept/t.pbz
	said_why "an immutable file"
	check "an immutable file: says what it is" grep -q 'is immutable or append-only' "$T/err"
	rm kept/t.pbz
	chattr +a kept
	record -o kept/t.pbz
	chattr -a kept
	said_why "an append-only directory"
	check "an append-only directory: says what it is" grep -q 'in a directory that is immutable' "$T/err"
	check "an append-only directory: nothing is left" equal "$(ls -A kept)" ""
else
	skip_part "no chattr here"
fi
done_testing
