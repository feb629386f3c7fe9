#!/usr/bin/env python3
"""Writes the bad models, a few odd but good ones among them, with a manifest of what attune should say to each.

manifest.json: [{file, expected_exit, must_mention, inspect_must_fail}, ...]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import broken_files  # noqa: E402
import external_data  # noqa: E402
import function_calls  # noqa: E402
import more_node_cases  # noqa: E402
import node_cases  # noqa: E402
import structure  # noqa: E402
import subgraphs  # noqa: E402
import tensors  # noqa: E402
import value_types  # noqa: E402
from builder import BadModels  # noqa: E402

MODULES = [broken_files, structure, function_calls, subgraphs, value_types, tensors, external_data, node_cases,
           more_node_cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to write; what was there is replaced")
    options = parser.parse_args()
    bad = BadModels(options.out)
    for module in MODULES:
        module.cases(bad)
    print(f"{bad.close()} models in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
