"""Constants whose declared type, dims and contents do not agree."""

import numpy as np
from onnx import SparseTensorProto, TensorProto, helper

from builder import FLOAT, array, model, node, raw_tensor, value, with_initializer


def sizes(bad):
    def add(name, mention=("'w'",), exit_code=2, **fields):
        bad.add(name, with_initializer(raw_tensor(**fields)), exit_code, list(mention))

    add("raw_data_too_short", raw=b"\0" * 20)
    add("raw_data_too_long", raw=b"\0" * 28)
    add("raw_data_not_whole_elements", raw=b"\0" * 23)
    add("no_data_at_all", raw=None)
    add("dim_negative", dims=(2, -3))
    add("dims_overflow_64_bits", dims=(2**32, 2**32))
    add("dims_overflow_in_bytes", dims=(2**61, 3))
    add("dims_multiply_to_a_small_number", dims=(2**32, 2**32, 6), raw=b"\0" * 24)  # 6 * 2^64 wraps to 0
    add("dims_declare_a_terabyte", dims=(2**18, 2**20), raw=b"\0" * 24)
    add("dims_declare_4_exabytes", dims=(2**60,), raw=b"")
    add("dims_overflow_beside_a_zero", exit_code=[0, 2], mention=[], dims=(0, 2**62, 2**62), raw=b"")
    add("rank_of_100000", exit_code=[0, 2, 3], mention=[], dims=(1,) * 100_000, raw=b"\0" * 4)
    add("packed_4_bit_too_short", dims=(7,), dtype=TensorProto.INT4, raw=b"\0" * 3)


def typed_fields(bad):
    def tensor(dtype=FLOAT, dims=(2, 3), **fields):
        result = TensorProto(name="w", data_type=dtype, dims=dims)
        for name, contents in fields.items():
            getattr(result, name).extend(contents)
        return with_initializer(result)

    bad.add("float_data_too_short", tensor(float_data=[1.0] * 5), mention=["'w'"])
    bad.add("float_data_too_long", tensor(float_data=[1.0] * 7), mention=["'w'"])
    bad.add("floats_in_the_wrong_field", tensor(int64_data=[1] * 6), mention=["'w'"])
    bad.add("float_data_for_a_terabyte", tensor(dims=(2**38,), float_data=[1.0]), mention=["'w'"])
    bad.add("int64_data_too_short", tensor(TensorProto.INT64, int64_data=[1] * 5), mention=["'w'"])
    bad.add("bool_data_too_short", tensor(TensorProto.BOOL, int32_data=[1] * 5), mention=["'w'"])
    bad.add("half_data_too_short", tensor(TensorProto.FLOAT16, int32_data=[1] * 5), mention=["'w'"])
    bad.add("double_data_too_short", tensor(TensorProto.DOUBLE, double_data=[1] * 5), mention=["'w'"])
    both = raw_tensor(raw=b"\0" * 8)
    both.float_data.extend([1.0] * 4)
    bad.add("raw_and_typed_data_both_wrong", with_initializer(both), mention=["'w'"])
    for name, dtype, exit_code in (("dtype_undefined", 0, 2), ("dtype_unknown", 99, [2, 3]), ("dtype_negative", -1, [2, 3]),
                                   ("dtype_string", TensorProto.STRING, 3), ("dtype_complex", TensorProto.COMPLEX128, 3)):
        bad.add(name, tensor(dtype, float_data=[1.0] * 6), exit_code, ["'w'"])
    segmented = raw_tensor()
    segmented.segment.begin, segmented.segment.end = 0, 6
    bad.add("stored_in_segments", with_initializer(segmented), [2, 3], ["'w'"])
    nameless = raw_tensor(name="")
    bad.add("initializer_without_a_name", model([node("Relu", ["x"], ["y"])], initializers=[nameless]), mention=["name"])


def sparse(bad):
    def add(name, dims=(2, 3), values=(1.0, 2.0), indices=(0, 4), index_dims=None, index_type=TensorProto.INT64):
        proto = model([node("Add", ["x", "w"], ["y"])])
        tensor = SparseTensorProto(dims=dims)
        tensor.values.CopyFrom(array("w", values))
        stored = TensorProto(data_type=index_type, dims=index_dims or [len(indices)])
        (stored.int64_data if index_type == TensorProto.INT64 else stored.float_data).extend(indices)
        tensor.indices.CopyFrom(stored)
        proto.graph.sparse_initializer.append(tensor)
        bad.add(name, proto, mention=["'w'"])

    add("sparse_index_out_of_range", indices=(0, 6))
    add("sparse_index_negative", indices=(-1, 4))
    add("sparse_index_2_to_62", indices=(0, 2**62))
    add("sparse_indices_too_few", indices=(0,))
    add("sparse_indices_of_rank_3", indices=(0, 4), index_dims=[1, 2, 1])
    add("sparse_pairs_out_of_range", indices=(0, 0, 1, 3), index_dims=[2, 2])
    add("sparse_indices_are_floats", index_type=FLOAT)
    add("sparse_dims_negative", dims=(2, -3))
    add("sparse_dims_overflow", dims=(2**40, 2**40))
    add("sparse_dims_declare_a_terabyte", dims=(2**18, 2**20))
    add("sparse_without_dims", dims=())


def constants(bad):
    def add(name, mention=("the_constant",), exit_code=2, **attributes):
        bad.add(name, model([node("Constant", [], ["c"], **attributes), node("Add", ["x", "c"], ["y"])]), exit_code,
                list(mention))

    add("constant_without_a_value")
    add("constant_with_two_values", exit_code=[0, 2], mention=[], value_float=1.0, value_int=1)
    add("constant_tensor_too_short", value=raw_tensor(raw=b"\0" * 20))
    add("constant_tensor_of_a_terabyte", value=raw_tensor(dims=(2**38,), raw=b"\0" * 4))
    add("constant_string", exit_code=3, mention=["the_constant"], value_string="text")
    add("constant_of_an_unknown_kind", mention=["the_constant"], exit_code=[2, 3], value_tensor=1)
    shape = array("s", [2, 3], np.int64)
    two = helper.make_tensor("v", FLOAT, [2], [1.0, 2.0])
    bad.add("constant_of_shape_with_two_values", model([node("ConstantOfShape", ["s"], ["y"], value=two)], initializers=[shape]),
            mention=["the_constantofshape"])


def cases(bad):
    sizes(bad)
    typed_fields(bad)
    sparse(bad)
    constants(bad)
    bools = raw_tensor(dtype=TensorProto.BOOL, raw=bytes([0, 1, 2, 255, 7, 0]))
    bad.add("good_bools_other_than_0_and_1",
            model([node("Not", ["w"], ["y"])], outputs=[value("y", TensorProto.BOOL)], initializers=[bools]), 0)
