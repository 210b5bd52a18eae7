# SPDX-License-Identifier: GPL-2.0-or-later
"""agent_notify.py SOCKET FILE: listens as systemd does, and writes each message as a line, "; " between its lines, to FILE."""
import os
import socket
import sys


def main():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(sys.argv[1])
    print('ready', os.getpid(), flush=True)
    with open(sys.argv[2], 'w') as out:
        while True:
            print(s.recv(65536).decode().replace('\n', '; '), file=out, flush=True)


main()
