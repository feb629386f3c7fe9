// Terse definitions of graphs: nodes, literals and parameters under the names that PyTorch's exporter would give them.
#pragma once

#include "graph/graph.h"
#include "zoo/weights.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune::zoo {

inline constexpr int kOpset = 17;

class GraphBuilder {
 public:
  GraphBuilder(std::string name, uint64_t seed);

  /// Puts a module's name, such as "layer1.0", before the names of what is added while it lives.
  class Scope {
   public:
    Scope(GraphBuilder& builder, std::string_view module);
    ~Scope() { builder_.path_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    GraphBuilder& builder_;
    size_t length_;
  };
  [[nodiscard]] Scope scope(std::string_view module) { return Scope(*this, module); }

  ValueId input(std::string name, DType dtype, Shape shape) { return graph_.add_input(std::move(name), dtype, shape); }
  /// Makes a value an output of the graph and gives it that name.
  void output(ValueId value, std::string name, DType dtype, Shape shape);
  Graph finish() &&;

  /// A trainable parameter drawn at random, named "<scope>.<name>".
  ValueId parameter(std::string_view name, Dims dims, const Init& init);
  /// The tensor that parameter() would make, to be changed before it is added with named().
  Tensor draw(std::string_view name, Dims dims, const Init& init) const;
  /// A constant named "<scope>.<name>": a parameter or a buffer.
  ValueId named(std::string_view name, Tensor tensor);
  /// A literal, named after its place only.
  ValueId literal(Tensor tensor);
  ValueId number(float value) { return literal(Tensor::scalar(value)); }
  ValueId index(int64_t value) { return literal(Tensor::scalar(value)); }
  ValueId ints(std::initializer_list<int64_t> values) {
    return literal(Tensor::vector({values.begin(), values.size()}));
  }

  ValueId op(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> op(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, int outputs);

  ValueId relu(ValueId x) { return op("Relu", {x}); }
  ValueId sigmoid(ValueId x) { return op("Sigmoid", {x}); }
  // Two operands in braces are evaluated, and so numbered and named, from left to right on every compiler.
  using Pair = std::array<ValueId, 2>;
  ValueId add(const Pair& p) { return op("Add", {p[0], p[1]}); }
  ValueId mul(const Pair& p) { return op("Mul", {p[0], p[1]}); }
  ValueId matmul(const Pair& p) { return op("MatMul", {p[0], p[1]}); }
  ValueId softmax(ValueId x) { return op("Softmax", {x}, {{"axis", int64_t{-1}}}); }
  ValueId concat(std::vector<ValueId> parts, int64_t axis) { return op("Concat", std::move(parts), {{"axis", axis}}); }
  ValueId reshape(ValueId x, std::initializer_list<int64_t> dims) { return op("Reshape", {x, ints(dims)}); }
  ValueId transpose(ValueId x, std::vector<int64_t> order) {
    return op("Transpose", {x}, {{"perm", std::move(order)}});
  }
  /// {data, indices}
  ValueId gather(const Pair& p, int64_t axis) { return op("Gather", {p[0], p[1]}, {{"axis", axis}}); }
  std::vector<ValueId> split(ValueId x, std::initializer_list<int64_t> sizes, int64_t axis);
  /// One dimension of x as a vector of one element, for shape arithmetic.
  ValueId size_of(ValueId x, int64_t axis);

 private:
  std::string parameter_name(std::string_view name) const;
  std::string node_name(std::string_view op);  // unique

  Graph graph_;
  uint64_t seed_;
  std::string path_;                        // "layer1.0.conv1"
  std::map<std::string, int> used_;         // node names → how often
  std::map<ValueId, std::string> renamed_;  // outputs
};

}  // namespace attune::zoo
