# SPDX-License-Identifier: GPL-2.0-or-later
"""unknown_python.py FILE COPY: the copy of an interpreter says that it is Python 3.99, which is not known: so its stacks are those
of the same code, native frames only."""
import re
import subprocess
import sys

elf, copy = sys.argv[1:]
symbols = subprocess.check_output(["readelf", "-W", "--dyn-syms", elf], text=True)
vaddr = int(re.search(r"^ *\d+: ([0-9a-f]+) .* Py_Version$", symbols, re.M).group(1), 16)
segments = subprocess.check_output(["readelf", "-lW", elf], text=True)
for offset, start, size in re.findall(r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+)", segments):
    if int(start, 16) <= vaddr < int(start, 16) + int(size, 16):
        at = vaddr - int(start, 16) + int(offset, 16)
with open(elf, "rb") as f:
    data = bytearray(f.read())
if data[at + 3] != 3:
    sys.exit("no version at %#x" % at)
data[at:at + 4] = (0x03630000).to_bytes(4, "little")
with open(copy, "wb") as f:
    f.write(data)
