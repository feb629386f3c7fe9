"""Nodes whose inputs or attributes are wrong. Every error must name the operator and the node."""

import functools

import numpy as np
from onnx import TensorProto

from builder import array, model, node, value

F, I, B = np.float32, np.int64, bool
HUGE = 2**40


def zeros(*shape):
    return np.zeros(shape, F)


def ints(*numbers):
    return np.array(numbers, I)


class Operators:
    def __init__(self, bad):
        self.bad = bad

    def __call__(self, name, op, inputs, exit_code=2, mention=(), opset=17, outputs=1, domain="", inspect_fails=True,
                 **attributes):
        """One node; the first input comes from outside when it is a zero array of floats, the others are constants.
        None stands for an omitted input."""
        names = ["" if contents is None else f"i{k}" for k, contents in enumerate(inputs)]
        outside, constants = [], []
        for k, contents in enumerate(inputs):
            if contents is None:
                continue
            contents = np.asarray(contents)
            if k == 0 and contents.dtype == F and contents.size:
                outside.append(value("i0", TensorProto.FLOAT, contents.shape))
            else:
                constants.append(array(f"i{k}", contents, contents.dtype))
        results = [f"y{k}" for k in range(outputs)]
        the_node = node(op, names, results, **attributes)
        the_node.domain = domain
        opsets = [("", opset)] + ([(domain, 1)] if domain else [])
        proto = model([the_node], inputs=outside, outputs=[value(result, shape=None) for result in results],
                      initializers=constants, opsets=opsets)
        for output in proto.graph.output:
            output.type.ClearField("tensor_type")
        self.bad.add(f"op_{name}", proto, exit_code, [op, f"the_{op.lower()}", *mention], inspect_fails)


def schema(add):
    x = zeros(2, 3)
    add("add_with_one_input", "Add", [x])
    add("add_with_three_inputs", "Add", [x, x, x])
    add("relu_without_inputs", "Relu", [])
    add("relu_with_two_outputs", "Relu", [x], outputs=2)
    add("add_omits_a_required_input", "Add", [x, None])
    add("conv_omits_its_weights", "Conv", [zeros(1, 3, 8, 8), None, zeros(4)])
    add("concat_without_axis", "Concat", [x, x], mention=["axis"])
    add("cast_without_to", "Cast", [x], mention=["to"])
    add("axis_is_a_float", "Softmax", [x], axis=1.5, mention=["axis"])
    add("axis_is_a_text", "Softmax", [x], axis="last", mention=["axis"])
    add("perm_is_a_number", "Transpose", [x], perm=1, mention=["perm"])
    add("relu_of_bool", "Relu", [np.zeros((2, 3), B)], exit_code=[2, 3])
    add("conv_of_integers", "Conv", [np.zeros((1, 1, 4, 4), I), np.zeros((1, 1, 3, 3), I)], exit_code=[2, 3], inspect_fails=False)
    add("add_of_float_and_int", "Add", [x, np.zeros((2, 3), I)])
    add("add_of_bools", "Add", [np.zeros(3, B), np.zeros(3, B)], exit_code=[2, 3])
    add("not_of_float", "Not", [x], exit_code=[2, 3])
    add("and_of_ints", "And", [ints(1, 2), ints(1, 2)], exit_code=[2, 3])
    add("add_that_does_not_broadcast", "Add", [x, zeros(4, 5)])
    add("where_condition_is_a_float", "Where", [x, x, x], exit_code=[2, 3])
    add("where_that_does_not_broadcast", "Where", [np.zeros((2, 3), B), zeros(2, 3), zeros(5)])


def convolutions(add):
    x, w = zeros(1, 4, 8, 8), zeros(6, 4, 3, 3)
    add("conv_stride_zero", "Conv", [x, w], strides=[0, 1], mention=["stride"])
    add("conv_stride_negative", "Conv", [x, w], strides=[-1, 1], mention=["stride"])
    add("conv_dilation_zero", "Conv", [x, w], dilations=[0, 1], mention=["dilation"])
    add("conv_dilation_2_to_62", "Conv", [x, w], dilations=[2**62, 2**62])
    add("conv_pads_2_to_40", "Conv", [x, w], pads=[HUGE] * 4)
    add("conv_pads_2_to_62", "Conv", [x, w], pads=[2**62] * 4)
    add("conv_pads_too_few", "Conv", [x, w], pads=[1, 1], mention=["pads"])
    add("conv_pads_negative", "Conv", [x, w], pads=[-9, -9, -9, -9])
    add("conv_strides_too_few", "Conv", [x, w], strides=[1], mention=["stride"])
    add("conv_group_zero", "Conv", [x, w], group=0, mention=["group"])
    add("conv_group_negative", "Conv", [x, w], group=-2, mention=["group"])
    add("conv_group_that_does_not_divide", "Conv", [x, w], group=3, mention=["group|channel"])
    add("conv_kernel_larger_than_its_input", "Conv", [x, zeros(6, 4, 12, 12)])
    add("conv_kernel_shape_unlike_the_weights", "Conv", [x, w], kernel_shape=[5, 5], mention=["kernel_shape"])
    add("conv_weights_of_rank_2", "Conv", [x, zeros(6, 4)])
    add("conv_channels_mismatch", "Conv", [x, zeros(6, 5, 3, 3)], mention=["channel"])
    add("conv_bias_of_wrong_length", "Conv", [x, w, zeros(5)], mention=["bias"])
    add("conv_auto_pad_unknown", "Conv", [x, w], auto_pad="SOMEHOW", mention=["auto_pad"])
    add("conv_of_rank_1", "Conv", [zeros(4), zeros(4)])
    add("conv_kernel_with_a_zero_dim", "Conv", [x, zeros(6, 4, 0, 3)])
    add("conv_transpose_output_shape_huge", "ConvTranspose", [x, zeros(4, 6, 3, 3)], output_shape=[HUGE, HUGE])
    add("conv_transpose_output_padding_negative", "ConvTranspose", [x, zeros(4, 6, 3, 3)], output_padding=[-30, -30])
    add("conv_transpose_stride_2_to_40", "ConvTranspose", [x, zeros(4, 6, 3, 3)], strides=[HUGE, HUGE])
    add("deform_conv_offset_of_wrong_shape", "DeformConv", [x, w, zeros(1, 3, 6, 6)], opset=19)
    add("max_pool_without_kernel", "MaxPool", [x], mention=["kernel_shape"])
    add("max_pool_kernel_zero", "MaxPool", [x], kernel_shape=[0, 2])
    add("max_pool_kernel_too_large", "MaxPool", [x], kernel_shape=[HUGE, HUGE])
    add("max_pool_stride_zero", "MaxPool", [x], kernel_shape=[2, 2], strides=[0, 0])
    add("average_pool_kernel_of_rank_3", "AveragePool", [x], kernel_shape=[2, 2, 2])
    add("global_average_pool_of_rank_1", "GlobalAveragePool", [zeros(4)])
    add("max_unpool_index_out_of_range", "MaxUnpool", [zeros(1, 1, 2, 2), np.full((1, 1, 2, 2), 10**9, I)],
        kernel_shape=[2, 2], inspect_fails=False)
    add("roi_align_batch_index_out_of_range", "RoiAlign", [x, zeros(1, 4), ints(9)], inspect_fails=False)
    add("lrn_size_zero", "LRN", [x], size=0)
    add("depth_to_space_of_0", "DepthToSpace", [x], blocksize=0)
    add("depth_to_space_that_does_not_divide", "DepthToSpace", [x], blocksize=3)
    add("space_to_depth_of_a_negative_block", "SpaceToDepth", [x], blocksize=-2)
    add("grid_sample_of_wrong_ranks", "GridSample", [x, zeros(1, 2, 2)])
    add("col2im_blocks_that_do_not_fit", "Col2Im", [zeros(1, 5, 5), ints(5, 5), ints(2, 2)], opset=18)


def products(add):
    add("matmul_mismatch", "MatMul", [zeros(2, 3), zeros(4, 5)])
    add("matmul_of_scalars", "MatMul", [zeros(), zeros()])
    add("matmul_batch_mismatch", "MatMul", [zeros(2, 3, 4), zeros(3, 4, 5)])
    add("gemm_mismatch", "Gemm", [zeros(2, 3), zeros(4, 5)])
    add("gemm_of_rank_3", "Gemm", [zeros(2, 3, 4), zeros(4, 5)])
    add("gemm_bias_that_does_not_broadcast", "Gemm", [zeros(2, 3), zeros(3, 5), zeros(7)])
    for name, equation in {"unknown_label_on_the_right": "ij,jk->iz", "too_few_terms": "ij->ij", "junk": "i!,j?->",
                           "rank_mismatch": "ijk,jk->i", "two_arrows": "ij->jk->ik", "empty": "",
                           "label_twice_on_the_right": "ij,jk->ii", "dim_mismatch": "ij,ik->jk"}.items():
        add(f"einsum_{name}", "Einsum", [zeros(2, 3), zeros(3, 4)], equation=equation)
    add("det_of_a_rectangle", "Det", [zeros(2, 3)])
    add("trilu_of_a_vector", "Trilu", [zeros(3)])


def shapes(add):
    x = zeros(2, 3)
    add("reshape_that_does_not_fit", "Reshape", [x, ints(4, 4)])
    add("reshape_of_two_open_dims", "Reshape", [x, ints(-1, -1)])
    add("reshape_to_minus_2", "Reshape", [x, ints(-2, 3)])
    add("reshape_to_an_overflow", "Reshape", [x, ints(2**62, 2**62)])
    add("reshape_that_does_not_divide", "Reshape", [x, ints(4, -1)])
    add("reshape_zero_with_an_open_dim", "Reshape", [x, ints(0, -1)], allowzero=1)
    add("reshape_copies_a_dim_that_is_not_there", "Reshape", [x, ints(2, 3, 0)])
    add("reshape_by_a_matrix", "Reshape", [x, np.ones((2, 2), I)])
    add("transpose_perm_too_short", "Transpose", [x], perm=[0], mention=["perm"])
    add("transpose_perm_twice_the_same", "Transpose", [x], perm=[0, 0], mention=["perm|axis"])
    add("transpose_perm_out_of_range", "Transpose", [x], perm=[0, 5], mention=["perm|axis"])
    add("squeeze_of_a_dim_that_is_not_1", "Squeeze", [x, ints(1)])
    add("unsqueeze_twice_the_same_axis", "Unsqueeze", [x, ints(0, 0)])
    add("unsqueeze_axis_out_of_range", "Unsqueeze", [x, ints(9)])
    add("flatten_axis_out_of_range", "Flatten", [x], axis=5)
    add("concat_of_unequal_dims", "Concat", [x, zeros(2, 4)], axis=0)
    add("concat_of_unequal_ranks", "Concat", [x, zeros(2)], axis=0)
    add("concat_axis_out_of_range", "Concat", [x, x], axis=7)
    add("split_that_does_not_sum_up", "Split", [x, ints(1, 1)], axis=1, outputs=2)
    add("split_of_negative_parts", "Split", [x, ints(4, -1)], axis=1, outputs=2)
    add("split_into_a_wrong_number", "Split", [x, ints(1, 2)], axis=1, outputs=3)
    add("split_num_outputs_mismatch", "Split", [x], axis=1, opset=18, outputs=2, num_outputs=3)
    add("slice_step_zero", "Slice", [x, ints(0), ints(2), ints(0), ints(0)], mention=["step"])
    add("slice_axis_out_of_range", "Slice", [x, ints(0), ints(2), ints(5)])
    add("slice_axis_twice", "Slice", [x, ints(0, 0), ints(1, 1), ints(0, 0)])
    add("slice_unequal_lengths", "Slice", [x, ints(0, 0), ints(1)])
    add("expand_that_does_not_fit", "Expand", [x, ints(5, 5)])
    add("expand_to_a_negative_dim", "Expand", [x, ints(-1, 3)])
    add("tile_by_too_few", "Tile", [x, ints(2)])
    add("tile_by_a_negative", "Tile", [x, ints(2, -1)])
    add("pad_by_too_few", "Pad", [x, ints(1, 1)])
    add("pad_more_away_than_there_is", "Pad", [x, ints(0, -5, 0, 0)])
    add("pad_mode_unknown", "Pad", [x, ints(0, 0, 0, 0)], mode="mirror", mention=["mode"])
    add("pad_reflects_nothing", "Pad", [np.zeros((0, 3), F), ints(1, 0, 1, 0)], mode="reflect", inspect_fails=False)
    add("center_crop_pad_to_a_negative", "CenterCropPad", [x, ints(-4, 3)], opset=18)


def astronomic(strict_add):
    """Sizes that no machine has: refused before anything is allocated. Looking at such a model is harmless."""
    x, large = zeros(2, 3), ["memory|overflow|large|many"]
    add = functools.partial(strict_add, inspect_fails=False)
    add("expand_to_2_to_60", "Expand", [x, ints(2**58, 2, 3)], mention=large)
    add("expand_to_an_overflow", "Expand", [x, ints(2**62, 2**62, 2, 3)], mention=large)
    add("tile_by_2_to_40", "Tile", [x, ints(HUGE, HUGE)], mention=large)
    add("tile_by_a_million_twice", "Tile", [x, ints(10**6, 10**6)], mention=large)
    add("constant_of_shape_huge", "ConstantOfShape", [ints(HUGE, 1000)], mention=large)
    add("constant_of_shape_overflow", "ConstantOfShape", [ints(2**62, 2**62)], mention=large)
    add("constant_of_shape_negative", "ConstantOfShape", [ints(2, -3)])
    add("range_of_10_to_18", "Range", [np.array(0, I), np.array(10**18, I), np.array(1, I)], mention=large)
    add("range_over_all_of_64_bits", "Range", [np.array(-2**63, I), np.array(2**63 - 1, I), np.array(1, I)], mention=large)
    add("range_step_zero", "Range", [np.array(0, I), np.array(5, I), np.array(0, I)])
    add("range_of_nan", "Range", [np.array(0, np.float64), np.array(np.nan, np.float64), np.array(1, np.float64)])
    add("range_to_infinity", "Range", [np.array(0, np.float64), np.array(np.inf, np.float64), np.array(1, np.float64)])
    add("pad_by_2_to_40", "Pad", [x, ints(HUGE, HUGE, HUGE, HUGE)], mention=large)
    add("pad_by_2_to_62", "Pad", [x, ints(2**62, 2**62, 2**62, 2**62)], mention=large)
    add("one_hot_depth_huge", "OneHot", [ints(1, 2), np.array(HUGE * 1000, I), np.array([0, 1], F)], mention=large)
    add("one_hot_depth_negative", "OneHot", [ints(1, 2), np.array(-4, I), np.array([0, 1], F)])
    add("resize_to_2_to_40", "Resize", [zeros(1, 1, 4, 4), None, None, ints(1, 1, HUGE, HUGE)], mention=large)
    add("resize_by_10_to_30", "Resize", [zeros(1, 1, 4, 4), None, np.array([1, 1, 1e30, 1e30], F)])
    add("hann_window_huge", "HannWindow", [np.array(10**15, I)], mention=large)
    add("eye_like_huge", "EyeLike", [np.zeros((0, 0), F)], exit_code=[0, 2])
    add("random_normal_huge", "RandomNormal", [], shape=[HUGE, HUGE], mention=large)


def cases(bad):
    add = Operators(bad)
    schema(add)
    convolutions(add)
    products(add)
    shapes(add)
    astronomic(add)
