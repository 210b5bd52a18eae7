#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""many_copies.py DIR N [same] LIBRARY...: N copies in DIR, of one library after the other, and prints their names.
Each gets a build-id of its own (the libraries have 20 octets 0xa5 for it); with "same" they keep it."""
import hashlib
import os
import sys

folder, n, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
same = names[0] == 'same'
images = [open(name, 'rb').read() for name in names[same:]]
mark = b'\xa5' * 20
os.makedirs(folder, exist_ok=True)
for image in images:
    assert image.count(mark) == 1
for i in range(n):
    path = f'{folder}/lib{i:04}.so'
    image = images[i % len(images)]
    with open(path, 'wb') as out:
        out.write(image if same else image.replace(mark, hashlib.sha1(str(i).encode()).digest()))
    print(path)
