#!/usr/bin/env python3
"""Compares attune with ONNX Runtime on the models that Python packages ship: silero-vad, rapidocr, magika."""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from inputs import PACKAGES, models_of, recipe_for  # noqa: E402
from ort_compare import FP16, FP32, Report  # noqa: E402

SEEDS = [1, 2]


def uses_half(model):
    return any(tensor.data_type == onnx.TensorProto.FLOAT16 for tensor in model.graph.initializer)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", type=Path, default=Path("build/release/attune"))
    parser.add_argument("--only", default="", help="only models whose path contains this")
    options = parser.parse_args()

    report = Report()
    for package in PACKAGES:
        models = models_of(package)
        if not models:
            print(f"FAIL no models of {package}; run scripts/bootstrap.sh")
            report.failed += 1
        for path in models:
            if options.only not in str(path):
                continue
            model = onnx.load(path)
            for seed in SEEDS:
                for inputs in recipe_for(package, path)(model, np.random.default_rng(seed)):
                    report.compare_case(options.attune, path, f"{package}/{path.name} seed {seed}", inputs,
                                        FP16 if uses_half(model) else FP32)
    report.close()


if __name__ == "__main__":
    main()
