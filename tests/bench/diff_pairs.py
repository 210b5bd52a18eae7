# SPDX-License-Identifier: GPL-2.0-or-later
"""diff_pairs.py PROBEE ROUNDS DIR [PAIRS]: how often `probee diff` sees what is not there, and what is.

Records pairs of equal runs of tests/workloads/rounds.c, and runs in which its function match() does 20 % more, each of 2 s of
CPU time at 999 Hz, in turns, as the machine changes meanwhile. Prints for each scale how many pairs of equal runs show any
difference, the share of their frames that are coloured, and in how many other pairs match() was found to take more.
"""
import json
import os
import subprocess
import sys

ROUNDS_OF_A_SECOND = 26000


def nodes_of(tree):
    nodes = [tree]
    for n in nodes:
        nodes += n.get("children", [])
    return nodes


class Trial:
    def __init__(self, probee, rounds, folder):
        self.probee, self.rounds, self.folder = probee, rounds, folder
        self.nr = self.rounds_of(2.0)

    def rounds_of(self, seconds):
        before = os.times()
        subprocess.run([self.rounds, str(ROUNDS_OF_A_SECOND)], check=True)
        after = os.times()
        took = after.children_user - before.children_user + after.children_system - before.children_system
        return int(ROUNDS_OF_A_SECOND * seconds / max(took, 0.05))

    def record(self, name, percent):
        path = os.path.join(self.folder, name)
        subprocess.run([self.probee, "sample", "-q", "-F", "999", "-o", path, "--", self.rounds, str(self.nr), str(percent)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return path

    def compare(self, before, after, scale):
        out = subprocess.run([self.probee, "diff", before, after, "--json", "--normalize", scale], check=True,
                             capture_output=True).stdout
        return nodes_of(json.loads(out))


def differing(nodes):
    return [n for n in nodes if n["verdict"] in ("more", "less")]


def main():
    trial = Trial(*sys.argv[1:4])
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    runs = [(trial.record(f"{i}a.pbz", 100), trial.record(f"{i}b.pbz", 100), trial.record(f"{i}slow.pbz", 120))
            for i in range(pairs)]
    for scale in ("auto", "time", "share"):
        shown = frames = coloured = found = 0
        for a, b, slow in runs:
            nodes = trial.compare(a, b, scale)
            shown += bool(differing(nodes))
            frames += len(nodes)
            coloured += len(differing(nodes))
            found += any(n["name"] == "match" and n["verdict"] == "more" for n in trial.compare(a, slow, scale))
        print(f"--normalize {scale}: {shown} of {pairs} equal pairs show a difference, {100 * coloured / frames:.2f} % of their "
              f"frames; match() with 20 % more found in {found} of {pairs}")


main()
