#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/waits/stuck.c src/capture/waits/stuck_files.c src/proc/path_mount.c src/proc/mounts.c bpf/wait.bpf.h src/profile/answer_stuck.c
# Threads that are stuck in the kernel, with what they hang on. A file system of this test alone is frozen, so whoever wants to write to it is in
# state D, as ps says, until it is thawed; findmnt says what is mounted where.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"
for tool in mkfs.ext4 fsfreeze findmnt losetup; do command -v "$tool" >/dev/null || skip "$tool is missing"; done

truncate -s 32M image && mkfs.ext4 -q -F image || exit 1
mkdir -p mnt "a dir"
mount -o loop image mnt 2>err || skip "no loop device: $(cat err)"
mkdir mnt/deep mnt/other && echo 1 >mnt/deep/file
mkdir mnt/long; long=mnt/long/$(printf 'x%.0s' {1..120})
ln -s "$PWD/mnt/deep" "a dir/link"
device=$(findmnt -no SOURCE mnt)
mkfifo fifo

# However this test ends, somebody thaws the file system: what hangs there cannot be killed.
setsid sh -c 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; fsfreeze -u mnt' thaw "$$" >/dev/null 2>&1 &
fsfreeze -f mnt || exit 1
thaw() { fsfreeze -u mnt; }
trap 'thaw; cleanup' EXIT
hang() { background "$@"; hung+=("$PID"); }
hang touch "$PWD/mnt/absolute"; absolute=$PID
hang sh -c 'cd mnt/deep && exec mkdir ./relative'; relative=$PID
hang touch "a dir/link/linked"; linked=$PID
hang python3 -c 'import os; os.open("made", os.O_WRONLY | os.O_CREAT, dir_fd=os.open("mnt/deep", os.O_RDONLY))'; from_dir=$PID
hang rm mnt/deep/file; removed=$PID
hang touch "$long"; cut=$PID
hang rmdir mnt/other; rmdir=$PID
background cat fifo; fifo=$PID
background sleep 300; nap=$PID
in_state() { [ "$(sed -E 's/.*\) (.).*/\1/' "/proc/$2/stat")" = "$1" ]; }
for pid in "${hung[@]}"; do until_true 20 in_state D "$pid" || echo "# $pid is not in state D"; done
until_true 20 in_state S "$fifo"
all=$(IFS=,; echo "${hung[*]},$fifo,$nap")

# What is called stuck has hung for a second: snapshots come until the last one has.
is_there() { snapshot -p "$all" -i 1 -o t.pbz; [ "$("$PROBEE" report -q t.pbz --waits-json 2>/dev/null | grep -o '"stuck":true' | wc -l)" -ge ${#hung[@]} ]; }
check "all of them are called stuck" until_true 30 is_there
"$PROBEE" report -q t.pbz --waits >waits 2>/dev/null
"$PROBEE" report -q t.pbz >first 2>/dev/null
"$PROBEE" dump "$all" >dump 2>/dev/null || true
sed "s/^/# /" waits | head -12
# place WHAT PID CALL PATH
place() {
	local where="(ext4, $device at $PWD/mnt)"
	check "$1: waits" grep -qF " $2: " waits
	check "$1: path and mount" grep -qE " $2: [0-9.]+ s in $3 of $(printf '%s' "$4 $where" | sed 's/[].[()*^$\\]/\\&/g'), .*, since [0-9:]{8}$" waits
	check "$1: dump" grep -qE " $2: stuck in the kernel for [0-9.]+ s in $3 of $(printf '%s' "$4 $where" | sed 's/[].[()*^$\\]/\\&/g')" dump
}
place "an absolute path" "$absolute" openat "$PWD/mnt/absolute"
place "a relative path" "$relative" mkdir "$PWD/mnt/deep/relative"
place "through a symbolic link" "$linked" openat "$PWD/a dir/link/linked"
place "from a directory" "$from_dir" openat "$PWD/mnt/deep/made"
place "unlink" "$removed" unlinkat "$PWD/mnt/deep/file"
place "rmdir" "$rmdir" rmdir "$PWD/mnt/other"
check "a long path is cut, and its mount known" grep -qE " $cut: [0-9.]+ s in openat of $PWD/mnt/long/x+\.\.\. \(ext4, $device at" waits
check "they come first" bash -c "sed -n 3p waits | grep -q '^STUCK IN THE KERNEL: ${#hung[@]} threads'"
check "who waits for a FIFO or sleeps is not stuck" bash -c "! sed -n '/^STUCK/,/^\$/p' waits | grep -qE ' ($fifo|$nap):'"
check "the report says so first" grep -qE '^finding +stuck in the kernel: .*' first
check "and how many more" bash -c "tr '\n' ' ' <first | tr -s ' ' | grep -q '; $((${#hung[@]} - 1)) more threads. Try: --waits'"
check "rows have path and mount" bash -c "'$PROBEE' report -q t.pbz --csv --columns tid,filename,mount 2>/dev/null | grep -qxF '$absolute|$PWD/mnt/absolute|ext4 $device $PWD/mnt'"

# A process in another mount namespace, in which the file system is elsewhere.
background unshare -m --propagation private bash -c 'mkdir -p there && mount --bind mnt there && exec touch there/inside'; inside=$PID
until_true 20 in_state D "$inside"
is_there() { snapshot -p "$inside" -i 1 -o t.pbz; "$PROBEE" report -q t.pbz --waits 2>/dev/null | grep -q "^  touch $inside: "; }
check "another mount namespace" until_true 30 is_there
"$PROBEE" report -q t.pbz --waits 2>/dev/null | sed 's/^/# /' | head -4
check "has its own places" bash -c "'$PROBEE' report -q t.pbz --waits 2>/dev/null | grep -q 'of $PWD/there/inside (ext4, $device at $PWD/there)'"

# A server of FUSE that does not answer: who reads there sleeps until it is killed, and is stuck all the same. The server itself waits for work.
if [ -e /dev/fuse ]; then
	mkdir -p hung
	start "$WORKLOADS/hungfs" "$PWD/hung"; server=$PID
	background cat hung/prog; reads=$PID
	until_true 20 in_state S "$reads"
	until_true 20 grep -qE 'fuse|request_wait' "/proc/$reads/stack"
	is_there() { snapshot -p "$reads,$server" -i 1 -o t.pbz; "$PROBEE" report -q t.pbz --waits 2>/dev/null >waits; grep -q "^  cat $reads: " waits; }
	check "FUSE: a reader is stuck" until_true 30 is_there
	sed 's/^/# /' waits | head -5
	check "FUSE: in its file, on its mount" grep -qE "^  cat $reads: [0-9.]+ s in read of $PWD/hung/prog \\(fuse.hungfs, hungfs at $PWD/hung\\), " waits
	check "FUSE: its server is not" not grep -q "^  hungfs $server: " waits
	finish "$server"
fi

thaw
trap cleanup EXIT
for pid in "${hung[@]}" "$inside"; do until_true 20 bash -c "! kill -0 $pid 2>/dev/null || grep -q '^State:.*Z' /proc/$pid/status"; done
umount mnt
done_testing
