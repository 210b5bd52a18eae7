"""Well-known programs as the live tests and the benchmark start them: PROGRAMS, family(), kill_family()."""
import os
import pwd
import signal
import subprocess

POSTGRES = '/usr/lib/postgresql/15/bin'

PYTHON = '''
import threading, time, socket, select
def nap(n): time.sleep(1000) if n == 0 else nap(n - 1)
def spin(n):
    while True: sorted(range(1000), key=lambda x: -x)
a, b = socket.socketpair()
for i in range(6): threading.Thread(target=nap, args=(i * 3,), daemon=True).start()
threading.Thread(target=a.recv, args=(1,), daemon=True).start()
threading.Thread(target=select.select, args=([a], [], []), daemon=True).start()
spin(0)
'''
JAVA = '''public class Nap {
    static int busy(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) new Thread(() -> {
            try { Thread.sleep(1000000); } catch (InterruptedException e) { }
        }).start();
        for (int n = 0; ; n++) if (busy(1000) == n) System.out.println(n);
    }
}
'''
PERL = 'sub f { my $n = shift; return $n < 2 ? $n : f($n - 1) + f($n - 2) } while (1) { f(22) }'
NODE = 'require("fs").readFile("/dev/zero", () => 0); setInterval(() => Math.sqrt(2), 5)'


def redis(tmp, _):
    return ['redis-server', '--port', '0', '--unixsocket', tmp + '/redis.sock', '--dir', tmp, '--save', '']


def java(tmp, _):
    with open(tmp + '/Nap.java', 'w') as f:
        f.write(JAVA)
    subprocess.run(['javac', '-d', tmp, tmp + '/Nap.java'], check=True)
    return ['java', '-Xmx64m', '-cp', tmp, 'Nap']


def postgres(tmp, _):
    data = tmp + '/data'
    user = pwd.getpwnam('postgres')
    os.mkdir(data, 0o700)
    os.chown(data, user.pw_uid, user.pw_gid)
    as_user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
    subprocess.run(as_user + [POSTGRES + '/initdb', '-D', data, '-N'], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, cwd='/')
    return as_user + [POSTGRES + '/postgres', '-D', data, '-c', 'listen_addresses=', '-k', data]


def workload(*argv):
    return lambda _, workloads: [workloads + '/' + argv[0], *argv[1:]]


PROGRAMS = {
    # name: (needs, argv maker (temporary directory, workloads), seconds until it does what it does)
    'redis-server': ('redis-server', redis, 1),
    'python3': ('/usr/bin/python3', lambda tmp, _: ['/usr/bin/python3', '-c', PYTHON], 1),
    'postgres': (POSTGRES + '/postgres', postgres, 3),
    'node': ('node', lambda tmp, _: ['node', '-e', NODE], 2),
    'java': ('javac', java, 3),
    'bash': ('bash', lambda tmp, _: ['bash', '-c', 'while :; do case $((n++)) in *x) ;; esac; done'], 0.5),
    'perl': ('perl', lambda tmp, _: ['perl', '-e', PERL], 0.5),
    'xz': ('xz', lambda tmp, _: ['sh', '-c', 'exec xz -9e </dev/urandom >/dev/null'], 0.5),
    'shop (C++)': (None, workload('shop'), 0.2),
    'crate_rs (Rust)': ('rustc', workload('crate_rs'), 0.2),
    'goblin (Go)': ('go', workload('goblin'), 0.3),
    'herd (Go)': ('go', workload('herd'), 0.5),
    'herdc (Go and C)': ('go', workload('herdc'), 0.5),
    'chain30': (None, workload('chain30'), 0.2),
    'chain30_static': (None, workload('chain30_static'), 0.2),
    'chain30_nopie': (None, workload('chain30_nopie'), 0.2),
    'deep': (None, workload('deep', '500', 'sleep'), 0.2),
    'drap': (None, workload('drap'), 0.2),
    'sigalt': (None, workload('sigalt'), 0.2),
    'threads': (None, workload('threads', '20', 'sleep'), 0.2),
    'twochains': (None, workload('twochains', '3000', '2', '3'), 0.2),
}


def family(pid):
    """The process and all below it."""
    out = [pid]
    for p in out:
        try:
            for tid in os.listdir(f'/proc/{p}/task'):
                with open(f'/proc/{p}/task/{tid}/children') as f:
                    out += [int(c) for c in f.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return out


def kill_family(child):
    for pid in reversed(family(child.pid)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    child.wait()
