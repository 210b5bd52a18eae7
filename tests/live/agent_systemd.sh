#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/agent src/commands/cmd_agent.c tools/probee-agent.service
# core: yes
# beside: live
# timeout: 120
# tools/probee-agent.service under a real systemd, which is process 1 of a PID namespace, with this machine's files beneath an overlay:
# the service becomes ready, records, comes back after kill -9, reads its configuration again and ends in good order.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

systemd=
for i in /lib/systemd/systemd /usr/lib/systemd/systemd; do [ ! -x $i ] || systemd=$i; done
[ "$systemd" ] && command -v systemctl >/dev/null || skip "systemd is not installed"
R=$T/m/root
mkdir "$T/m" && mount -t tmpfs tmpfs "$T/m" && mkdir "$T"/m/{up,work,root} &&
	mount -t overlay overlay -o "lowerdir=/,upperdir=$T/m/up,workdir=$T/m/work" "$R" || skip "no overlay can be mounted here"

# in_namespace: makes the root of that small machine and starts its process 1 there. It has a cgroup tree of its own.
cat >inside.sh <<END
set -eu
mount -t proc proc $R/proc
mount --rbind /sys $R/sys
mount --rbind /dev $R/dev
umount -l $R/sys/fs/cgroup 2>/dev/null || :
mount -t cgroup2 cgroup2 $R/sys/fs/cgroup
mount -t tmpfs tmpfs $R/run
mount -t tmpfs tmpfs $R/tmp
touch $T/mounted
exec chroot $R env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=other SYSTEMD_LOG_TARGET=console \\
	$systemd --system --unit=mini.target --show-status=no
END
install -D -m 755 "$PROBEE" "$R/usr/local/bin/probee"
mkdir -p "$R/etc/probee" "$R/etc/systemd/system"
printf '%s\n' '[record]' 'window = 2s' '[spool]' 'folder = /var/lib/probee/spool' >"$R/etc/probee/agent.conf"
cp "$ROOT/tools/probee-agent.service" "$R/etc/systemd/system/"
# What an earlier start left would have to be moved, which an overlay cannot do.
rm -rf "$R"/var/cache/probee "$R"/var/lib/probee "$R"/var/lib/private/probee "$R"/etc/machine-id
echo 0123456789abcdef0123456789abcdef >"$R/etc/machine-id"
printf '%s\n' '[Unit]' 'DefaultDependencies=no' 'Wants=probee-agent.service systemd-journald.service' >"$R/etc/systemd/system/mini.target"

unshare -p -f -m -C -i --kill-child=KILL bash inside.sh >boot 2>&1 &
outer=$!
STARTED+=($outer)
until_true 20 test -e mounted || skip "no such machine can be made here: $(tail -n 1 boot)"
until_true 20 pgrep -P $outer || skip "no such machine can be made here: $(tail -n 1 boot)"
init=$(pgrep -P $outer | head -n 1)

# inside COMMAND...: in that machine.
inside() { timeout 40 nsenter -t "$init" -p -m -C -i -r -w "$@"; }
property() { inside systemctl show -P "$1" probee-agent.service 2>/dev/null; }
is() { [ "$(property "$1")" = "$2" ]; }
spool() { inside sh -c "ls /var/lib/probee/spool" 2>/dev/null | grep -c "$1"; }
windows() { [ "$(spool '\.pbz$')" -ge "$1" ]; }
state_of() { printf '%s\n' "$(inside systemctl status --no-pager -l probee-agent.service 2>&1 | tail -n 20)"; }

until_true 20 inside systemctl is-active probee-agent.service
case $(property Result) in
resources | exit-code) is ExecMainStatus 77 && skip "the agent cannot record there: $(state_of | tail -n 1)" ;;
esac
check "the service becomes ready" until_true 20 is ActiveState active
check "it says what it does" until_true 20 is StatusText recording
check "it keeps windows" until_true 30 windows 2
main=$(property MainPID)
check "as a user of its own" equal "$(inside stat -c %U "/proc/$main")" probee-agent
inside systemctl kill -s KILL --kill-whom=main probee-agent.service
check "it comes back after kill -9" until_true 30 is NRestarts 1
check "and is ready again" until_true 30 is ActiveState active
check "with what it had recorded" until_true 20 windows 2
check "it reads its configuration again" inside systemctl reload probee-agent.service
check "and says so" until_true 10 inside sh -c 'journalctl -u probee-agent --no-pager | grep -q "configuration was read again"'
check "it ends" inside systemctl stop probee-agent.service
check "in good order" is Result success
check "no window is open" equal "$(spool '\.open$')" 0
inside sh -c 'journalctl -u probee-agent --no-pager -o cat' >journal
check "it says nothing else" not grep -vE '^probee: (recording; windows|the configuration was read again|snapshots do not have)|systemd\[|^(Start|Stopp|Reload|Scheduled|probee-agent.service:)' journal
cat journal | sed 's/^/# /'
kill -KILL "$init"
wait $outer 2>/dev/null
umount -R -l "$T/m"
done_testing
