"""Values of a kind or size that attune does not take."""

import numpy as np
from onnx import TensorProto, helper

from builder import FLOAT, array, model, node, relu_model, value


def cases(bad):
    def declared(name, kind, exit_code, mention):
        proto = relu_model()
        proto.graph.input[0].type.CopyFrom(kind)
        bad.add(name, proto, exit_code, mention)

    tensor = helper.make_tensor_type_proto(FLOAT, [2, 3])
    declared("sequence_input", helper.make_sequence_type_proto(tensor), 3, ["sequence"])
    declared("optional_input", helper.make_optional_type_proto(tensor), 3, ["optional"])
    declared("map_input", helper.make_map_type_proto(TensorProto.INT64, tensor), 3, ["map"])
    declared("sparse_input", helper.make_sparse_tensor_type_proto(FLOAT, [2, 3]), 3, ["'x'"])
    declared("string_input", helper.make_tensor_type_proto(TensorProto.STRING, [2]), 3, ["string"])
    declared("complex_input", helper.make_tensor_type_proto(TensorProto.COMPLEX64, [2]), 3, ["complex"])
    declared("undefined_input_dtype", helper.make_tensor_type_proto(0, [2, 3]), [2, 3], ["'x'"])
    declared("unknown_input_dtype", helper.make_tensor_type_proto(99, [2, 3]), [2, 3], ["99"])
    declared("negative_input_dim", helper.make_tensor_type_proto(FLOAT, [2, -7]), 2, ["-7"])
    bad.add("input_larger_than_memory", model([node("Relu", ["x"], ["y"])], inputs=[value("x", shape=(10**6, 10**7))],
                                              outputs=[value("y", shape=None)]), mention=["memory"], inspect_fails=False)
    bad.add("input_whose_size_overflows", model([node("Relu", ["x"], ["y"])], inputs=[value("x", shape=(2**40, 2**40))],
                                                outputs=[value("y", shape=None)]), mention=["overflow|memory|large"], inspect_fails=False)
    bad.add("sequence_inside", model([node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "i"], ["y"])],
                                     initializers=[array("i", 0, np.int64)]), 3, ["SequenceConstruct|sequence"])
    bad.add("optional_inside", model([node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["y"])]), 3, ["Optional"])
    bad.add("string_operator", model([node("StringNormalizer", ["s"], ["y"])], initializers=[string_tensor("s")]),
            3, ["string"])
    bad.add("training_preview", model([helper.make_node("Adam", ["x"] * 6, ["y", "b", "c"], "n1", domain="ai.onnx.preview.training")],
                                      opsets=[("", 17), ("ai.onnx.preview.training", 1)]), 3, ["Adam"])


def string_tensor(name):
    tensor = TensorProto(name=name, data_type=TensorProto.STRING, dims=[1])
    tensor.string_data.append(b"text")
    return tensor
