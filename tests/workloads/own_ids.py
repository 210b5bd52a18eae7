# SPDX-License-Identifier: GPL-2.0-or-later
"""own_ids.py FILE DIR NUMBER: NUMBER copies of a program, DIR/0 to DIR/NUMBER-1, each with a build-id of its own."""
import os
import re
import subprocess
import sys

source, folder, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
notes = subprocess.run(['readelf', '-n', source], capture_output=True, text=True, check=True).stdout
build_id = bytes.fromhex(re.search(r'Build ID: (\w+)', notes)[1])
with open(source, 'rb') as f:
    image = f.read()
at = image.index(build_id)
os.makedirs(folder, exist_ok=True)
for i in range(number):
    path = f'{folder}/{i}'
    with open(path, 'wb') as f:
        f.write(image[:at] + i.to_bytes(4, 'little') + image[at + 4:])
    os.chmod(path, 0o755)
