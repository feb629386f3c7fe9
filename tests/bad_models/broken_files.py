"""Files that are no ONNX model at all, or only a part of one."""

import gzip
import os
import random
import zipfile

import numpy as np

from builder import array, model, node, relu_model, value


def truncated(bad):
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3))
    whole = model(
        [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["y"])],
        inputs=[value("x", shape=(1, 3, 8, 8))], outputs=[value("y", shape=(1, 8, 6, 6))],
        initializers=[array("w", weights)]).SerializeToString()
    for tenths in range(1, 10):
        bad.add(f"truncated_{tenths}0_percent", whole[:len(whole) * tenths // 10], mention=["truncated|not an onnx"])
    bad.add("truncated_first_byte", whole[:1], mention=["truncated|not an onnx"])
    bad.add("truncated_last_byte", whole[:-1], mention=["truncated|not an onnx"])


def other_formats(bad):
    small = relu_model().SerializeToString()
    not_onnx = ["not an onnx"]
    bad.add("empty_file", b"", mention=["empty"])
    bad.add("random_bytes", random.Random(0).randbytes(4096), mention=not_onnx)
    bad.add("zero_bytes", bytes(1024), mention=not_onnx)
    bad.add("ones_bytes", b"\xff" * 1024, mention=not_onnx)
    bad.add("text_file", b"this is not a model\n" * 20, mention=not_onnx)
    bad.add("json_file", b'{"ir_version": 8, "graph": {"node": []}}\n', mention=not_onnx)
    bad.add("html_page", b"<!DOCTYPE html><html><body>404 not found</body></html>\n", mention=not_onnx)
    bad.add("lfs_pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 97781947\n", mention=not_onnx)
    bad.add("gzip_of_a_model", gzip.compress(small, mtime=0), mention=not_onnx)
    bad.add("tensor_instead_of_model", array("w", np.ones((4, 4))).SerializeToString(), mention=not_onnx)
    archive = bad.root / "zip_of_a_model.onnx"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr(zipfile.ZipInfo("model.onnx"), small)
    bad.expect(archive.name, mention=not_onnx)
    (bad.root / "directory.onnx").mkdir()
    bad.expect("directory.onnx", mention=["folder|directory|regular file"])
    os.mkfifo(bad.root / "fifo.onnx")
    bad.expect("fifo.onnx", mention=["regular file"])
    (bad.root / "dangling_link.onnx").symlink_to("nowhere.onnx")
    bad.expect("dangling_link.onnx", mention=["no such file"])
    bad.expect("does_not_exist.onnx", mention=["no such file"])
    bad.expect("/dev/zero", mention=["regular file"])


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def broken_protobuf(bad):
    words = ["not an onnx|malformed|truncated"]
    head = varint(1 << 3) + varint(8)  # ir_version
    bad.add("graph_longer_than_the_file", head + varint(7 << 3 | 2) + varint(1 << 40), mention=words)
    bad.add("graph_of_2_to_63_bytes", head + varint(7 << 3 | 2) + varint(1 << 63) + b"\0" * 16, mention=words)
    bad.add("endless_varint", head + b"\xff" * 64, mention=words)
    bad.add("group_wire_type", head + varint(7 << 3 | 3) + b"\0" * 8, mention=words)
    bad.add("graph_is_a_number", head + varint(7 << 3) + varint(5), mention=words + ["graph"])
    bad.add("graph_field_twice_the_second_broken",
            relu_model().SerializeToString() + varint(7 << 3 | 2) + varint(4) + b"\xff\xff\xff\xff", mention=words)


def nesting(bad):
    """GraphProto.node = 1, NodeProto.attribute = 5, AttributeProto.g = 6."""
    for depth in (64, 250, 5000):
        graph = field(2, b"inner")
        for _ in range(depth):
            attribute = field(1, b"then_branch") + field(6, graph) + varint(20 << 3) + varint(5)
            graph = field(1, field(4, b"If") + field(1, b"c") + field(2, b"o") + field(5, attribute)) + field(2, b"g")
        contents = varint(1 << 3) + varint(8) + field(7, graph) + field(8, varint(2 << 3) + varint(17))
        bad.add(f"graphs_nested_{depth}_deep", contents, mention=["nest|deep"])
    # A type within a type: sequence of sequence of ... (TypeProto.sequence_type = 4, Sequence.elem_type = 1).
    kind = field(1, varint(1 << 3) + varint(1))
    for _ in range(5000):
        kind = field(4, field(1, kind))
    graph = relu_model().graph.SerializeToString() + field(11, field(1, b"z") + field(2, kind))
    opset = field(8, varint(2 << 3) + varint(17))
    bad.add("types_nested_5000_deep", varint(1 << 3) + varint(8) + field(7, graph) + opset, mention=["nest|deep|parse"])


def cases(bad):
    truncated(bad)
    other_formats(bad)
    broken_protobuf(bad)
    nesting(bad)
