// A workload seen as a matrix product: matrix products themselves, with weights packed ahead where they are constant,
// and convolutions in channels-last order with their gradients by data.
#pragma once

#include "codegen/cube/product.h"
#include "kernel/provider.h"
#include "ops/conv_shape.h"

#include <optional>
#include <variant>
#include <vector>

namespace attune::generated {

struct ProductProblem {
  cube::ProductShape shape;
  cube::Epilogue epilogue;
  std::optional<ConvGeometry> conv;  // nothing: a matrix product
  /// A gradient by data: `conv` is the convolution of the result's gradient with mirrored filters, whose inputs and
  /// outputs have changed places.
  bool mirrored = false;
  int64_t merged = 1;  // taps side by side that make one piece of `depth` elements, zeros after each
  /// Of a mirrored problem that meets some taps of the filter only: which ones, in the order of its own, and of how
  /// many. Empty: all, the last first.
  std::vector<int64_t> filter_taps;
  int64_t filter_size = 0;
};

/// The problem, or why the workload is none.
std::variant<ProductProblem, Refusal> product_problem(const Workload& workload);

/// The product that a convolution in channels-last order is, of elements of src's type; its epilogue is the caller's.
std::variant<ProductProblem, Refusal> convolution_problem(ConvGeometry geometry, const TensorSpec& src);

/// A product whose operands may both change from run to run, without the epilogue's steps; and whether the workload is
/// of an operator that is one.
std::variant<ProductProblem, Refusal> open_product_problem(const Workload& workload);
bool is_open_product(const Workload& workload);

/// How the steps of a node's epilogue spread over its result; also serves depthwise convolution. `bias` is the input
/// that holds a convolution's bias or what a Gemm adds, -1 for operators without one.
std::variant<cube::Epilogue, Refusal> cube_epilogue(const Workload& workload, int bias);

/// Whether the workload is a Conv or FusedConv; the gradient of one by its data; a MatMul or FusedMatMul.
bool is_conv(const Workload& workload);
bool is_data_gradient(const Workload& workload);
bool is_matmul(const Workload& workload);

/// Weights in the order that the kernels read them.
Tensor pack_vector_weights(const ProductProblem& problem, const cube::VectorSchedule& schedule, const Tensor& weights);
struct TilePanels {
  int64_t columns = 0;                    // of a panel
  int64_t step_depth = cube::kTileDepth;  // two for each row of a tile of weights
};
Tensor pack_tile_weights(const ProductProblem& problem, const TilePanels& panels, const Tensor& weights);
/// Where the pieces of each row begin; empty() for rows at equal distances.
Tensor row_table(const ProductProblem& problem, int64_t tile_rows);

}  // namespace attune::generated
