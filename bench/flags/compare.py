#!/usr/bin/env python3
"""Times one model under two sets of flags, in turn, in processes of their own that are started anew several times.

    bench/flags/compare.py zoo:bert_base --a "" --b "--provider onednn --provider native --provider reference"
    bench/flags/compare.py zoo:bert_base --a "" --b "--without-pass fuse_attention --without-pass merge_projections"

Prints the medians and the ratio B over A with its interval over the starts: above 1, A is faster.
"""

import argparse
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from paced import STARTS, race  # noqa: E402: found by the line above


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--a", default="", help="flags of 'attune bench'")
    parser.add_argument("--b", required=True)
    parser.add_argument("--seconds", type=float, default=14, help="of interleaved runs, over all starts")
    parser.add_argument("--starts", type=int, default=STARTS)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--attune-b", type=Path, help="another build for B")
    options = parser.parse_args()
    a = (options.attune, options.model, shlex.split(options.a))
    b = (options.attune_b or options.attune, options.model, shlex.split(options.b))
    found = race(b, a, options.seconds, options.starts)
    print(
        f"{options.model}: A {found['second_ms']:.3f} ms, B {found['first_ms']:.3f} ms, "
        f"B/A {found['ratio']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
    )


if __name__ == "__main__":
    main()
