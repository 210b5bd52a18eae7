# SPDX-License-Identifier: GPL-2.0-or-later
"""usdt_stack.py [--late]: reads folded stacks of `usdt stack` and checks each whose innermost function is burn(). A shadow frame's name
is that of its caller's and a letter, so stacks prove themselves: each `named` has its name before it, `bare` has none, and the names
are a path from the root on. --late: the outermost may lack theirs, because they were entered before probee was there.
Prints how many there are, how many are right, and the different ends of paths; shows some that are wrong."""
import re, sys

late = "--late" in sys.argv
NAME = re.compile(r"(first|second|fiber)(/[a-z])+$")


def is_right(frames):
    names, last = [], None
    for before, frame in zip([None] + frames, frames):
        if frame == "named":
            named = before is not None and NAME.match(before)
            if not named and (names or not late):
                return False, names
            if named:
                names.append(before)
        elif frame == "bare" and NAME.match(before):
            return False, names
    if len(names) != sum(bool(NAME.match(f)) for f in frames):
        return False, names
    for name in names:
        if last is None and not late and name.count("/") != 1:
            return False, names
        if last is not None and name.rpartition("/")[0] != last:
            return False, names
        last = name
    return True, names


total = right = 0
seen, roots = set(), set()
for line in sys.stdin:
    text, _, n = line.rstrip("\n").rpartition(" ")
    frames = [f for f in text.split(";") if not f.endswith("_[k]")]
    if frames[-1] != "burn":
        continue
    total += int(n)
    ok, names = is_right(frames)
    right += int(n) * ok
    if ok and names:
        seen.add(names[-1])
        roots.add(names[0].split("/")[0])
    if not ok and total - right < 20:
        print("wrong:", text, file=sys.stderr)
print(total, right, len(seen), ",".join(sorted(roots)))
