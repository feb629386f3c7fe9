// What an operator sees of its node: attributes and arity (OpContext), types and known contents of its inputs while a
// graph is analysed or about to run (InferContext), tensors when it runs (KernelContext).
#pragma once

#include "graph/graph.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace attune {

/// Attribute access with errors that name the node.
class OpContext {
 public:
  explicit OpContext(const Node& node) : node_(&node) {}
  virtual ~OpContext() = default;

  const Node& node() const { return *node_; }
  int version() const { return node_->version; }
  int input_count() const { return static_cast<int>(node_->inputs.size()); }
  int output_count() const { return static_cast<int>(node_->outputs.size()); }
  bool has_input(int i) const { return i < input_count() && node_->inputs[static_cast<size_t>(i)] != kNoValue; }
  bool wants_output(int i) const { return i < output_count() && node_->outputs[static_cast<size_t>(i)] != kNoValue; }

  bool has_attr(std::string_view name) const { return node_->attributes.find(name) != node_->attributes.end(); }
  // Required attributes: an error when missing or of another kind.
  int64_t attr_int(std::string_view name) const;
  float attr_float(std::string_view name) const;
  const std::string& attr_string(std::string_view name) const;
  const std::vector<int64_t>& attr_ints(std::string_view name) const;
  const std::vector<float>& attr_floats(std::string_view name) const;
  const std::vector<std::string>& attr_strings(std::string_view name) const;
  const Tensor& attr_tensor(std::string_view name) const;
  const Graph& attr_graph(std::string_view name) const;
  // Optional attributes: the fallback when missing, an error when of another kind.
  int64_t attr_int(std::string_view name, int64_t fallback) const;
  float attr_float(std::string_view name, float fallback) const;
  std::string attr_string(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> attr_ints(std::string_view name, std::vector<int64_t> fallback) const;
  std::vector<float> attr_floats(std::string_view name, std::vector<float> fallback) const;

  /// Throws UserError "op 'Conv' (node 'n1'): …".
  template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    fail_text(fmt::format(text, std::forward<Args>(args)...));
  }
  /// Throws UnsupportedError: the model is valid but this case is not implemented.
  template <class... Args> [[noreturn]] void unsupported(fmt::format_string<Args...> text, Args&&... args) const {
    unsupported_text(fmt::format(text, std::forward<Args>(args)...));
  }
  /// Maps a negative axis into [0, rank); fails when out of range.
  int64_t axis_in_range(int64_t axis, int64_t rank) const;

 private:
  [[noreturn]] void fail_text(const std::string& text) const;
  [[noreturn]] void unsupported_text(const std::string& text) const;
  const Attribute* find_attr(std::string_view name) const;
  template <class T> const T* attr_as(std::string_view name, std::string_view kind) const;
  const Node* node_;
};

struct ValueType {
  DType dtype = DType::undefined;
  std::optional<Shape> shape;  // nothing: unknown rank
};

/// Shape inference. The same function serves the static analysis of a graph (symbolic dims, few contents known) and the
/// executor (everything known), so every run of a model also tests it.
class InferContext : public OpContext {
 public:
  using OpContext::OpContext;
  virtual const ValueType& input(int i) const = 0;
  DType dtype(int i) const { return input(i).dtype; }
  const std::optional<Shape>& shape(int i) const { return input(i).shape; }
  /// Contents of input i when they are known, else nullptr.
  virtual const Tensor* constant(int i) const = 0;
  /// Contents of a small integer input (rank 0 or 1) with symbolic elements allowed; nothing when not known. An element
  /// may be an unknown Dim.
  virtual std::optional<std::vector<Dim>> content(int i) const = 0;
  /// content(i) when every element is a number. Use it for axes, pads, splits, repeats…
  std::optional<std::vector<int64_t>> known_ints(int i) const;
  /// Attribute `name` or, from the opset that moved it, input i. Nothing: neither given, or contents not known
  /// (distinguish with has_input(i)).
  std::optional<std::vector<int64_t>> ints_from(std::string_view attribute, int i) const;

  virtual void set_output(int i, DType dtype, std::optional<Shape> shape) = 0;
  /// States the contents of a small integer output for symbolic shape arithmetic (fully constant inputs are folded by
  /// running the kernel; this is only for what has symbols in it).
  virtual void set_content(int i, std::vector<Dim> content) = 0;
  /// Types of a subgraph's outputs for the given types of its inputs (If, Loop, Scan).
  virtual std::vector<ValueType> infer_subgraph(const Graph& graph, std::span<const ValueType> inputs) = 0;

  void copy_type(int from, int to) { set_output(to, input(from).dtype, input(from).shape); }
};

/// Running one node. Input tensors are never written; outputs whose shape inference could tell are allocated on first
/// use, the others by the kernel.
class KernelContext : public OpContext {
 public:
  using OpContext::OpContext;
  virtual const Tensor& input(int i) const = 0;
  /// The output as inferred: allocated (uninitialised) on first use.
  virtual Tensor& output(int i) = 0;
  /// For shapes that only the data decide.
  virtual Tensor& allocate(int i, DType dtype, Dims dims) = 0;
  /// The output shares the storage of another tensor (Reshape, Identity, If …).
  virtual void set_output(int i, Tensor tensor) = 0;
  virtual std::vector<Tensor> run_subgraph(const Graph& graph, std::span<const Tensor> inputs) = 0;
  /// Seed for random operators without a seed attribute; differs by node and by run seed.
  virtual uint64_t random_seed() const = 0;

  /// Contents of an integer input of i64 or i32 as a vector.
  std::vector<int64_t> ints(int i) const;
  /// Attribute `name` or, from the opset that moved it, input i; nothing when neither is given.
  std::optional<std::vector<int64_t>> ints_from(std::string_view attribute, int i) const;
};

}  // namespace attune
