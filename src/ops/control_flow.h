// What If, Loop and Scan share: merging the types of alternatives, stacking the elements that a body yields.
#pragma once

#include "ops/context.h"

#include <cstddef>
#include <vector>

namespace attune::control_flow {

/// What is true of both: dims that are provably equal are kept, others unknown; nothing when the ranks differ.
std::optional<Shape> merge_shapes(const std::optional<Shape>& a, const std::optional<Shape>& b);

/// The element type that both agree on; fails when they contradict each other.
DType merge_dtypes(DType a, DType b, const OpContext& context, int output);

/// Types of a body's outputs when its first `carried` explicit inputs after `first_input` are fed back from its outputs
/// after `first_output`: shapes that change from one iteration to the next are widened until they are stable.
/// `inputs` are the types of the first iteration and become those of any iteration.
std::vector<ValueType> infer_carried(InferContext& context, const Graph& body, std::vector<ValueType>& inputs,
                                     size_t first_input, size_t first_output, size_t carried);

/// The one boolean that a condition holds.
bool condition_of(const Tensor& tensor, const OpContext& context, std::string_view what);

/// `shape` with one more dim at `axis`, which may be negative.
std::optional<Shape> insert_dim(const std::optional<Shape>& shape, int64_t axis, const Dim& dim,
                                const OpContext& context);

enum class StackOrder { append, prepend };

/// Gathers equally shaped tensors along a new axis without knowing beforehand how many will come.
class Stack {
 public:
  void push(const Tensor& element, const OpContext& context);
  int64_t size() const { return count_; }
  /// The stacked tensor, padded with zeros to `length` where given. `declared` is the body's own statement of the
  /// element's type: it tells the type of a stack that stayed empty.
  Tensor finish(int64_t axis, StackOrder order, const Value& declared, const OpContext& context,
                std::optional<int64_t> length = std::nullopt) const;

 private:
  std::vector<std::byte> bytes_;  // grows by doubling: a loop may end long before its trip count
  DType dtype_ = DType::undefined;
  Dims dims_;
  int64_t count_ = 0;
};

/// The part of `tensor` at `index` of `axis`, without that axis.
Tensor slice_at(const Tensor& tensor, int64_t axis, int64_t index);

void infer_scan(InferContext& context);
void run_scan(KernelContext& context);

}  // namespace attune::control_flow
