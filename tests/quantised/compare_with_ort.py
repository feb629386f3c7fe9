#!/usr/bin/env python3
"""Quantises small models in every form that ONNX Runtime's quantizer writes, runs them with ONNX Runtime and with
attune, and compares the outputs. Also checks that vendor kernels, not the reference, take the products of bytes where
the machine has them.

Outputs are floats behind a last dequantisation; two right implementations may round a value that lies half-way to
different sides, so outputs may differ by a few steps of that last scale.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from ort_compare import Outcome, Report, run_attune, run_ort  # noqa: E402

OPSET = 17
MOST_STEPS = 3  # of 1/255 of the output's range


class Builder:
    """A float model, node by node, with random weights."""

    def __init__(self, rng):
        self.rng = rng
        self.nodes, self.constants = [], []

    def weight(self, name, *shape):
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 16
        values = self.rng.standard_normal(shape).astype(np.float32) / np.sqrt(fan_in)
        self.constants.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def add(self, op, inputs, **attributes):
        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def save(self, path, input_shape, output, output_shape):
        graph = helper.make_graph(
            self.nodes, "float", [helper.make_tensor_value_info("x", TensorProto.FLOAT, input_shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), path)


def convolutions(path):
    """Convolutions with stride, groups and a residual, pooling and a classifier."""
    b = Builder(np.random.default_rng(3))
    x = b.add("Relu", [b.add("Conv", ["x", b.weight("w0", 16, 3, 3, 3), b.weight("b0", 16)], pads=[1] * 4)])
    skip = b.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("Relu", [b.add("Conv", [skip, b.weight("w1", 32, 16, 1, 1), b.weight("b1", 32)])])
    x = b.add("Relu", [b.add("Conv", [x, b.weight("w2", 32, 1, 3, 3), b.weight("b2", 32)], pads=[1] * 4, group=32)])
    x = b.add("Conv", [x, b.weight("w3", 16, 32, 1, 1), b.weight("b3", 16)])
    x = b.add("Add", [x, skip])
    x = b.add("Relu", [b.add("Conv", [x, b.weight("w4", 24, 16, 3, 3), b.weight("b4", 24)], pads=[1] * 4,
                             strides=[2, 2])])
    x = b.add("Flatten", [b.add("GlobalAveragePool", [x])])
    y = b.add("Gemm", [x, b.weight("w5", 10, 24), b.weight("b5", 10)], transB=1)
    b.save(path, [1, 3, 24, 24], y, [1, 10])
    return [1, 3, 24, 24]


def perceptron(path):
    """Matrix products with an activation between them."""
    b = Builder(np.random.default_rng(4))
    x = b.add("Relu", [b.add("Add", [b.add("MatMul", ["x", b.weight("w0", 64, 96)]), b.weight("b0", 96)])])
    x = b.add("Sigmoid", [b.add("Add", [b.add("MatMul", [x, b.weight("w1", 96, 48)]), b.weight("b1", 48)])])
    y = b.add("MatMul", [x, b.weight("w2", 48, 12)])
    b.save(path, [5, 64], y, [5, 12])
    return [5, 64]


class Samples(CalibrationDataReader):
    def __init__(self, shape):
        rng = np.random.default_rng(5)
        self.left = iter([{"x": rng.standard_normal(shape).astype(np.float32)} for _ in range(8)])

    def get_next(self):
        return next(self.left, None)


def static(form, per_channel=False, weights=QuantType.QInt8, activations=QuantType.QUInt8):
    def quantise(source, target, shape):
        quantize_static(source, target, Samples(shape), quant_format=form, per_channel=per_channel, weight_type=weights,
                        activation_type=activations)
    return quantise


def dynamic(weights):
    return lambda source, target, shape: quantize_dynamic(source, target, weight_type=weights)


FORMS = {
    "qdq": static(QuantFormat.QDQ),
    "qdq per channel": static(QuantFormat.QDQ, per_channel=True),
    "qdq signed": static(QuantFormat.QDQ, per_channel=True, activations=QuantType.QInt8),
    "qdq unsigned weights": static(QuantFormat.QDQ, weights=QuantType.QUInt8),
    "qoperator": static(QuantFormat.QOperator),
    "qoperator per channel": static(QuantFormat.QOperator, per_channel=True),
    "dynamic": dynamic(QuantType.QInt8),
    "dynamic unsigned weights": dynamic(QuantType.QUInt8),
}

BYTE_PRODUCTS = ("QLinearConv", "QLinearMatMul", "QGemm", "MatMulInteger", "ConvInteger")
# Weights of any zero point: the library's convolution has none, so these may stay with the reference.
REFERENCE_ALLOWED = {("convolutions", "qdq unsigned weights"), ("convolutions", "dynamic unsigned weights")}


def has_vnni():
    return "vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8")


def reference_products(listing):
    """Lines of `attune why` that give a product of bytes to the reference."""
    return [line for line in listing.splitlines()
            if any(word.split("::")[-1] in BYTE_PRODUCTS for word in line.split()) and "reference" in line.split()]


def check(attune, model, form, path, shape):
    inputs = {"x": np.random.default_rng(6).standard_normal(shape).astype(np.float32)}
    (expected,) = run_ort(path, inputs).values()
    (actual,) = run_attune(attune, path, inputs).values()
    step = float(expected.max() - expected.min()) / 255
    error = float(np.abs(actual - expected).max())
    outcome = Outcome(error, error / (MOST_STEPS * step))
    if outcome.share > 1:
        outcome.problem = "differs"
    elif has_vnni() and (model, form) not in REFERENCE_ALLOWED:
        why = subprocess.run([str(attune), "why", str(path)], capture_output=True, text=True, check=True)
        slow = reference_products(why.stdout)
        if slow:
            outcome.problem = "the reference runs products of bytes: " + "; ".join(slow)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", required=True, type=Path)
    arguments = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model in (convolutions, perceptron):
            source = folder / f"{model.__name__}.onnx"
            shape = model(source)
            for form, quantise in FORMS.items():
                target = folder / f"{model.__name__}_{form.replace(' ', '_')}.onnx"
                quantise(source, target, shape)
                report.add(f"{model.__name__}, {form}",
                           check(arguments.attune, model.__name__, form, target, shape))
    report.close()


if __name__ == "__main__":
    main()
