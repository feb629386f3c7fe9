#!/usr/bin/env python3
"""Vector kernels: the best generated one against the best of other providers, both verified and timed in interleaved rounds
by `attune measure`, and the bytes that it moves against the copy bandwidth that `attune doctor` measures. Prints a
Markdown table."""

import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i64": 8, "bool": 1}


def run_json(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def bytes_of(workload):
    """Every operand once."""
    total = 0
    for dtype, dims in re.findall(r"\b(f32|bf16|f16|i64|bool)\[([\dx]*)\]", workload):
        total += BYTES[dtype] * math.prod(int(dim) for dim in dims.split("x") if dim)
    return total


def best(rows, wanted):
    right = [row for row in rows if row["outcome"] == "ok" and row["time_ns"] > 0 and wanted(row["provider"])]
    # Those of the finals were timed beside each other; the others dropped out early.
    finals = [row for row in right if "verdict" in row or row["default"]]
    return min(finals or right, key=lambda row: row["time_ns"], default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--list", type=Path, default=Path(__file__).with_name("vector.txt"))
    parser.add_argument("--only", default="", help="only names that contain this")
    parser.add_argument("--seconds", type=float, default=6, help="for each workload")
    parser.add_argument("--prefix", default="", help="a command to put before each measurement, such as one that waits for a quiet machine")
    options = parser.parse_args()
    prefix = options.prefix.split()
    doctor = run_json(*prefix, options.attune, "doctor", "--format", "json")
    copy = next(entry["all_threads"] for entry in doctor["ceilings"] if entry["id"] == "copy")
    print(f"copy bandwidth {copy:.1f} GB/s\n")
    print("| workload | generated µs | GB/s | of copy | against | µs | times as fast | config |")
    print("|---|---:|---:|---:|---|---:|---:|---|")
    ratios = []
    for line in options.list.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, workload = line.split("\t")
        if options.only not in name:
            continue
        result = run_json(*prefix, options.attune, "measure", workload, "--seconds", options.seconds, "--format", "json")
        rows = result["workloads"][0]["results"]
        ours = best(rows, lambda provider: provider == "generated")
        other = best(rows, lambda provider: provider not in ("generated", "reference")) or best(rows, lambda provider: provider == "reference")
        if ours is None:
            failed = [row for row in rows if row["provider"] == "generated"]
            print(f"| {name} | none: {failed[0]['message'] if failed else 'refused'} | | | | | | |", flush=True)
            continue
        rate = bytes_of(workload) / ours["time_ns"]
        config = ", ".join(f"{key}={value}" for key, value in ours["config"].items() if key != "generator")
        against = f"{other['provider']} | {other['time_ns'] / 1000:.1f} | {other['time_ns'] / ours['time_ns']:.2f}" if other else " | | "
        if other:
            ratios.append((other["provider"], other["time_ns"] / ours["time_ns"]))
        print(f"| {name} | {ours['time_ns'] / 1000:.1f} | {rate:.1f} | {100 * rate / copy:.0f} % | {against} | {config} |", flush=True)
    for provider in sorted({provider for provider, _ in ratios}):
        own = [math.log(ratio) for who, ratio in ratios if who == provider]
        print(f"\ngeometric mean against {provider}: {math.exp(sum(own) / len(own)):.2f} ({len(own)} workloads)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
