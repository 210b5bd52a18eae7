# SPDX-License-Identifier: GPL-2.0-or-later
"""segments.py FILE PREFIX: writes each segment of a trace as a file of its own, PREFIX1.pbz, ...; prints how many."""
import sys

IDENT = b'\x50\x2a\x4d\x18\x23\0\0\0PROBEE-PBZ\0'


def main():
    with open(sys.argv[1], 'rb') as f:
        data = f.read()
    begins = []
    at = data.find(IDENT)
    while at >= 0:
        begins.append(at)
        at = data.find(IDENT, at + 1)
    for i, begin in enumerate(begins):
        end = begins[i + 1] if i + 1 < len(begins) else len(data)
        with open(f'{sys.argv[2]}{i + 1}.pbz', 'wb') as f:
            f.write(data[begin:end])
    print(len(begins))


main()
