#!/usr/bin/env python3
"""Writes every model of the zoo as ONNX, runs it with ONNX Runtime and with attune, and compares the outputs.

Each model is tried as it comes (batch 1), and with a symbolic batch and sequence at batch 2.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from ort_compare import Outcome, Report  # noqa: E402

SYMBOLIC = {"batch": 2, "sequence": 48}  # what the symbols stand for in the second try


def attune_output(attune, *arguments):
    process = subprocess.run([str(attune), *arguments], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise RuntimeError(f"attune {' '.join(arguments)}: exit {process.returncode}: {process.stderr.strip()}")
    return process.stdout


def zoo_names(attune):
    listing = json.loads(attune_output(attune, "zoo", "list", "--format", "json"))
    models = listing["models"] if isinstance(listing, dict) else listing
    return [model["name"] for model in models]


def inputs_for(path, rng):
    """Inputs by what they are called and hold: masks are mostly one, token ids below 1000, images normal."""
    model = onnx.load(path, load_external_data=False)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        shape = [dim.dim_value if dim.HasField("dim_value") else SYMBOLIC[dim.dim_param] for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if dtype.kind == "f":
            contents = rng.standard_normal(shape)
        elif "mask" in value.name:
            contents = np.ones(shape)
            contents[..., -3:] = 0
        elif "type" in value.name:
            contents = rng.integers(0, 2, shape)
        else:
            contents = rng.integers(0, 1000, shape)
        inputs[value.name] = contents.astype(dtype)
    return inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attune", type=Path, default=Path("build/release/attune"))
    parser.add_argument("--only", default="", help="only models whose name contains this")
    options = parser.parse_args()

    report = Report()
    for name in zoo_names(options.attune):
        if options.only not in name:
            continue
        for label, flags in (("fixed", []), ("symbolic", ["--batch", "0", "--seq", "0"])):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{name}.onnx"
                try:
                    attune_output(options.attune, "zoo", name, "-o", str(path), *flags)
                except RuntimeError as error:
                    report.add(f"{name} {label}", Outcome(np.inf, np.inf, str(error)))
                    continue
                inputs = inputs_for(path, np.random.default_rng(1))
                report.compare_case(options.attune, path, f"{name} {label}", inputs)
    report.close()


if __name__ == "__main__":
    main()
