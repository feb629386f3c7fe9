#!/usr/bin/env python3
"""Times configurations of generated kernels in two builds, in turn, in processes of their own.

    bench/kernels/builds.py --a build/release/attune --b OTHER/attune bench/kernels/epilogues.txt

The list has a line for each: the workload, a tab, and what `attune kernel --set` takes. Prints the median of B over A and the
range of the pairs: above 1, A is faster.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path


def time_ns(attune, workload, settings):
    command = [attune, "kernel", workload, "--format", "json", "--set", *settings.split()]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    if result["outcome"] != "ok":
        sys.exit(f"{attune}: {workload}: {result['outcome']}: {result['message']}")
    return result["time_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("--a", required=True)
    parser.add_argument("--b", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    for line in options.list.read_text().splitlines():
        workload, settings = line.split("\t")
        pairs = [(time_ns(options.a, workload, settings), time_ns(options.b, workload, settings)) for _ in range(options.pairs)]
        ratios = [b / a for a, b in pairs]
        print(f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})  {workload}", flush=True)


if __name__ == "__main__":
    main()
