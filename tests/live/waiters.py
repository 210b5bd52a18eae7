# SPDX-License-Identifier: GPL-2.0-or-later
"""Children that each wait in another system call. Prints "ready PID KINDS"."""
import ctypes, fcntl, os, select, signal, socket, tempfile, threading, time

libc = ctypes.CDLL(None, use_errno=True)
KINDS = []


def kind(f):
    KINDS.append(f)
    return f


@kind
def pipe_read(): os.read(os.pipe()[0], 1)

@kind
def pipe_write():
    w = os.pipe()[1]
    os.write(w, b"x" * (1 << 22))

@kind
def unix_recv(): socket.socketpair()[0].recv(1)

@kind
def tcp_accept():
    s = socket.socket()
    s.listen(1)
    s.accept()

@kind
def tcp_recv():
    s = socket.socket()
    s.listen(1)
    c = socket.create_connection(s.getsockname())
    c.recv(1)

@kind
def udp_recv():
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.recv(1)

@kind
def poll_one():
    p = select.poll()
    p.register(os.pipe()[0], select.POLLIN)
    p.poll()

@kind
def select_many(): select.select([os.pipe()[0] for _ in range(5)], [], [])

@kind
def epoll():
    e = select.epoll()
    e.register(os.pipe()[0], select.EPOLLIN)
    e.poll()

@kind
def sleep(): time.sleep(1000)

@kind
def pause(): signal.pause()

@kind
def sigwait(): signal.sigwait([signal.SIGUSR1])

@kind
def wait_child():
    if not os.fork():
        libc.prctl(1, signal.SIGKILL)
        signal.pause()
    os.wait()

@kind
def flock():
    f = tempfile.TemporaryFile()
    fcntl.flock(f, fcntl.LOCK_EX)
    fcntl.flock(open(f"/proc/self/fd/{f.fileno()}", "rb"), fcntl.LOCK_EX)

@kind
def futex():
    word = ctypes.c_int(0)
    libc.syscall(202 if os.uname().machine == "x86_64" else 98, ctypes.byref(word), 0, 0, None, None, 0)

@kind
def lock():
    l = threading.Lock()
    l.acquire()
    l.acquire()

@kind
def join(): (lambda t: (t.start(), t.join()))(threading.Thread(target=signal.pause, daemon=True))

@kind
def eventfd():
    os.read(libc.eventfd(0, 0), 8)

@kind
def stopped(): os.kill(os.getpid(), signal.SIGSTOP)


def main():
    parent = os.getpid()
    for f in KINDS:
        if os.fork():
            continue
        libc.prctl(1, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        f()
        os._exit(0)
    time.sleep(1)
    print("ready", parent, len(KINDS), flush=True)
    time.sleep(1000)


main()
