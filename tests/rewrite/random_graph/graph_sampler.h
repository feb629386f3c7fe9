// A random graph in the making. Every node is run by its reference kernel as soon as it is added, so what the sampler
// holds is always valid, and families of operators can look at actual dims and contents when they choose.
#pragma once

#include "base/random.h"
#include "graph/graph.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace attune::test {

/// A choice that cannot be made here: a family gives up, what it added so far stays.
struct Rejected {};

class GraphSampler {
 public:
  explicit GraphSampler(uint64_t seed);

  Random& random() { return random_; }
  int opset() const { return opset_; }
  Graph& graph() { return graph_; }
  const Tensor& tensor(ValueId id) const { return tensors_.at(id); }
  const Dims& dims(ValueId id) const { return tensor(id).dims(); }
  int64_t rank(ValueId id) const { return tensor(id).rank(); }

  // Choices
  int64_t below(int64_t n) { return random_.below(n); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(double share) { return random_.uniform() < share; }
  template <class T> T one_of(std::initializer_list<T> list) {
    return list.begin()[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  template <class T> const T& one_of(const std::vector<T>& list) {
    if (list.empty()) throw Rejected{};
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  /// A value that is not constant, late ones more often than early ones.
  ValueId pick(const std::function<bool(const Tensor&)>& fits);
  ValueId pick_float(int64_t least_rank = 0, int64_t most_rank = 6);
  /// A map of [n, c, h, w], or sometimes [n, c, w].
  ValueId pick_map();
  int64_t pick_axis(ValueId id);

  // Constants, sometimes one that exists already
  ValueId normal(Dims dims, double deviation);
  ValueId uniform(Dims dims, double low, double high);
  ValueId number(double value, Dims dims = {});
  ValueId integers(std::vector<int64_t> values);
  ValueId numbers(std::vector<float> values);
  /// The dims of a scalar constant as exporters write them: none, or some ones.
  Dims scalar_dims(ValueId beside);

  // Nodes
  ValueId add_input(Dims dims, DType dtype = DType::f32);
  ValueId apply(const char* op, std::vector<ValueId> inputs, Attributes attributes = {});
  struct More {
    size_t outputs = 1;
    int version = 0;  // 0: the graph's
  };
  /// Throws Rejected when the operator refuses, or gives what later nodes could not use: too large, or not finite.
  std::vector<ValueId> apply(const char* op, std::vector<ValueId> inputs, Attributes attributes, More more);
  ValueId reduce(const char* op, ValueId x, std::vector<int64_t> axes, int64_t keep);
  ValueId squeeze(ValueId x, std::vector<int64_t> axes);
  ValueId unsqueeze(ValueId x, std::vector<int64_t> axes);
  ValueId reshape(ValueId x, std::vector<int64_t> to);
  ValueId clip(ValueId x, double low, double high);
  /// Adds an existing node once more.
  void repeat_node();
  void need(bool holds) const {
    if (!holds) throw Rejected{};
  }
  void need_opset(int opset) const { need(opset_ >= opset); }

  /// Chooses outputs: what nothing reads, and a few values in the middle.
  void finish();
  std::vector<Tensor> input_tensors() const;

 private:
  std::vector<Tensor> run(const Node& node, const std::function<const Tensor*(ValueId)>& find) const;
  ValueId keep(Tensor tensor);

  Random random_;
  int opset_;
  Graph graph_;
  std::map<ValueId, Tensor> tensors_;     // of everything, constants too
  std::vector<ValueId> live_;             // inputs and outputs of nodes, in order
  std::vector<ValueId> spare_constants_;  // that may be used once more
};

/// Adds one or a few nodes of a family.
struct Family {
  const char* name;
  int weight;
  void (*sample)(GraphSampler&);
};

std::vector<Family> convolution_families();
std::vector<Family> elementwise_families();
std::vector<Family> movement_families();
std::vector<Family> product_families();
std::vector<Family> sequence_families();
std::vector<Family> control_families();

}  // namespace attune::test
