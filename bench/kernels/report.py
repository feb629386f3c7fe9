#!/usr/bin/env python3
"""Turns the CSV files of bench_kernels into the tables of docs/performance/kernels.md: geometric means for each class of
workload, then every workload."""

import csv
import math
import re
import sys
from collections import defaultdict


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def read(paths):
    rows = []
    for path in paths:
        with open(path, newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def short(workload):
    """`1x58x28x28 · 58x58x1x1 relu`: what tells workloads apart."""
    operands = re.findall(r"\[([0-9x]+)\]", workload.split("->")[0])
    strides = re.search(r"strides=\[(\d+), (\d+)\]", workload)
    steps = re.search(r"epilogue=\[([^]]*)\]", workload)
    text = f"{operands[0]} · {operands[1]}"
    if strides and strides.groups() != ("1", "1"):
        text += f" stride {strides[1]}"
    return text + (f" {steps[1]}" if steps else "")


def place(row):
    """Models of batch 1 before those of more, else as they come."""
    return int(re.search(r":batch=(\d+)|$", row["model"])[1] or 1)


def title(model):
    return model.removeprefix("zoo:").replace(":batch=", ", batch ")


def main():
    rows = sorted(read(sys.argv[1:]), key=place)
    classes = defaultdict(list)
    for row in rows:
        classes[row["dtype"], row["class"]].append(row)
    print("| dtype | class | workloads | geomean | slowest | fastest | faster beyond noise | slower beyond noise |")
    print("|---|---|---|---|---|---|---|---|")
    for (dtype, kind), members in sorted(classes.items()):
        ratios = [float(r["speedup"]) for r in members]
        faster = sum(float(r["low"]) > 1 for r in members)
        slower = sum(float(r["high"]) < 1 for r in members)
        print(f"| {dtype} | {kind} | {len(members)} | {geomean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} | {faster} | {slower} |")
    winograd = [r for r in rows if r["winograd_us"] and "cube_winograd" in r["config"]]
    if winograd:
        own = geomean([float(r["winograd_us"]) / float(r["generated_us"]) for r in winograd])
        direct = geomean([float(r["speedup"]) for r in winograd])
        print(f"\nWinograd, {len(winograd)} workloads where it was the best generated kernel: "
              f"{own:.2f}x oneDNN's Winograd, {direct:.2f}x its best direct kernel.")
    for (dtype, kind), members in sorted(classes.items()):
        print(f"\n### {kind}, {dtype}\n")
        print("| model | workload | × | generated µs | oneDNN µs | speedup (10 %–90 %) | % of peak | oneDNN Winograd µs | generator |")
        print("|---|---|---|---|---|---|---|---|---|")
        for r in members:
            generator = re.search(r"generator=(?:cube_)?(\w+)", r["config"])[1]
            print(f"| {title(r['model'])} | {short(r['workload'])} | {r['count']} | {float(r['generated_us']):.1f} | "
                  f"{float(r['onednn_us']):.1f} | {float(r['speedup']):.2f} ({float(r['low']):.2f}–{float(r['high']):.2f}) | "
                  f"{float(r['percent_of_peak']):.0f} | {r['winograd_us']} | {generator} |")


if __name__ == "__main__":
    main()
