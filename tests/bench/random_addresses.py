# SPDX-License-Identifier: GPL-2.0-or-later
"""random_addresses.py FILE NUMBER: as many distinct addresses of the text sections, ascending, the same ones each time."""
import random
import re
import subprocess
import sys

out = subprocess.run(['readelf', '-SW', sys.argv[1]], stdout=subprocess.PIPE, check=True).stdout.decode()
sections = [(int(a, 16), int(n, 16)) for a, n in re.findall(r'\] \.text\S*\s+(?:PROGBITS|NOBITS)\s+(\w+) \w+ (\w+)', out)]
rng = random.Random(1)
picked = set()
while len(picked) < min(int(sys.argv[2]), sum(n for _, n in sections)):
    at, size = rng.choices(sections, [n for _, n in sections])[0]
    picked.add(at + rng.randrange(size))
print(*(f'{a:#x}' for a in sorted(picked)), sep='\n')
