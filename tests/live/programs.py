# SPDX-License-Identifier: GPL-2.0-or-later
"""Well-known programs as the live tests and the benchmark start them: PROGRAMS, family(), kill_family()."""
import os
import pwd
import random
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


def git(tmp, _):
    for name, seed in (('a', 1), ('b', 2)):
        rnd = random.Random(seed)
        with open(f'{tmp}/{name}', 'w') as f:
            f.writelines(f'{rnd.randrange(40000)}\n' for _ in range(200000))
    return ['git', 'diff', '--no-index', '--minimal', '--stat', tmp + '/a', tmp + '/b']


def make(tmp, _):
    with open(tmp + '/Makefile', 'w') as f:
        f.write('d := 0 1 2 3 4 5 6 7 8 9\n'
                'n := $(foreach a,$d,$(foreach b,$d,$(foreach c,$d,$(foreach e,$d,$(foreach f,$d,$(foreach g,$d,'
                '$(filter $a%,$b$c$e$f$g)))))))\nall: ; :\n')
    return ['make', '-f', tmp + '/Makefile']


def compiler(tmp, _):
    with open(tmp + '/big.c', 'w') as f:
        for i in range(6000):
            f.write(f'int f{i}(int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += s % (i + {i + 1}); return s; }}\n')
    return ['sh', '-c', f'while :; do gcc -O2 -c {tmp}/big.c -o {tmp}/big.o; done']


def chromium(tmp, _):
    with open(tmp + '/page.html', 'w') as f:
        f.write('<canvas></canvas><script>setInterval(() => { document.body.append("x".repeat(60)); }, 5)</script>')
    return ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
            '--remote-debugging-port=0', '--user-data-dir=' + tmp + '/profile', 'file://' + tmp + '/page.html']


def workload(*argv):
    def argv_of(_, workloads):
        path = workloads + '/' + argv[0]
        return [path, *argv[1:]] if os.path.exists(path) else None
    return argv_of


def command(*argv):
    """{tmp} in an argument is the temporary directory."""
    return lambda tmp, _: [a.replace('{tmp}', tmp) for a in argv]


def shell(text):
    return command('sh', '-c', text)


FIB = 'def f(n)\n n < 2 ? n : f(n - 1) + f(n - 2)\nend\nThread.new { sleep }\nloop { f(20) }'
SQL = ('with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000) '
       'select count(*) from n where cast(i as text) like \'%7%3%\';')

PROGRAMS = {
    # name: (needs, argv maker (temporary directory, workloads; None: not there), seconds until it does what it does)
    'redis-server': ('redis-server', redis, 1),
    'python3': ('/usr/bin/python3', lambda tmp, _: ['/usr/bin/python3', '-c', PYTHON], 1),
    'postgres': (POSTGRES + '/postgres', postgres, 3),
    'node': ('node', lambda tmp, _: ['node', '-e', NODE], 2),
    'java': ('javac', java, 3),
    'bash': ('bash', command('bash', '-c', 'while :; do case $((n++)) in *x) ;; esac; done'), 0.5),
    'perl': ('perl', command('perl', '-e', PERL), 0.5),
    'ruby': ('ruby', command('ruby', '-e', FIB), 1),
    'xz': ('xz', shell('exec xz -9e </dev/urandom >/dev/null'), 0.5),
    'zstd': ('zstd', shell('exec zstd -q -19 -T2 </dev/urandom >/dev/null'), 0.5),
    'gzip': ('gzip', shell('exec gzip -9 </dev/urandom >/dev/null'), 0.3),
    'bzip2': ('bzip2', shell('exec bzip2 -9 </dev/urandom >/dev/null'), 0.3),
    'sqlite3': ('sqlite3', command('sqlite3', ':memory:', SQL), 0.5),
    'openssl': ('openssl', command('openssl', 'speed', '-seconds', '100', 'rsa4096'), 0.5),
    'openssl aes': ('openssl', command('openssl', 'speed', '-seconds', '100', '-evp', 'aes-256-gcm'), 0.5),
    'openssl sha': ('openssl', shell('exec openssl dgst -sha512 </dev/zero'), 0.5),
    's_server': ('openssl', shell('openssl req -x509 -newkey rsa:2048 -nodes -keyout {tmp}/k -out {tmp}/c -subj /CN=x; '
                                  'exec openssl s_server -key {tmp}/k -cert {tmp}/c -unix {tmp}/tls'), 2),
    'ssh-agent': ('ssh-agent', command('ssh-agent', '-D', '-a', '{tmp}/agent'), 0.3),
    'ssh-keygen': ('ssh-keygen', shell('exec ssh-keygen -q -t rsa -b 16384 -N "" -f {tmp}/key'), 0.3),
    'git': ('git', git, 1),
    'curl': ('curl', command('curl', '-s', '-o', '/dev/null', 'file:///dev/zero'), 0.3),
    'tmux': ('tmux', command('tmux', '-D', '-f', '/dev/null', '-S', '{tmp}/tmux'), 0.5),
    'vim': ('vim', command('vim', '-u', 'NONE', '-es', '-c', 'while 1 | let x = join(range(9)) =~ "8 7" | endwhile'), 0.5),
    'gawk': ('gawk', command('gawk', 'BEGIN { while (1) { n = sprintf("%d", ++i); if (n ~ /7+3/) a[n % 99] = n } }'), 0.3),
    'mawk': ('mawk', command('mawk', 'BEGIN { while (1) { n = sprintf("%d", ++i); if (n ~ /7+3/) a[n % 99] = n } }'), 0.3),
    'sed': ('sed', shell('yes "an apple a day keeps the doctor away" | sed -E "s/(a[a-z]+) (.*)/\\2 \\1/g" >/dev/null'), 0.3),
    'grep': ('grep', shell('yes "an apple a day keeps the doctor away" | grep -E "(a.*e){4}x" >/dev/null'), 0.3),
    'sort': ('sort', shell('seq 1 30000000 | sort -R >/dev/null'), 0.5),
    'make': ('make', make, 0.5),
    'gcc': ('gcc', compiler, 1),
    'tar': ('tar', shell('while :; do tar cf - /usr/lib /usr/share | cat >/dev/null; done'), 0.5),
    'jq': ('jq', command('jq', '-n', 'last(range(1e12) | select(tostring | test("7{5}")))'), 0.5),
    'tclsh': ('tclsh', shell('echo "proc f n { if {\\$n < 2} {return \\$n}; expr {[f [expr {\\$n - 1}]] +'
                             ' [f [expr {\\$n - 2}]]} }; while 1 {f 18}" >{tmp}/t; exec tclsh {tmp}/t'), 0.5),
    'gpg': ('gpg', shell('exec gpg --homedir {tmp} --gen-random 1 1000000000 >/dev/null'), 0.5),
    'gdb': ('gdb', command('gdb', '-nx', '-batch', '-ex', 'python exec("while True: gdb.parse_and_eval(\'1 + 2 * 3\')")'), 2),
    'systemd-analyze': ('systemd-analyze', shell('while :; do systemd-analyze calendar --iterations=100000 minutely; done'), 0.5),
    'dbus-daemon': ('dbus-daemon', command('dbus-daemon', '--session', '--nofork', '--address=unix:path={tmp}/bus'), 0.5),
    'busybox': ('busybox', shell('exec busybox awk "BEGIN { while (1) a[++i % 99] = i }"'), 0.3),
    'chromium': ('chromium', chromium, 6),
    'shop (C++)': (None, workload('shop'), 0.2),
    'throws (C++)': (None, workload('throws'), 0.2),
    'crate_rs (Rust)': ('rustc', workload('crate_rs'), 0.2),
    'goblin (Go)': ('go', workload('goblin'), 0.3),
    'herd (Go)': ('go', workload('herd'), 0.5),
    'herdc (Go and C)': ('go', workload('herdc'), 0.5),
    'chain30': (None, workload('chain30'), 0.2),
    'chain30_static': (None, workload('chain30_static'), 0.2),
    'chain30_static_pie': (None, workload('chain30_static_pie'), 0.2),
    'chain30_nopie': (None, workload('chain30_nopie'), 0.2),
    'chain30_O3': (None, workload('chain30_O3'), 0.2),
    'chain30_musl': ('musl-gcc', workload('chain30_musl'), 0.2),
    'deep': (None, workload('deep', '500', 'sleep'), 0.2),
    'drap': (None, workload('drap'), 0.2),
    'sigalt': (None, workload('sigalt'), 0.2),
    'coroutine': (None, workload('coroutine'), 0.2),
    'firstbyte cfi': (None, workload('firstbyte', 'cfi'), 0.2),
    'firstbyte noreturn': (None, workload('firstbyte', 'noreturn'), 0.2),
    'vforked': (None, workload('vforked'), 0.2),
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
