#!/usr/bin/env python3
"""Runs every model of the zoo with ONNX Runtime and checks the size of all values on the way.

Random weights are of use only while activations neither vanish nor grow with depth: each floating-point value must be
finite, free of denormal numbers and of a root mean square within bounds, and the outputs must depend on the inputs.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from compare_with_ort import attune_output, inputs_for, zoo_names

SMALLEST_RMS, LARGEST_RMS = 1e-6, 1e4
SMALLEST_CHANGE = 1e-3  # of an output, relative to its size, when all inputs change


def root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))


def session_with_all_values(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    known = {output.name for output in model.graph.output}
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    model.graph.output.extend(value for value in inferred.graph.value_info if value.name not in known)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options), known


def problems_of(array):
    if not np.all(np.isfinite(array)):
        yield "holds values that are not finite"
        return
    if np.any((array != 0) & (np.abs(array) < np.finfo(array.dtype).tiny)):
        yield "holds denormal numbers"
    size = root_mean_square(array)
    if not SMALLEST_RMS <= size <= LARGEST_RMS:
        yield f"has a root mean square of {size:.3g}"


def check(name, path):
    """Prints one line and returns the problems."""
    session, outputs = session_with_all_values(path)
    names = [output.name for output in session.get_outputs()]
    first, second = (session.run(names, inputs_for(path, np.random.default_rng(seed))) for seed in (1, 2))
    problems, sizes, changes = [], [], []
    for value, one, two in zip(names, first, second):
        if one.dtype.kind != "f":
            continue
        problems += [f"{name}: '{value}' {problem}" for problem in problems_of(one)]
        sizes.append(root_mean_square(one))
        if value in outputs:
            changes.append(root_mean_square(one - two) / sizes[-1])
            if not changes[-1] >= SMALLEST_CHANGE:
                problems.append(f"{name}: output '{value}' hardly depends on the inputs ({changes[-1]:.3g})")
    print(f"{name:14} {len(sizes):4} values, rms {min(sizes):.2g} to {max(sizes):.2g}, "
          f"outputs change by {min(changes):.1%}", flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attune", type=Path, default=Path("build/release/attune"))
    parser.add_argument("--only", default="", help="only models whose name contains this")
    options = parser.parse_args()

    problems = []
    for name in zoo_names(options.attune):
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.onnx"
            attune_output(options.attune, "zoo", name, "-o", str(path))
            problems += check(name, path)
    print("\n".join(problems) or "all in range")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
