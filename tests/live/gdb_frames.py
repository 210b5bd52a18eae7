# SPDX-License-Identifier: GPL-2.0-or-later
"""Run inside gdb: prints every thread's frames as "T LWP STOP-REASON" and "F TYPE PC NAME" lines."""
import gdb

TYPES = {
    gdb.NORMAL_FRAME: 'normal', gdb.INLINE_FRAME: 'inline', gdb.TAILCALL_FRAME: 'tailcall',
    gdb.SIGTRAMP_FRAME: 'signal',
}

for setting in ('backtrace past-main on', 'backtrace past-entry on', 'backtrace limit 1100', 'pagination off'):
    gdb.execute('set ' + setting)
for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid[1] or t.ptid[0]):
    thread.switch()
    lines = []
    frame, reason = gdb.newest_frame(), 'error'
    try:
        while frame is not None:
            kind = TYPES.get(frame.type(), str(frame.type()))
            lines.append(f'F {kind} {frame.pc():x} {frame.name() or "??"}')
            reason = gdb.frame_stop_reason_string(frame.unwind_stop_reason()).replace(' ', '-')
            frame = frame.older()
    except gdb.error as e:
        reason = str(e).replace(' ', '-')
    print(f'T {thread.ptid[1] or thread.ptid[0]} {reason}')
    print('\n'.join(lines))
