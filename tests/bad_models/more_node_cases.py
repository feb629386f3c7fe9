"""More nodes with wrong inputs: indices, normalisation, resizing, quantization, recurrent networks, contrib operators."""

import numpy as np
from onnx import TensorProto

from node_cases import B, F, HUGE, I, Operators, ints, zeros


def indices(add):
    x = zeros(2, 3)
    add("gather_index_out_of_range", "Gather", [x, ints(0, 9)], inspect_fails=False)
    add("gather_index_too_negative", "Gather", [x, ints(-3)], inspect_fails=False)
    add("gather_axis_out_of_range", "Gather", [x, ints(0)], axis=4)
    add("gather_by_floats", "Gather", [x, zeros(2)])
    add("gather_of_a_scalar", "Gather", [zeros(), ints(0)])
    add("gather_elements_of_unequal_ranks", "GatherElements", [x, ints(0, 1)])
    add("gather_elements_index_out_of_range", "GatherElements", [x, np.full((2, 3), 99, I)], axis=0, inspect_fails=False)
    add("gather_nd_index_too_deep", "GatherND", [x, np.zeros((1, 5), I)])
    add("gather_nd_index_out_of_range", "GatherND", [x, np.full((1, 2), 99, I)], inspect_fails=False)
    add("gather_nd_batch_dims_too_many", "GatherND", [x, np.zeros((2, 1), I)], batch_dims=5)
    add("scatter_nd_updates_of_wrong_shape", "ScatterND", [x, np.zeros((1, 1), I), zeros(4)])
    add("scatter_nd_index_out_of_range", "ScatterND", [x, np.full((1, 1), 99, I), zeros(1, 3)], inspect_fails=False)
    add("scatter_elements_index_out_of_range", "ScatterElements", [x, np.full((1, 3), -99, I), zeros(1, 3)], axis=0,
        inspect_fails=False)
    add("scatter_elements_of_unequal_shapes", "ScatterElements", [x, np.zeros((1, 3), I), zeros(2, 2)], axis=0)
    add("scatter_elements_reduction_unknown", "ScatterElements", [x, np.zeros((1, 3), I), zeros(1, 3)], axis=0,
        opset=18, reduction="median")
    add("top_k_of_more_than_there_is", "TopK", [x, ints(9)], outputs=2)
    add("top_k_of_negative", "TopK", [x, ints(-1)], outputs=2)
    add("top_k_of_2_to_62", "TopK", [x, ints(2**62)], outputs=2)
    add("arg_max_axis_out_of_range", "ArgMax", [x], axis=3)
    add("compress_by_floats", "Compress", [x, zeros(2)], axis=0)
    add("compress_axis_out_of_range", "Compress", [x, np.ones(2, B)], axis=6)
    add("nms_of_wrong_ranks", "NonMaxSuppression", [zeros(4), zeros(1, 1, 4)])
    add("nms_of_unequal_batches", "NonMaxSuppression", [zeros(2, 4, 4), zeros(1, 1, 4)])
    add("reverse_sequence_longer_than_the_input", "ReverseSequence", [x, ints(9, 9, 9)], batch_axis=1, time_axis=0,
        inspect_fails=False)
    add("cum_sum_axis_out_of_range", "CumSum", [x, np.array(5, I)])
    add("unique_axis_out_of_range", "Unique", [x], axis=5)
    add("nll_loss_target_out_of_range", "NegativeLogLikelihoodLoss", [x, ints(0, 77)], inspect_fails=False)
    add("tf_idf_of_unequal_lengths", "TfIdfVectorizer", [ints(1, 2, 3)], max_gram_length=2, max_skip_count=0,
        min_gram_length=1, mode="TF", ngram_counts=[0, 900], ngram_indexes=[0], pool_int64s=[1, 2], inspect_fails=False)


def reductions(add):
    x = zeros(2, 3)
    add("reduce_sum_axis_out_of_range", "ReduceSum", [x, ints(7)])
    add("reduce_mean_axis_out_of_range", "ReduceMean", [x], axes=[-9])
    add("softmax_axis_out_of_range", "Softmax", [x], axis=2)
    add("hardmax_axis_out_of_range", "Hardmax", [x], axis=-3)
    add("layer_norm_axis_out_of_range", "LayerNormalization", [x, zeros(3)], axis=4)
    add("layer_norm_scale_of_wrong_shape", "LayerNormalization", [x, zeros(5)], inspect_fails=False)
    image = zeros(1, 4, 5, 5)
    add("batch_norm_scale_of_wrong_length", "BatchNormalization", [image, zeros(3), zeros(4), zeros(4), zeros(4)], inspect_fails=False)
    add("batch_norm_without_variance", "BatchNormalization", [image, zeros(4), zeros(4), zeros(4)])
    add("instance_norm_scale_of_wrong_length", "InstanceNormalization", [image, zeros(3), zeros(3)], inspect_fails=False)
    add("group_norm_of_zero_groups", "GroupNormalization", [image, zeros(4), zeros(4)], opset=21, num_groups=0)
    add("group_norm_that_does_not_divide", "GroupNormalization", [image, zeros(4), zeros(4)], opset=21, num_groups=3)
    add("lp_normalization_axis_out_of_range", "LpNormalization", [x], axis=9)
    add("lp_normalization_of_order_0", "LpNormalization", [x], p=0, exit_code=[2, 3])


def resizing(add):
    image = zeros(1, 1, 4, 4)
    for name, scale in {"nan": np.nan, "zero": 0.0, "negative": -1.0, "infinite": np.inf}.items():
        add(f"resize_scale_{name}", "Resize", [image, None, np.array([1, 1, scale, 2], F)])
    add("resize_scales_too_few", "Resize", [image, None, np.array([2, 2], F)])
    add("resize_by_nothing", "Resize", [image])
    add("resize_by_scales_and_sizes", "Resize", [image, None, np.array([1, 1, 2, 2], F), ints(1, 1, 8, 8)])
    add("resize_to_a_negative_size", "Resize", [image, None, None, ints(1, 1, -8, 8)])
    add("resize_mode_unknown", "Resize", [image, None, np.array([1, 1, 2, 2], F)], mode="lanczos", mention=["mode"])
    add("resize_nearest_mode_unknown", "Resize", [image, None, np.array([1, 1, 2, 2], F)], nearest_mode="up", inspect_fails=False)
    add("resize_axes_out_of_range", "Resize", [image, None, np.array([2, 2], F)], opset=18, axes=[2, 9])


def quantization(add):
    x = zeros(2, 3)
    add("quantize_axis_out_of_range", "QuantizeLinear", [x, np.ones(3, F), np.zeros(3, np.uint8)], axis=7)
    add("quantize_scale_of_wrong_length", "QuantizeLinear", [x, np.ones(5, F), np.zeros(5, np.uint8)], axis=1)
    add("quantize_zero_point_of_wrong_shape", "QuantizeLinear", [x, np.ones(3, F), np.zeros(2, np.uint8)], axis=1)
    add("dequantize_of_floats", "DequantizeLinear", [x, np.ones((), F)], exit_code=[2, 3])
    add("dequantize_block_that_does_not_fit", "DequantizeLinear", [np.zeros((2, 6), np.int8), np.ones((2, 2), F)],
        opset=21, axis=1, block_size=2)
    add("dequantize_negative_block", "DequantizeLinear", [np.zeros((2, 6), np.int8), np.ones((2, 2), F)],
        opset=21, axis=1, block_size=-3)
    add("qlinear_matmul_mismatch", "QLinearMatMul",
        [np.zeros((2, 3), np.uint8), np.ones((), F), np.uint8(0), np.zeros((4, 5), np.uint8), np.ones((), F), np.uint8(0),
         np.ones((), F), np.uint8(0)])
    add("cast_to_an_unknown_type", "Cast", [x], to=99, exit_code=[2, 3], mention=["99"])
    add("cast_to_undefined", "Cast", [x], to=0, exit_code=[2, 3])
    add("cast_to_string", "Cast", [x], to=TensorProto.STRING, exit_code=3)
    add("bit_shift_without_direction", "BitShift", [np.zeros(3, np.uint8), np.zeros(3, np.uint8)], mention=["direction"])
    add("mod_by_zero", "Mod", [ints(1, 2), ints(0, 0)], exit_code=[0, 2], inspect_fails=False)
    add("integer_division_by_zero", "Div", [ints(1, 2), ints(0, 0)], exit_code=[0, 2], inspect_fails=False)
    add("integer_division_overflow", "Div", [ints(-2**63), ints(-1)], exit_code=[0, 2], inspect_fails=False)


def recurrent(add):
    x = zeros(5, 2, 3)  # steps, batch, features
    w, r, b = zeros(1, 16, 3), zeros(1, 16, 4), zeros(1, 32)
    add("lstm_without_hidden_size", "LSTM", [x, w, zeros(1, 16, 9)], exit_code=2)
    add("lstm_weights_of_wrong_shape", "LSTM", [x, zeros(1, 15, 3), r], hidden_size=4)
    add("lstm_features_mismatch", "LSTM", [x, zeros(1, 16, 7), r], hidden_size=4)
    add("lstm_hidden_size_unlike_the_weights", "LSTM", [x, w, r], hidden_size=5)
    add("lstm_hidden_size_negative", "LSTM", [x, w, r], hidden_size=-4)
    add("lstm_bias_of_wrong_shape", "LSTM", [x, w, r, zeros(1, 31)], hidden_size=4)
    add("lstm_directions_mismatch", "LSTM", [x, w, r, b], hidden_size=4, direction="bidirectional")
    add("lstm_direction_unknown", "LSTM", [x, w, r, b], hidden_size=4, direction="sideways", mention=["direction"])
    add("lstm_activation_unknown", "LSTM", [x, w, r, b], hidden_size=4, activations=["Sigmoid", "Wave", "Tanh"],
        mention=["Wave"])
    add("lstm_activations_too_few", "LSTM", [x, w, r, b], hidden_size=4, activations=["Sigmoid"])
    add("lstm_sequence_longer_than_the_input", "LSTM", [x, w, r, b, np.array([5, 9], np.int32)], hidden_size=4,
        inspect_fails=False)
    add("lstm_initial_state_of_wrong_shape", "LSTM", [x, w, r, b, None, zeros(1, 3, 4)], hidden_size=4)
    add("gru_weights_of_wrong_shape", "GRU", [x, zeros(1, 11, 3), zeros(1, 12, 4)], hidden_size=4)
    add("rnn_of_rank_2", "RNN", [zeros(5, 3), zeros(1, 4, 3), zeros(1, 4, 4)], hidden_size=4)


def signals(add):
    add("dft_axis_out_of_range", "DFT", [zeros(1, 8, 1)], axis=9)
    add("dft_of_a_negative_length", "DFT", [zeros(1, 8, 1), np.array(-3, I)])
    add("dft_of_2_to_50", "DFT", [zeros(1, 8, 1), np.array(2**50, I)], inspect_fails=False)
    add("stft_frame_step_zero", "STFT", [zeros(1, 64, 1), np.array(0, I), zeros(16)])
    add("stft_frame_longer_than_the_signal", "STFT", [zeros(1, 8, 1), np.array(4, I), zeros(16)])
    add("mel_weights_of_negative_bins", "MelWeightMatrix",
        [np.array(-8, I), np.array(16, I), np.array(8000, I), np.array(0, F), np.array(4000, F)])
    add("image_decoder_of_noise", "ImageDecoder", [np.arange(64, dtype=np.uint8)], opset=20, exit_code=[2, 3],
        inspect_fails=False)
    add("image_decoder_of_a_huge_bmp", "ImageDecoder", [huge_bmp()], opset=20, exit_code=[2, 3], inspect_fails=False)
    add("affine_grid_of_a_huge_size", "AffineGrid", [zeros(1, 2, 3), ints(1, 1, HUGE, HUGE)], opset=20)
    add("attention_of_rank_2", "Attention", [zeros(2, 3), zeros(2, 3), zeros(2, 3)], opset=23)
    add("attention_heads_that_do_not_divide", "Attention", [zeros(1, 4, 10), zeros(1, 4, 10), zeros(1, 4, 10)], opset=23,
        q_num_heads=3, kv_num_heads=3)
    add("rotary_embedding_of_an_odd_head", "RotaryEmbedding", [zeros(1, 2, 4, 5), zeros(1, 4, 2), zeros(1, 4, 2)], opset=23)
    add("contrib_attention_without_heads", "Attention", [zeros(1, 4, 8), zeros(8, 24), zeros(24)],
        domain="com.microsoft", mention=["num_heads"])
    add("contrib_skip_layer_norm_of_wrong_shape", "SkipLayerNormalization", [zeros(1, 4, 8), zeros(1, 4, 9), zeros(8)],
        domain="com.microsoft")


def huge_bmp():
    """A bitmap header that declares 60000 x 60000 pixels and brings none."""
    header = b"BM" + (54).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little")
    header += (40).to_bytes(4, "little") + (60000).to_bytes(4, "little") * 2
    header += (1).to_bytes(2, "little") + (24).to_bytes(2, "little") + bytes(24)
    return np.frombuffer(header, np.uint8)


def cases(bad):
    add = Operators(bad)
    indices(add)
    reductions(add)
    resizing(add)
    quantization(add)
    recurrent(add)
    signals(add)
