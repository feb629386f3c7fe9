#!/usr/bin/env python3
"""Vector kernels: the default generated one of each workload against what planning takes without it (oneDNN's or attune's
own, else the reference), both verified and timed in interleaved pairs by `attune kernel`; and the bytes that it moves
against the copy bandwidth that `attune doctor` measures. Prints a Markdown table."""

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i64": 8, "bool": 1}
OTHERS = [word for name in ("native", "onednn", "reference") for word in ("--provider", name)]


def run_json(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if not done.stdout:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def bytes_of(workload):
    """Every operand once."""
    total = 0
    for dtype, dims in re.findall(r"\b(f32|bf16|f16|i64|bool)\[([\dx]*)\]", workload):
        total += BYTES[dtype] * math.prod(int(dim) for dim in dims.split("x") if dim)
    return total


def measure(attune, workload, settings):
    """With --set the parameters that are given, else the default."""
    chosen = ["--set", *settings] if settings else []
    return run_json(attune, "kernel", workload, *OTHERS, *chosen, "--format", "json")


def copy_bandwidth(attune):
    doctor = run_json(attune, "doctor", "--format", "json")
    return next(entry["all_threads"] for entry in doctor["ceilings"] if entry["id"] == "copy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--list", type=Path, default=Path(__file__).with_name("vector.txt"))
    parser.add_argument("--only", default="", help="only names that match this regular expression")
    parser.add_argument("--repeats", type=int, default=1, help="of each workload, in processes of their own; medians are printed")
    parser.add_argument("--set", nargs="*", default=[], help="parameters other than the default's")
    options = parser.parse_args()
    print("| workload | generated µs | GB/s | of copy | against | times as fast |")
    print("|---|---:|---:|---:|---|---:|")
    ratios, copies = [], [copy_bandwidth(options.attune)]
    for line in options.list.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, workload = line.split("\t")
        if not re.search(options.only, name):
            continue
        runs = []
        for _ in range(options.repeats):
            result = measure(options.attune, workload, options.set)
            if result["outcome"] != "ok":
                print(f"| {name} | {result['outcome']}: {result['message']} | | | | |", flush=True)
                break
            # The bandwidth of a shared machine changes by the minute, so it is measured before and after.
            copies.append(copy_bandwidth(options.attune))
            rate = bytes_of(workload) / result["time_ns"]
            runs.append((result["time_ns"] / 1000, rate, 2 * rate / (copies[-2] + copies[-1]), 1 / result["ratio"]))
        else:
            time_us, rate, share, ratio = (statistics.median(column) for column in zip(*runs))
            other = result["default"].split()[0]
            ratios.append((other, ratio))
            print(f"| {name} | {time_us:.1f} | {rate:.1f} | {100 * share:.0f} % | {other} | {ratio:.2f} |", flush=True)
    print(f"\ncopy bandwidth {min(copies):.1f} to {max(copies):.1f} GB/s")
    for provider in sorted({provider for provider, _ in ratios}):
        own = [math.log(ratio) for who, ratio in ratios if who == provider]
        print(f"\ngeometric mean against {provider}: {math.exp(sum(own) / len(own)):.2f} ({len(own)} workloads)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
