#!/usr/bin/env python3
"""Writes the backend test cases of the onnx package as files that backend_runner reads.

Each case becomes a folder:
  model.onnx
  test_data_set_<k>/input_<i>.pb, output_<i>.pb   TensorProto under the name of the graph's input or output
  meta.json                                       {kind, rtol, atol, plain, reason}

A case is plain when every value in it is a tensor of numbers; the others are written too, with the reason why attune
leaves them out.
"""

import argparse
import hashlib
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

warnings.filterwarnings("ignore")  # the generators of the cases divide by zero on purpose

DATA = Path(onnx.__file__).parent / "backend/test/data"
FILE_SETS = ["simple", "pytorch-operator", "pytorch-converted"]
DEFAULT_RTOL, DEFAULT_ATOL = 1e-3, 1e-7
# The onnx package allows bfloat16 results to differ by two units in the last place.
BFLOAT16_RTOL = 2.0**-6

# Operators that make a value of a kind other than tensor, where no graph input or output shows it.
SEQUENCE_OPS = {
    "SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength",
    "SequenceMap", "SplitToSequence", "ConcatFromSequence",
}
STRING_OPS = {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch"}


def nodes_of(graph):
    """All nodes, those of subgraphs included."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for subgraph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from nodes_of(subgraph)


def type_reason(value):
    kind = value.type.WhichOneof("value")
    if kind == "tensor_type":
        is_string = value.type.tensor_type.elem_type == TensorProto.STRING
        return "string tensors" if is_string else None
    return {"sequence_type": "sequence types", "optional_type": "optional types", "map_type": "map types",
            "sparse_tensor_type": "sparse tensors as inputs or outputs"}.get(kind, "a value without a type")


def exclusion_reason(model):
    """Why attune leaves this model out, or None when it is a plain one."""
    for node in nodes_of(model.graph):
        if node.domain == "ai.onnx.preview.training":
            return "training preview domain"
    for value in [*model.graph.input, *model.graph.output]:
        if reason := type_reason(value):
            return reason
    for node in nodes_of(model.graph):
        if node.op_type in SEQUENCE_OPS:
            return "sequence types"
        if node.op_type == "Optional":
            return "optional types"
        if node.op_type in STRING_OPS:
            return "string tensors"
    return None


def to_proto(value, info):
    """A data item of a case as the protobuf message that onnx's own files would hold."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value))
    tensor.name = info.name
    return tensor


def write_case(folder, model, kind, data_sets, rtol=DEFAULT_RTOL, atol=DEFAULT_ATOL):
    """`data_sets`: list of (inputs, outputs), each a list of protobuf messages."""
    reason = exclusion_reason(model)
    outputs = [value.type.tensor_type.elem_type for value in model.graph.output]
    if TensorProto.BFLOAT16 in outputs:
        rtol = max(rtol, BFLOAT16_RTOL)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    meta = {"kind": kind, "rtol": rtol, "atol": atol, "plain": reason is None, "reason": reason or ""}
    (folder / "meta.json").write_text(json.dumps(meta) + "\n")
    for k, (inputs, expected) in enumerate(data_sets):
        data_set = folder / f"test_data_set_{k}"
        data_set.mkdir()
        for name, messages in (("input", inputs), ("output", expected)):
            for i, message in enumerate(messages):
                (data_set / f"{name}_{i}.pb").write_bytes(message.SerializeToString())


def export_node_cases(out):
    from onnx.backend.test.case.node import collect_testcases

    cases = collect_testcases(None)
    for case in cases:
        graph = case.model.graph
        data_sets = [
            ([to_proto(value, info) for value, info in zip(inputs, graph.input)],
             [to_proto(value, info) for value, info in zip(expected, graph.output)])
            for inputs, expected in case.data_sets]
        write_case(out / case.name, case.model, "node", data_sets, case.rtol, case.atol)
    return len(cases)


def read_message(path, info):
    kind = info.type.WhichOneof("value")
    message = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, TensorProto)()
    message.ParseFromString(path.read_bytes())
    message.name = info.name
    return message


def numbered(folder, prefix):
    return sorted(folder.glob(f"{prefix}_*.pb"), key=lambda path: int(path.stem.rsplit("_", 1)[1]))


def export_file_cases(out, kind):
    cases = sorted(path.parent for path in (DATA / kind).glob("*/model.onnx"))
    for case in cases:
        model = onnx.load(case / "model.onnx")
        data_sets = []
        for data_set in sorted(case.glob("test_data_set_*")):
            inputs = [read_message(path, info) for path, info in zip(numbered(data_set, "input"), model.graph.input)]
            expected = [read_message(path, info) for path, info in zip(numbered(data_set, "output"), model.graph.output)]
            data_sets.append((inputs, expected))
        tolerances = json.loads((case / "data.json").read_text()) if (case / "data.json").exists() else {}
        write_case(out / case.name, model, kind, data_sets,
                   tolerances.get("rtol", DEFAULT_RTOL), tolerances.get("atol", DEFAULT_ATOL))
    return len(cases)


def ramp(info):
    """The input that the expected outputs of the light models were made with: i / n."""
    shape = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in info.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return numpy_helper.from_array((np.arange(count).reshape(shape) / count).astype(np.float32), info.name)


def export_light_cases(out):
    """Known image networks with made-up weights. Their tolerances lie in the set 'real', which points here."""
    count = 0
    for description in sorted((DATA / "real").glob("*/data.json")):
        data = json.loads(description.read_text())
        if not data["url"].startswith("onnx/backend/test/data/light/"):
            continue
        path = DATA / "light" / Path(data["url"]).name
        model = onnx.load(path)
        initializers = {tensor.name for tensor in model.graph.initializer}
        inputs = [ramp(info) for info in model.graph.input if info.name not in initializers]
        expected = [read_message(path.with_name(f"{path.stem}_output_{i}.pb"), info)
                    for i, info in enumerate(model.graph.output)]
        # "light_" keeps the names apart from those of node cases.
        write_case(out / f"test_light_{data['model_name']}", model, "light", [(inputs, expected)],
                   data.get("rtol", DEFAULT_RTOL), data.get("atol", DEFAULT_ATOL))
        count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to write; what was there is replaced")
    options = parser.parse_args()

    # The cases depend on the onnx package and on this script only.
    wanted = f"onnx {onnx.__version__} {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}\n"
    stamp = options.out / "stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        print(f"{options.out} is up to date")
        return 0
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    counts = {"node": export_node_cases(options.out)}
    for kind in FILE_SETS:
        counts[kind] = export_file_cases(options.out, kind)
    counts["light"] = export_light_cases(options.out)
    stamp.write_text(wanted)
    print(f"onnx {onnx.__version__}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
