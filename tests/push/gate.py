# SPDX-License-Identifier: GPL-2.0-or-later
"""
A gate before a receiver: lets some requests pass, then holds the next one, so that a test can do something to the receiver in the
middle of a push, however fast that is.

    gate.py DIRECTORY PORT REQUESTS

It listens on 127.0.0.1, prints its port, and hands on to PORT what comes, and back. After REQUESTS answers it makes DIRECTORY/held
and waits for DIRECTORY/go; from then on all passes. It ends when its standard input is closed.
"""
import os
import socket
import sys
import threading
import time

directory, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
answers = 0
lock = threading.Lock()


def hold():
    with lock:
        if answers < requests or os.path.exists(directory + '/go'):
            return
    open(directory + '/held', 'w', encoding='ascii').close()
    while not os.path.exists(directory + '/go'):
        time.sleep(0.02)


def copy(source, target, is_answer):
    global answers
    try:
        while data := source.recv(65536):
            if is_answer:
                with lock:
                    answers += data.startswith(b'HTTP/')
            else:
                hold()
            target.sendall(data)
    except OSError:
        pass
    # One end is closed, so the other one is: a receiver that has gone is seen at once.
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    try:
        receiver = socket.create_connection(('127.0.0.1', port))
    except OSError:
        client.close()
        return
    threading.Thread(target=copy, args=(receiver, client, True), daemon=True).start()
    copy(client, receiver, False)


def accept(listener):
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


gate = socket.create_server(('127.0.0.1', 0))
print(gate.getsockname()[1], flush=True)
threading.Thread(target=accept, args=(gate,), daemon=True).start()
sys.stdin.read()
