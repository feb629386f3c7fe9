#!/usr/bin/env python3
"""The models that Python packages ship (silero-vad, rapidocr, magika), and inputs such as they are made for.

usage: inputs.py FOLDER   writes one input file for each model and prints a JSON list of name, model and inputs
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import onnx

PACKAGES = ["silero_vad", "rapidocr", "magika"]


def models_of(package):
    spec = importlib.util.find_spec(package)
    return sorted(Path(spec.origin).parent.rglob("*.onnx")) if spec else []


def speech_like(rng, batch, samples):
    """A few tones and noise, within ±1 as audio is."""
    time = np.arange(samples) / 16000.0
    tones = sum(rng.uniform(0.05, 0.3) * np.sin(2 * np.pi * rng.uniform(80, 3000) * time) for _ in range(4))
    return (tones + 0.05 * rng.standard_normal((batch, samples))).astype(np.float32)


def silero_inputs(model, rng):
    """A window is 512 samples at 16 kHz or 256 at 8 kHz, with 64 or 32 samples of the window before it."""
    names = {value.name for value in model.graph.input}
    shape = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    if "h" in names:  # the whole recording at once
        for length in (1, 9):
            state = {name: 0.1 * rng.standard_normal((1, 1, 128)).astype(np.float32) for name in ("h", "c")}
            yield {"input": speech_like(rng, length, 576), **state}
        return
    batches = [1] if shape["state"][1] == 1 else [1, 3]
    rates = [16000, 8000] if len(model.graph.node) < 20 else [16000]  # the large wrappers choose a network by rate
    for batch in batches:
        for rate in rates if "sr" in names else [16000]:
            inputs = {"input": speech_like(rng, batch, 576 * rate // 16000),
                      "state": 0.1 * rng.standard_normal((2, batch, 128)).astype(np.float32)}
            if "sr" in names:
                inputs["sr"] = np.array(rate, dtype=np.int64)
            yield inputs


def page_like(rng, size):
    """Dark strokes in lines on light paper, so that a text detector has something to find."""
    image = 0.8 + 0.05 * rng.standard_normal(size)
    _, _, height, width = size
    line = min(height, 32)
    for top in range(0, height - line + 1, line):
        for left in range(8, width - 16, 12):
            if rng.random() < 0.8:
                image[:, :, top + line // 4:top + 3 * line // 4, left:left + int(rng.integers(2, 8))] -= 1.5
    return np.clip(image, -1, 1).astype(np.float32)


def image_inputs(sizes):
    def make(_, rng):
        for size in sizes:
            yield {"x": page_like(rng, size)}
    return make


def magika_inputs(_, rng):
    """Bytes of a file, 256 where the file is shorter."""
    for batch, length in ((1, 2048), (3, 2048), (1, 700)):
        values = rng.integers(0, 256, (batch, 2048)).astype(np.int32)
        values[:, length:] = 256
        yield {"bytes": values}


def any_inputs(model, rng):
    """For models that a newer release of a package brings: unknown leading dims are 1, others 64."""
    inputs = {}
    constants = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        shape = [dim.dim_value if dim.dim_value > 0 else (64 if axis else 1) for axis, dim in enumerate(tensor.shape.dim)]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        inputs[value.name] = (rng.uniform(-1, 1, shape) if dtype.kind == "f" else rng.integers(0, 2, shape)).astype(dtype)
    yield inputs


RECIPES = [  # (package, part of the file's name, inputs)
    ("silero_vad", "", silero_inputs),
    ("rapidocr", "_det_", image_inputs([(1, 3, 224, 320), (2, 3, 160, 96)])),
    ("rapidocr", "_rec_", image_inputs([(1, 3, 48, 320), (6, 3, 48, 200)])),
    ("rapidocr", "_cls_", image_inputs([(1, 3, 48, 192), (4, 3, 48, 192), (1, 3, 80, 160)])),
    ("magika", "", magika_inputs),
]


def recipe_for(package, path):
    return next((make for owner, part, make in RECIPES if owner == package and part in path.name), any_inputs)


def main():
    folder, listed = Path(sys.argv[1]), []
    for package in PACKAGES:
        for path in models_of(package):
            inputs = next(iter(recipe_for(package, path)(onnx.load(path), np.random.default_rng(1))))
            out = folder / f"{path.stem}.npz"
            np.savez(out, **inputs)
            listed.append({"name": f"{package}/{path.stem}", "model": str(path), "inputs": str(out)})
    print(json.dumps(listed))


if __name__ == "__main__":
    main()
