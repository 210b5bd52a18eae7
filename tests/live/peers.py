# SPDX-License-Identifier: GPL-2.0-or-later
"""peers.py WHAT ARGS...: assertions about probee report --waits-json; prints the figure, exit 1 when it is not so.

  edge JSON TID KIND PID       the thread waits for this kind of thing, held by this process only, and is followed there
  holders JSON TID N           so many hold the other end, and nobody is followed
  nobody JSON TID              nobody is named at all
  comms JSON COMM OTHER [TID]  a thread of that name (and number) is followed to one called OTHER
  proc JSON READY              descriptor and inode of each thread of READY are those of /proc/PID/fd
  rings JSON READY             the rings of READY are there, and none is certain
  change                       no assertion: two processes hold the end of a pipe, at SIGUSR1 one lets go of it
"""
import json
import os
import signal
import sys


def fail(text):
    print(text)
    sys.exit(1)


def load(path):
    with open(path) as f:
        data = json.load(f)
    return data, {t['tid']: t for t in data['threads']}


def edge(path, tid, kind, pid):
    row = load(path)[1].get(int(tid)) or fail(f'{tid} has no row')
    if (row.get('wait'), row.get('owner_pid'), row.get('waits_for')) != (kind, int(pid), int(pid)):
        fail(f'{row}')


def holders(path, tid, n):
    row = load(path)[1][int(tid)]
    if row.get('holders') != int(n) or 'owner_pid' in row or 'waits_for' in row:
        fail(f'{row}')


def nobody(path, tid):
    row = load(path)[1][int(tid)]
    if 'holders' in row or 'owner_pid' in row or 'waits_for' in row:
        fail(f'{row}')


def comms(path, comm, other, tid=None):
    threads = load(path)[1]
    seen = [t for t in threads.values() if t.get('comm') == comm and (tid is None or t['tid'] == int(tid))]
    for t in seen:
        if threads.get(t.get('waits_for'), {}).get('comm') == other and t['waits_for'] != t['tid']:
            print(f"{t['tid']} -> {t['waits_for']}")
            return
    fail(f'{seen}')


def proc(path, ready):
    threads, same = load(path)[1], 0
    for tid in {int(word.split('=')[1]) for word in ready.split()}:
        row = threads.get(tid, {})
        if row.get('wait') in ('pipe', 'unix', 'tcp') and not row['syscall'].startswith('epoll'):
            link = os.readlink(f"/proc/{tid}/fd/{row['fd']}")
            if link.split('[')[1] != f"{row['inode']}]":
                fail(f'{link}, {row}')
            same += 1
    print(f'{same} descriptors')
    if same < 10:
        sys.exit(1)


def rings(path, ready):
    data, said = load(path)[0], dict(word.split('=') for word in ready.split())
    found = {frozenset(r['tids']): r for r in data['rings']}
    for names in (('ringa', 'ringb'), ('sub', 'subchild'), ('self',)):
        ring = found.get(frozenset(int(said[n]) for n in names)) or fail(f'{names}: {list(found)}')
        if ring['certain'] or not ring['stood_still']:
            fail(f'{ring}')


def hold(may_go):
    signal.signal(signal.SIGUSR1, lambda *_: os._exit(0) if may_go else None)
    while True:
        signal.pause()


def fork():
    """Ends by itself, should the test have ended before it."""
    pid = os.fork()
    if not pid:
        signal.alarm(60)
    return pid


def change():
    r, w = os.pipe()
    waiter = fork()
    if not waiter:
        os.close(w)
        os.read(r, 1)
        os._exit(0)
    os.close(r)
    first = fork()
    if not first:
        hold(True)
    second = fork()
    if not second:
        hold(False)
    os.close(w)
    signal.alarm(60)
    print('ready', first, waiter, flush=True)
    os.waitpid(first, 0)
    # Threads that begin to wait make probee look again.
    for _ in range(150):
        a, b = os.pipe()
        pid = fork()
        if not pid:
            os.close(b)
            os.read(a, 1)
            os._exit(0)
        os.close(a)
        signal.sigtimedwait([signal.SIGUSR2], 0.1)
        os.close(b)
        os.waitpid(pid, 0)
    for pid in (waiter, second):
        os.kill(pid, signal.SIGKILL)


def main():
    {f.__name__: f for f in (edge, holders, nobody, comms, proc, rings, change)}[sys.argv[1]](*sys.argv[2:])


main()
