#!/usr/bin/env python3
"""The best kernel of attune's own (native, generated) against the best of oneDNN for each workload of a list, by
`attune measure`, which verifies all of them and times them in pairs. Prints a Markdown table.

    bench/kernels/providers.py bench/kernels/recurrent.txt

A line of a list is a name, a tab and a workload. Where the workload says $L, channels-last and blocked layouts are measured, and
each side has its better one.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LAYOUTS = ("nhwc", "nchw16c")
OWN = ("native", "generated")


def measure(options, workload):
    command = [options.attune, "measure", workload, "--seconds", options.seconds, "--threads", options.threads, "--format", "json"]
    done = subprocess.run([str(word) for word in command + ["--hot"]], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{workload}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)["workloads"][0]


def best_of(results, providers):
    times = [(one["time_ns"], one) for one in results if one["provider"] in providers and one["outcome"] == "ok"]
    return min(times, key=lambda pair: pair[0], default=(None, None))


def config_text(config):
    return ", ".join(f"{key}={value}" for key, value in config.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="+", type=Path)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--seconds", type=float, default=5, help="for each workload and layout")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print("| workload | own µs | oneDNN µs | times as fast | own kernel |")
    print("|---|---:|---:|---:|---|")
    ratios = []
    for path in options.lists:
        for line in path.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            name, workload = line.split("\t")
            results = []
            for layout in LAYOUTS if "$L" in workload else ("",):
                results += measure(options, workload.replace("$L", layout))["results"]
            own_ns, own = best_of(results, OWN)
            library_ns, _ = best_of(results, ("onednn",))
            if own_ns is None or library_ns is None:
                print(f"{name}: there is none of {'attune' if own_ns is None else 'oneDNN'}", file=sys.stderr)
                continue
            ratios.append(library_ns / own_ns)
            print(f"| {name} | {own_ns / 1000:.1f} | {library_ns / 1000:.1f} | {ratios[-1]:.2f} | {own['provider']}: {config_text(own['config'])} |", flush=True)
    if ratios:
        print(f"\nGeometric mean: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}.")


if __name__ == "__main__":
    main()
