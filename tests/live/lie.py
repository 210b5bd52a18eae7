# SPDX-License-Identifier: GPL-2.0-or-later
"""lie.py PROBEE TRACE OUT: the trace with an additional META record that turns the share of /proc/stat round."""
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'spec'))
import forge
import pbz

probee, path, out = sys.argv[1:]
info = subprocess.run([probee, 'info', path], stdout=subprocess.PIPE, check=True).stdout.decode()
busy = re.search(r'cpu\.busy = (samples=\S+) stat=(\S+) (.*)', info)
text = f'{busy[1]} stat={(float(busy[2]) + 0.5) % 1:.3f} {busy[3]}'
with open(path, 'rb') as f:
    data = f.read()
seg = pbz.read_file(path).segments[0]
# A chunk with the META behind all others. The END before it stays.
uuid = data[23:39]
data += forge.chunk(forge.rec(forge.META, forge.octets(b'cpu.busy'), forge.octets(text.encode())), seq=max(seg.seqs) + 1,
                    uuid=uuid)
with open(out, 'wb') as f:
    f.write(data)
print(text)
