#!/usr/bin/env python3
"""decode.py [--stats] [--check] [--collapse] [--rows] [--raw] FILE: takes a .pbz trace apart without probee.

  --stats      numbers, one a line: records, samples, losses, walks, ends of user stacks
  --check      what the trace's writer did against formats/trace/TRACE.md; exit 1 if there is anything
  --collapse   as `probee report FILE --collapse`
  --rows       a line per sample: nanoseconds, tid, tgid, comm, state, end, kernel and user stack (innermost first)
  --raw        FILE (- is stdin) is what `zstd -dc` makes of a trace

Exit 1 when FILE is no trace at all, or every segment needs a newer version.
"""
import argparse
import collections
import sys

import pbz

ENDS = ('none root fp-end truncated no-process no-mapping jit no-table no-fde bad-rule read-ra read-fp ra-zero sp-back '
        'busy on_cpu torn compat32 kthread no-mm bug fp-end exec').split()
STATES = ('UNKNOWN RUNNING RUNNABLE SLEEP DISK DISK_NOLOAD KILLABLE STOPPED TRACED IDLE ZOMBIE DEAD PARKED WAKING NEW '
          'RTLOCK FROZEN').split()
CAUSES = 14
MISSING = b'[missing]'
UNSAFE = ((0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x200B, 0x200F), (0x2028, 0x202E),
          (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F))
