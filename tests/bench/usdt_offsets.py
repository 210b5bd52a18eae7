#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""usdt_offsets.py FILE: OFFSET:SEMAPHORE of each USDT probe of a file, as offsets in it, by readelf."""
import re, subprocess, sys


def readelf(option):
    return subprocess.run(["readelf", "-W", option, sys.argv[1]], capture_output=True, text=True, check=True).stdout


loads = [tuple(int(w, 16) for w in m) for m in re.findall(r"^  LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", readelf("-l"), re.M)]


def offset(vaddr):
    return next((at + vaddr - start for at, start, size in loads if start <= vaddr < start + size), 0)


for place, semaphore in re.findall(r"Location: 0x(\w+), Base: 0x\w+, Semaphore: 0x(\w+)", readelf("-n")):
    print(f"{offset(int(place, 16)):#x}:{offset(int(semaphore, 16)):#x}")
