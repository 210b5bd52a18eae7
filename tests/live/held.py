# SPDX-License-Identifier: GPL-2.0-or-later
"""What the processes of a recording hold, from /proc.

held.py mask bpf,perfmon          these capabilities as a hexadecimal number
held.py begun PID                 succeeds once the recording has begun: the first thread shed its rights, readers run
held.py judge PID TABLE HELD      each thread of each process holds exactly what TABLE (of `probee doctor --rights`) gives
                                  its role, as far as it is in HELD (hexadecimal)
"""
import os
import re
import sys

NUMBERS = {'sys_ptrace': 19, 'sys_admin': 21, 'dac_read_search': 2, 'sys_nice': 23, 'net_admin': 12, 'syslog': 34,
           'perfmon': 38, 'bpf': 39, 'checkpoint_restore': 40, 'chown': 0, 'dac_override': 1, 'fowner': 3, 'setpcap': 8,
           'kill': 5, 'setuid': 7, 'setgid': 6}
IN_PLACE_OF = {'sys_admin': ('bpf', 'perfmon', 'checkpoint_restore')}
ROLES = {'probee-reader': ['reader'], 'probee-memory': ['memory'], 'probee-keeper': ['opener'], 'probee-forker': ['reader', 'memory'], 'probee-opener': ['opener'],
         'probee-parser': [], 'probee-names': [], 'probee-lines': [], 'probee-outputs': ['outputs'], 'probee-jvms': ['java'], 'probee-java': ['java']}


def command_line(pid):
    with open(f'/proc/{pid}/cmdline') as f:
        return f.read().split('\0')


def status(path):
    with open(path) as f:
        return dict(line.rstrip('\n').split(':\t', 1) for line in f if ':\t' in line)


def family(pid):
    """The process and all that it started, as far as they are probee's. The command after -- is not."""
    parents = {}
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            s = status(f'/proc/{name}/status')
        except OSError:
            continue
        parents[int(name)] = (int(s['PPid']), s['Name'])
    found = [pid]
    for p in found:
        found += [c for c, (parent, name) in parents.items() if parent == p and name.startswith('probee')]
    return found


def threads(pid):
    try:
        return [status(f'/proc/{pid}/task/{t}/status') for t in os.listdir(f'/proc/{pid}/task')]
    except OSError:
        return []


def bit(name):
    return 1 << NUMBERS[name]


def wanted(table, roles, held):
    own, rest = 0, []
    with open(table) as f:
        for line in f:
            name, of, _ = line.split('\t')
            name = name.removeprefix('cap_')
            if not set(roles) & set(of.split(',')):
                continue
            if name in IN_PLACE_OF:
                rest.append(name)
            else:
                own |= bit(name)
    for name in rest:
        if any(own & bit(o) & ~held for o in IN_PLACE_OF[name]):
            own |= bit(name)
    return own & held


def has_begun(pid):
    main = status(f'/proc/{pid}/status')
    command = command_line(pid)
    scans = 'snapshot' in command or 'record' in command
    readers = [p for p in family(pid) if status(f'/proc/{p}/status')['Name'] == 'probee-reader']
    return main['Name'] == 'probee' and main['NoNewPrivs'] == '1' and bool(readers) == scans


def judge(pid, table, held):
    bad, nr = [], 0
    has_command = '--' in command_line(pid)
    for p in family(pid):
        for s in threads(p):
            nr += 1
            roles = ROLES.get(s['Name'], ['main'])
            # Only the first thread ends the command.
            if has_command and int(s['Pid']) == pid:
                roles = ['main', 'command']
            want = wanted(table, roles, held)
            for key, value in (('CapPrm', want), ('CapEff', want), ('CapInh', 0), ('CapAmb', 0), ('NoNewPrivs', 1)):
                if int(s[key], 16) != value:
                    bad.append(f'{s["Name"]} {s["Pid"]} {key} {s[key]}, not {value:x}')
            # Only who may change the bounding set can empty it.
            if held & bit('setpcap') and int(s['CapBnd'], 16):
                bad.append(f'{s["Name"]} {s["Pid"]} CapBnd {s["CapBnd"]}')
    if bad or nr < 4:
        sys.exit('; '.join(bad[:6]) or f'{nr} threads')
    print(f'{nr} threads')


what, *args = sys.argv[1:]
if what == 'mask':
    print(f'{sum(bit(n) for n in args[0].split(",")):x}')
elif what == 'begun':
    sys.exit(not has_begun(int(args[0])))
else:
    judge(int(args[0]), args[1], int(args[2], 16))
