#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/output formats/trace src/recording
# core: yes
# beside: live
# Places that a trace may go to and come from: a full disk, a closed pipe, standard output and input.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

start chain30
target=$PID
mkdir mnt
mount -t tmpfs -o size=1m probee-live mnt || skip "cannot mount a tmpfs"

readable() { "$PROBEE" report "$1" --collapse >"$2" 2>>report.err; }

# A file system of a megabyte with 12 KiB left.
head -c $(((1024 - 12) * 1024)) /dev/zero >mnt/filler
sample -p "$target" -F 999 -d 20 -o mnt/full.pbz
check "full disk: exit status" not equal "$RC" 0
check "full disk: did not hang" not equal "$RC" 124
check "full disk: says so" grep -qi "no space" "$T/err"
check "full disk: what was recorded is there" readable mnt/full.pbz full.folded
check "full disk: samples" at_least "$(stacks total full.folded)" 100
rm -f mnt/filler mnt/full.pbz

sample -p "$target" -F 99 -d 1 -o /dev/full
check "/dev/full: exit status" not equal "$RC" 0
sample -p "$target" -F 99 -d 1 -o mnt/no/such/dir.pbz
check "no directory: exit status" equal "$RC" 1
check "no directory: one line" one_line "$T/err"

# Other limits and errors of writing: the size of a file, a quota, a disk that fails.
# ends_with WHAT WORDS: the recording fails with these words, and what was written until then can be read.
ends_with() {
	check "$1: exit status" equal "$RC" 1
	check "$1: says so" grep -q "$3" "$T/err"
	check "$1: what was recorded is there" readable "$2" limited.folded
}
timeout 20 prlimit --fsize=6000 "$PROBEE" sample -p "$target" -F 999 -d 15 -o limited.pbz 2>"$T/err"
RC=$?
ends_with "file size limit" limited.pbz "a file may have .*ulimit -f"
mkdir quota
if mount -t tmpfs -o size=1m,usrquota,usrquota_block_hardlimit=16384 probee-live quota 2>/dev/null; then
	chmod 777 quota
	caps=-all,+bpf,+perfmon
	cp "$PROBEE" probee
	timeout 20 setpriv --reuid=65531 --regid=65531 --clear-groups --inh-caps=$caps --ambient-caps=$caps \
		./probee sample -p "$target" -F 999 -d 15 -o quota/limited.pbz 2>"$T/err"
	RC=$?
	ends_with "quota" quota/limited.pbz "Disk quota exceeded"
else
	skip_part "this kernel has no quota for tmpfs"
fi
umount quota 2>/dev/null
if command -v strace >/dev/null; then
	timeout 20 strace -f -qq --seccomp-bpf -o /dev/null -e trace=write,writev,pwrite64 -P "$T/broken.pbz" -e inject=write,writev,pwrite64:error=EIO:when=3+ \
		"$PROBEE" sample -p "$target" -F 999 -d 15 -o "$T/broken.pbz" 2>"$T/err"
	RC=$?
	ends_with "a disk that fails" broken.pbz "Input/output error"
else
	skip_part "strace is not installed"
fi

# A trace on standard output into a pipe, and a file read by all of its names.
timeout 20 "$PROBEE" sample -p "$target" -F 499 -d 1 -o - 2>"$T/err" | cat >piped.pbz
check "-o -: exit status" equal "${PIPESTATUS[0]}" 0
for how in piped.pbz - /dev/stdin /proc/self/fd/0; do
	check "report $how" readable "$how" piped.folded <piped.pbz
	check "report $how: samples" at_least "$(stacks total piped.folded)" 50
done
cat piped.pbz | "$PROBEE" report - --collapse >piped2.folded 2>>report.err
check "report of a pipe is the report of the file" cmp piped.folded piped2.folded
check "report through sample's pipe" bash -c \
	"'$PROBEE' sample -p $target -F 499 -d 1 -o - 2>/dev/null | '$PROBEE' report - --collapse | grep -q 'f29;f30'"
cat piped.pbz piped.pbz >twice.pbz
readable twice.pbz twice.folded
check "cat a a: twice the samples" equal "$(stacks total twice.folded)" $((2 * $(stacks total piped.folded)))
check "the trace is a .zst file" zstd -tq piped.pbz

# The reader goes away.
"$PROBEE" sample -p "$target" -F 999 -o - 2>pipe.err | head -c 20000 >/dev/null
check "closed pipe ends the recording" at_most "$(wc -l <pipe.err)" 1
check "closed pipe: says that the reader has gone" grep -q 'standard output, whose reader has gone' pipe.err
"$PROBEE" report -q piped.pbz --csv 2>pipe.err | head -1 >/dev/null
check "report | head is quiet" at_most "$(wc -c <pipe.err)" 0
"$PROBEE" report piped.pbz --collapse >/dev/full 2>pipe.err
check "report >/dev/full fails" not equal $? 0
: >"$T/err"
check "report of no trace fails" not "$PROBEE" report /etc/passwd --collapse
check "report of a directory fails" not "$PROBEE" report /tmp --collapse
check "report of nothing fails" not "$PROBEE" report ./nothing.pbz --collapse
done_testing
