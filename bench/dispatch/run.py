#!/usr/bin/env python3
"""What one node costs apart from its work: chains of tiny operators under `attune bench --paced`, the chains interleaved
so that a change of the machine's speed hits all alike. Prints nanoseconds per node, the median of the rounds with their
quartiles."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent.parent.parent


def chain(name, operators, nodes):
    """A model of `nodes` operators in a row, on 1x8 floats."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])
    weight = numpy_helper.from_array(numpy.full((1, 8), 0.5, numpy.float32), "w")
    square = numpy_helper.from_array(numpy.eye(8, dtype=numpy.float32), "m")
    made, last = [], "x"
    for i in range(nodes):
        op = operators[i % len(operators)]
        result = "y" if i == nodes - 1 else f"v{i}"
        # Additions of the input, not of a constant: nothing to fold.
        others = {"Add": ["x"], "Mul": ["x"], "MatMul": ["m"], "Max": ["w"]}.get(op, [])
        attributes = {"axis": 1} if op == "Softmax" else {}
        made.append(helper.make_node(op, [last, *others], [result], name=f"n{i}", **attributes))
        last = result
    graph = helper.make_graph(made, name, [x], [y], [weight, square])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# (name, operators, flags)
CHAINS = [
    ("reference Sin", ["Sin"], ["--provider", "reference"]),
    ("reference Sin, Add, Relu", ["Sin", "Add", "Relu"], ["--provider", "reference"]),
    ("best Sin, Add, Sigmoid", ["Sin", "Add", "Sigmoid"], []),
    ("best Sigmoid", ["Sigmoid"], []),
    ("best Add, Mul", ["Add", "Mul"], []),
    ("best MatMul, Sigmoid", ["MatMul", "Sigmoid"], []),
    ("best Softmax", ["Softmax"], []),
]


class Runner:
    def __init__(self, attune, path, flags, nodes):
        words = [str(attune), "bench", str(path), "--paced", "--no-rewrite", *flags]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.nodes = nodes
        self.samples = []
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"{' '.join(words)} did not start")

    def sample(self, runs):
        """The quickest of a few runs: what is slower was disturbed."""
        self.process.stdin.write(f"{runs}\n")
        self.process.stdin.flush()
        self.samples.append(min(json.loads(self.process.stdout.readline())) * 1e6 / self.nodes)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=20, help="runs in a round")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--most-ns", type=float, help="fail when a chain's median is above this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runners = []
        for number, (name, operators, flags) in enumerate(CHAINS):
            path = Path(folder, f"{number}.onnx")
            onnx.save(chain(f"chain{number}", operators, options.nodes), path)
            runners.append(Runner(options.attune, path, [*flags, "--threads", str(options.threads)], options.nodes))
        for _ in range(options.rounds):
            for runner in runners:
                runner.sample(options.runs)
        for runner in runners:
            runner.close()
    slow = False
    print(f"| chain of {options.nodes} on 1x8 floats | ns per node | quartiles |")
    print("|---|---:|---:|")
    for (name, _, _), runner in zip(CHAINS, runners):
        low, middle, high = statistics.quantiles(runner.samples, n=4)
        slow |= options.most_ns is not None and middle > options.most_ns
        print(f"| {name} | {middle:.0f} | {low:.0f} to {high:.0f} |")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
