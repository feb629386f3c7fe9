#!/usr/bin/env python3
"""Attention in one kernel against the calls of a library: two batched products, scale and mask, softmax.

    bench/peers/.venv/bin/python bench/kernels/attention.py      # which has the onnx package

Both are models of `attune bench`, in processes of their own, interleaved and started anew several times. The library's are
timed twice: with the transposes that take heads apart and put them together, as exported models have them, and without,
on operands that lie as its products want them. The fused kernel always reads heads where a projection leaves them.
"""

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from paced import race  # noqa: E402: found by the line above

HEADS, SIZE = 12, 64
UNFUSED = shlex.split("--without-pass fuse_attention --provider onednn --provider reference")


def attention_model(path, batch, length, causal, moves_heads):
    nodes, constants = [], []

    def constant(name, values):
        constants.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def node(op, inputs, **attributes):
        result = f"{op}_{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [result], name=result, **attributes))
        return result

    row, head = [batch, length, HEADS * SIZE], [batch, HEADS, length, SIZE]
    dims = {name: row if moves_heads else head for name in "qv"}
    dims["k"] = row if moves_heads else [batch, HEADS, SIZE, length]
    operand = {}
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        operand[name] = name
        if moves_heads:
            apart = node("Reshape", [name, constant(f"{name}_dims", [0, 0, HEADS, SIZE])])
            operand[name] = node("Transpose", [apart], perm=order)
    scores = node("MatMul", [operand["q"], operand["k"]])
    scores = node("Div", [scores, constant("root", numpy.float32(SIZE**0.5))])
    inputs = dict(dims)
    if causal:
        seen = constant("seen", numpy.tril(numpy.ones((1, 1, length, length), dtype=bool)))
        scores = node("Where", [seen, scores, constant("unseen", numpy.float32(-1e9))])
    else:
        inputs["mask"] = [batch, 1, 1, length]
        scores = node("Add", [scores, "mask"])
    result = node("MatMul", [node("Softmax", [scores], axis=-1), operand["v"]])
    if moves_heads:
        together = node("Transpose", [result], perm=[0, 2, 1, 3])
        result = node("Reshape", [together, constant("row_dims", [0, 0, HEADS * SIZE])])
    nodes[-1].output[0] = "y"
    floats = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, row if moves_heads else head)
    graph = helper.make_graph(nodes, "attention", floats, [output], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--seconds", type=float, default=7, help="of each race")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    options = parser.parse_args()
    flags = ["--precision", options.precision]
    print("| batch x length, mask | fused ms | products, mask and softmax | with the transposes |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for batch, length, causal in ((1, 128, False), (8, 128, False), (1, 128, True), (8, 128, True), (1, 384, False), (1, 1024, True)):
            fused = attention_model(f"{folder}/whole.onnx", batch, length, causal, True)
            alone = attention_model(f"{folder}/alone.onnx", batch, length, causal, False)
            cells = []
            for other in (alone, fused):
                found = race((options.attune, other, UNFUSED + flags), (options.attune, fused, flags), options.seconds)
                cells.append(f"{found['ratio']:.2f}x ({found['low']:.2f} to {found['high']:.2f})")
            print(f"| {batch} x {length}, {'causal' if causal else 'added'} | {found['second_ms']:.3f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
