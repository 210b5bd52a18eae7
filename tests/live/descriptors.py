#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
descriptors.py target DIR: a thread for each kind of descriptor, and for calls without one; prints "ready PID".
descriptors.py check CSV PID xstack|rfc4180: each row of PID in CSV says what /proc/PID says of its thread.
"""
import csv
import ctypes
import fcntl
import os
import re
import select
import socket
import sys
import threading
import time

LONG = 200                              # of the parts of a path near the limit
HOSTILE = b'\n"q\t|,;=1\x1b[31m\xff\xe2\x80\xae<b>'


def thread(name, run):
    def body():
        ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
        run()
    threading.Thread(target=body, daemon=True).start()


def listener(family, address):
    s = socket.socket(family)
    s.bind(address)
    s.listen()
    return s


def long_file(where):
    """A file whose path has 4095 octets, hostile ones among them."""
    path = where
    while len(path) + 1 + LONG < 4000:
        path += b'/' + b'd' * LONG
    os.makedirs(path)
    path += b'/' + HOSTILE
    return path + b'f' * (4095 - len(path))


def target(where):
    where = where.encode()
    keep = []
    tcp = listener(socket.AF_INET, ('127.0.0.1', 0))
    client = socket.create_connection(tcp.getsockname())
    server, _ = tcp.accept()
    if os.fork() == 0:                  # holds the other end, and ends with us
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
        client.close()
        time.sleep(1000)
    server.close()
    r, w = os.pipe()
    thread('pipe', lambda: os.read(r, 77))
    full, fill = os.pipe()
    os.set_blocking(fill, False)
    while True:
        try:
            os.write(fill, b'x' * 65536)
        except BlockingIOError:
            break
    os.set_blocking(fill, True)
    thread('write', lambda: os.write(fill, b'x' * 4096))
    os.mkfifo(where + b'/fifo' + HOSTILE)
    fifo = os.open(where + b'/fifo' + HOSTILE, os.O_RDWR)
    thread('fifo', lambda: os.read(fifo, 1))
    thread('tcp', lambda: client.recv(99))
    thread('listen', tcp.accept)
    tcp6 = listener(socket.AF_INET6, ('::1', 0))
    thread('listen6', tcp6.accept)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(('127.0.0.1', 0))
    thread('udp', lambda: udp.recv(5))
    # A name that looks like a line of /proc/net/unix of another socket.
    os.chdir(where)
    name = b'u\n0: 00000002 0 10000 1 1 7 |"f,'
    uni = listener(socket.AF_UNIX, name)
    one = socket.socket(socket.AF_UNIX)
    one.connect(name)
    two, _ = uni.accept()
    thread('unix', lambda: two.recv(1))
    thread('unixpeer', lambda: one.recv(1))
    thread('unixlisten', uni.accept)
    abstract = listener(socket.AF_UNIX, b'\0a\0b' + str(os.getpid()).encode())
    thread('abstract', abstract.accept)
    event = os.eventfd(0)
    thread('event', lambda: os.read(event, 8))
    lone = select.epoll()
    lone.register(r)
    thread('epoll1', lone.poll)
    several = select.epoll()
    several.register(r)
    several.register(event)
    thread('epoll2', several.poll)
    poll = select.poll()
    poll.register(r, select.POLLIN)
    thread('poll', poll.poll)
    lock = os.open(where + b'/lock' + HOSTILE, os.O_CREAT | os.O_RDWR)
    other = os.open(where + b'/lock' + HOSTILE, os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    thread('lock', lambda: fcntl.flock(lock, fcntl.LOCK_EX))
    deep = long_file(where)
    os.chdir(os.path.dirname(deep)[:3000].rsplit(b'/', 1)[0])
    far = os.open(os.path.relpath(deep, os.getcwdb()), os.O_CREAT | os.O_RDWR)
    far2 = os.open(os.path.relpath(deep, os.getcwdb()), os.O_RDWR)
    fcntl.flock(far2, fcntl.LOCK_EX)
    thread('deep', lambda: fcntl.flock(far, fcntl.LOCK_EX))
    thread('sleep', lambda: time.sleep(1000))
    keep.append(threading.Lock())
    keep[0].acquire()
    thread('futex', keep[0].acquire)
    time.sleep(0.5)
    print('ready', os.getpid(), flush=True)
    time.sleep(1000)


def unescape(text):
    """Octets for what the CSV shows of them."""
    return re.sub(rb'\\x([0-9a-f]{2})', lambda m: bytes([int(m[1], 16)]), text.encode())


def ends(address, port):
    if len(address) == 8:
        return socket.inet_ntop(socket.AF_INET, bytes.fromhex(address)[::-1]), int(port, 16)
    words = [bytes.fromhex(address[i:i + 8])[::-1] for i in range(0, 32, 8)]
    return f'[{socket.inet_ntop(socket.AF_INET6, b"".join(words))}]', int(port, 16)


def connections(pid):
    """Text by inode, from /proc/net: what a socket of the internet families should be called."""
    states = {1: ' ESTABLISHED', 10: ' LISTEN'}
    out = {}
    for name in ('tcp', 'tcp6', 'udp', 'udp6'):
        for line in open(f'/proc/{pid}/net/{name}').readlines()[1:]:
            f = line.split()
            own, other = ends(*f[1].split(':')), ends(*f[2].split(':'))
            text = f'{name[:3]} {own[0]}:{own[1]}' + (f' -> {other[0]}:{other[1]}' if other[1] else '')
            out[f[9]] = text + (states.get(int(f[3], 16), ' ?') if name[:3] == 'tcp' else '')
    return out


# Of the threads whose descriptor is not the first argument, or is not what is shown.
SPECIAL = {'epoll1': 'pipe', 'poll': 'pipe'}
UNIX = {'unix': ('unix ', ' ESTABLISHED'), 'unixpeer': ('unix -> ', ' ESTABLISHED'), 'unixlisten': ('unix ', ' LISTEN'),
        'abstract': ('unix @a@b', ' LISTEN')}


def check_row(row, pid, sockets, dialect):
    task = f'/proc/{pid}/task/{row["tid"]}'
    name, want = row['comm'], open(task + '/syscall').read().split()
    bad = []
    got = [row['syscall_nr']] + [row[f'sysc_arg{i}'] for i in range(1, 7)]
    if got != want[:7]:
        bad.append(f'{got}, not {want[:7]}')
    if name in ('sleep', 'futex', 'python3'):
        link = b''
    elif name in SPECIAL:
        link = pipe_of(pid)
    else:
        link = os.readlink(f'{task}/fd/{int(want[1], 16)}'.encode())
    if link.startswith(b'socket:'):
        text = sockets.get(link[8:-1].decode())
        cell = row['connection']
        if text is None and name in UNIX:
            if not cell.startswith(UNIX[name][0]) or not cell.endswith(UNIX[name][1]):
                bad.append(f'connection {cell}')
            if name != 'abstract' and 'u\\x0a0: 00000002 0 10000 1 1 7 ' not in cell:
                bad.append(f'connection {cell} without its path')
        elif cell != text:
            bad.append(f'connection {cell}, not {text}')
        if row['filename']:
            bad.append(f'a socket with file {row["filename"]}')
    else:
        # This dialect has no quotes, so what separates cells and frames is replaced.
        link = link.replace(b'|', b'!').replace(b';', b':') if dialect == 'xstack' else link
        if unescape(row['filename']) != link:
            bad.append(f'file {row["filename"]!r}, not {link!r}')
        if row['connection']:
            bad.append(f'no socket, but {row["connection"]}')
    return [f'{name}: {b}' for b in bad]


def pipe_of(pid):
    for t in os.listdir(f'/proc/{pid}/task'):
        if open(f'/proc/{pid}/task/{t}/comm').read() == 'pipe\n':
            nr = open(f'/proc/{pid}/task/{t}/syscall').read().split()
            return os.readlink(f'/proc/{pid}/fd/{int(nr[1], 16)}'.encode())
    return None


def check(path, pid, dialect):
    raw = open(path, 'rb').read()
    text = raw.decode()                 # fails unless it is UTF-8
    bad = []
    if any(c < ' ' and c not in '\r\n' for c in text) or '\u202e' in text:
        bad.append('control characters')
    delimiter, quoting = (',', csv.QUOTE_MINIMAL) if dialect == 'rfc4180' else ('|', csv.QUOTE_NONE)
    lines = text.split('\r\n' if dialect == 'rfc4180' else '\n')
    rows = [r for r in csv.DictReader(lines, delimiter=delimiter, quoting=quoting, strict=True) if r['tgid'] == pid]
    sockets = connections(pid)
    names = {r['comm'] for r in rows}
    for r in rows:
        if None in r or None in r.values():
            bad.append(f'a row has another number of cells: {r}')
        bad += check_row(r, pid, sockets, dialect)
    want = {open(f'/proc/{pid}/task/{t}/comm').read().rstrip('\n') for t in os.listdir(f'/proc/{pid}/task')}
    if names != want or len(names) < 19:
        bad.append(f'threads {names ^ want} differ')
    for line in bad:
        print(line)
    return not bad


if __name__ == '__main__':
    if sys.argv[1] == 'target':
        target(sys.argv[2])
    sys.exit(not check(*sys.argv[2:]))
