#!/usr/bin/env python3
"""Makes tables of spaces that others measured, from a checkout of github.com/AutoTuningAssociation/benchmark_hub (MIT).

Keeps the parameters that vary and the mean time of each configuration with four digits; a configuration that failed
keeps its kind of failure instead. `tables/README.md` tells the format.
"""

import argparse
import gzip
import json
import subprocess
from pathlib import Path

TABLES = {  # table: file in the hub
    "convolution_a100": "cachefiles/convolution_milo/A100.json.gz",
    "convolution_mi250x": "cachefiles/convolution_milo/MI250X.json.gz",
    "dedispersion_a100": "cachefiles/dedispersion_milo/A100.json.gz",
    "pnpoly_rtx3090": "currently_unused/cachefiles/pnpoly/RTX_3090.json.gz",
    "clblast_rtx3060": "currently_unused/cachefiles/KernelTuner data/gemm/RTX_3060_laptop.json.gz",
}
OUTCOMES = {"CompilationFailedConfig": "compile_failed", "RuntimeFailedConfig": "crashed", "InvalidConfig": "refused"}


def convert(name, content, folder):
    data = json.loads(gzip.decompress(content))
    rows = list(data["cache"].values())
    keys = [k for k in data["tune_params_keys"] if len({str(row[k]) for row in rows}) > 1]
    lines = [f"# {data['kernel_name']} on {data['device_name']}; benchmark_hub, MIT licence", ",".join(keys + ["ms"])]
    for row in sorted(rows, key=lambda row: [str(row[k]).rjust(12) for k in keys]):
        time = row["time"]
        result = OUTCOMES[time] if isinstance(time, str) else f"{time:.4g}"
        lines.append(",".join([str(row[k]) for k in keys] + [result]))
    path = folder / f"{name}.csv.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    print(f"{name}: {len(rows)} configurations, {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hub", type=Path, help="checkout, bare or not, of benchmark_hub")
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parent / "tables")
    options = parser.parse_args()
    for name, path in TABLES.items():
        content = subprocess.run(["git", "-C", options.hub, "show", f"HEAD:{path}"], check=True, capture_output=True).stdout
        convert(name, content, options.output)


if __name__ == "__main__":
    main()
