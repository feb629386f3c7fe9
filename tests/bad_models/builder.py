"""Small ONNX models by hand, without any checker, and the folder that the bad ones are written to."""

import json
import shutil
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
OPSET = 17


def value(name, dtype=FLOAT, shape=(2, 3)):
    return helper.make_tensor_value_info(name, dtype, shape)


def array(name, contents, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(contents, dtype=dtype), name)


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or f"the_{op.lower()}", **attributes)


def model(nodes, inputs=None, outputs=None, initializers=(), opsets=(("", OPSET),), functions=()):
    """x: f32[2,3] -> y: f32[2,3] unless told otherwise."""
    graph = helper.make_graph(
        list(nodes), "g", [value("x")] if inputs is None else list(inputs),
        [value("y")] if outputs is None else list(outputs), list(initializers))
    result = ModelProto(ir_version=8)
    result.graph.CopyFrom(graph)
    for domain, version in opsets:
        result.opset_import.add(domain=domain, version=version)
    result.functions.extend(functions)
    return result


def relu_model():
    return model([node("Relu", ["x"], ["y"])])


def with_initializer(tensor):
    """y = x + w for a w that is usually wrong."""
    return model([node("Add", ["x", "w"], ["y"])], initializers=[tensor])


def raw_tensor(name="w", dims=(2, 3), dtype=FLOAT, raw=b"\0" * 24):
    tensor = TensorProto(name=name, data_type=dtype)
    tensor.dims.extend(dims)
    if raw is not None:
        tensor.raw_data = raw
    return tensor


class BadModels:
    """Writes models and remembers what attune should say to each."""

    def __init__(self, root):
        self.root = Path(root)
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        self.manifest = []

    def expect(self, file, exit_code=2, mention=(), inspect_fails=True):
        """`mention`: words that stderr must hold, "a|b" for either. `exit_code`: one or several that are right.
        `inspect_fails`: the mistake shows without running, so that `attune inspect` must find it too."""
        codes = [exit_code] if isinstance(exit_code, int) else list(exit_code)
        self.manifest.append({"file": str(file), "expected_exit": codes, "must_mention": list(mention),
                              "inspect_must_fail": inspect_fails and 0 not in codes})

    def add(self, name, contents, exit_code=2, mention=(), inspect_fails=True):
        """A model in one file; `contents` is a ModelProto or bytes."""
        file = f"{name}.onnx"
        assert not any(entry["file"] == file for entry in self.manifest), f"two bad models are called {name}"
        (self.root / file).write_bytes(contents if isinstance(contents, bytes) else contents.SerializeToString())
        self.expect(file, exit_code, mention, inspect_fails)

    def folder(self, name):
        """A folder of its own for a model with companions."""
        path = self.root / name
        path.mkdir()
        return path

    def close(self):
        (self.root / "manifest.json").write_text(json.dumps(self.manifest, indent=1) + "\n")
        return len(self.manifest)
