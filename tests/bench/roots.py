"""roots.py PROBEE WORKLOADS: share of whole stacks of well-known programs, sampled and walked, in each mode."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../live')
from programs import PROGRAMS, POSTGRES, family, kill_family  # noqa: E402

PROBEE, WORKLOADS = sys.argv[1:]
MODES = ('auto', 'dwarf', 'fp')


def load(name, tmp):
    """Something that makes a server work, or None."""
    if name == 'redis-server':
        return ['redis-benchmark', '-s', tmp + '/redis.sock', '-q', '-n', '100000000', '-t', 'set,get,lpush']
    if name == 'postgres':
        query = "select count(*) from generate_series(1, 1000000000) g where md5(g::text) like 'a%'"
        return ['setpriv', '--reuid=postgres', '--clear-groups', POSTGRES + '/psql', '-h', tmp + '/data', '-c',
                query, 'postgres']
    return None


def recorded(words, trace):
    """(samples with a user stack, share of whole ones) of one run."""
    r = subprocess.run([PROBEE, *words, '-o', trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    m = re.search(r'([\d.]+) % of user stacks whole', r.stderr)
    out = subprocess.run([PROBEE, 'info', trace], stdout=subprocess.PIPE, text=True).stdout
    n = re.search(r'of ([\d,. ]+) user stacks', out)
    if r.returncode or not m or not n:
        return 0, float('nan'), (r.stderr.strip().splitlines() or ['?'])[-1]
    return int(re.sub(r'\D', '', n.group(1))), float(m.group(1)), ''


def measure(name, tmp, child):
    pids = ','.join(map(str, family(child.pid)))
    for kind, words in (('sample', ['sample', '-F', '499', '-d', '3']),
                        ('snapshot', ['snapshot', '-F', '20', '-i', '20'])):
        cells, why = [], ''
        for mode in MODES:
            count, share, text = recorded(words + ['--unwind', mode, '-p', pids], tmp + '/roots.pbz')
            cells.append(f'{share:7.1f} % of {count:6}')
            why = why or text
        print(f'{name:16} {kind:9}', *cells, why)


def main():
    print(f'{"":26}', *(f'{m:>18}' for m in MODES))
    for name in ('python3', 'bash', 'redis-server', 'postgres', 'java', 'node', 'perl', 'xz'):
        needs, make, warm_s = PROGRAMS[name]
        if not shutil.which(needs):
            print(f'{name:16} is not installed')
            continue
        tmp = tempfile.mkdtemp(prefix='probee-roots.', dir='/tmp')
        os.chmod(tmp, 0o755)
        quiet = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
        children = [subprocess.Popen(make(tmp, WORKLOADS), cwd='/', **quiet)]
        try:
            time.sleep(warm_s)
            words = load(name, tmp)
            if words and shutil.which(words[0]):
                children.append(subprocess.Popen(words, cwd='/', **quiet))
                time.sleep(1)
            measure(name, tmp, children[0])
        finally:
            for child in children:
                kill_family(child)
            shutil.rmtree(tmp, ignore_errors=True)


main()
