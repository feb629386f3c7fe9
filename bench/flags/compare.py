#!/usr/bin/env python3
"""Times one model under two sets of flags, in turn, in processes of their own.

    bench/flags/compare.py zoo:bert_base --a "" --b "--provider onednn --provider native --provider reference"
    bench/flags/compare.py zoo:bert_base --a "" --b "--without-pass fuse_attention --without-pass merge_projections"

Prints the medians and the paired ratio B over A with its 10th and 90th percentile: above 1, A is faster.
"""

import argparse
import json
import random
import shlex
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TURN_MS = 150  # about as long as a turn takes


class Side:
    def __init__(self, attune, model, flags):
        words = [attune, "bench", model, "--paced", *shlex.split(flags)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit(f"'{shlex.join(map(str, words))}' did not get ready")

    def turn(self, runs):
        """The median of a turn's runs, the first of which only warms up."""
        self.process.stdin.write(f"{runs}\n")
        self.process.stdin.flush()
        return statistics.median(json.loads(self.process.stdout.readline())[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--a", default="", help="flags of 'attune bench'")
    parser.add_argument("--b", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--attune-b", type=Path, help="another build for B")
    options = parser.parse_args()
    a = Side(options.attune, options.model, options.a)
    b = Side(options.attune_b or options.attune, options.model, options.b)
    runs = max(3, min(50, int(TURN_MS / a.turn(2)) + 1))
    b.turn(2)
    times = {a: [], b: []}
    for _ in range(options.rounds):
        for side in random.sample([a, b], 2):
            times[side].append(side.turn(runs))
    ratios = sorted(late / early for early, late in zip(times[a], times[b]))
    tenth = len(ratios) // 10
    print(
        f"{options.model}: A {statistics.median(times[a]):.3f} ms, B {statistics.median(times[b]):.3f} ms, "
        f"B/A {statistics.median(ratios):.3f} ({ratios[tenth]:.3f} to {ratios[-1 - tenth]:.3f})"
    )
    for side in (a, b):
        side.process.kill()


if __name__ == "__main__":
    main()
