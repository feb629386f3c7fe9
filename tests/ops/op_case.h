// Runs one operator through its inference and reference kernel, for tests: OpCase("Relu").input(x).run()[0].
#pragma once

#include "graph/graph.h"
#include "ops/run_node.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

namespace attune::test {

inline Tensor f32(Dims dims, std::initializer_list<float> values) {
  return Tensor::from<float>(std::move(dims), std::span<const float>(values.begin(), values.size()));
}
inline Tensor i64(Dims dims, std::initializer_list<int64_t> values) {
  return Tensor::from<int64_t>(std::move(dims), std::span<const int64_t>(values.begin(), values.size()));
}

class OpCase {
 public:
  explicit OpCase(std::string op, int version = 21, std::string domain = "") {
    node_.name = "case";
    node_.op = std::move(op);
    node_.domain = std::move(domain);
    node_.version = version;
    node_.outputs = {0};
  }
  OpCase& input(Tensor tensor) {
    node_.inputs.push_back(static_cast<ValueId>(tensors_.size()));
    tensors_.push_back(std::move(tensor));
    return *this;
  }
  OpCase& no_input() {
    node_.inputs.push_back(kNoValue);
    tensors_.emplace_back();
    return *this;
  }
  OpCase& attr(const std::string& name, Attribute value) {
    node_.attributes[name] = std::move(value);
    return *this;
  }
  OpCase& outputs(int count) {
    node_.outputs.clear();
    for (int i = 0; i < count; ++i) node_.outputs.push_back(i);
    return *this;
  }
  std::vector<Tensor> run(const RunNodeOptions& options = {}) const {
    std::vector<const Tensor*> inputs;
    for (const Tensor& tensor : tensors_) inputs.push_back(tensor.empty() ? nullptr : &tensor);
    return run_node(node_, inputs, options);
  }

 private:
  Node node_;
  std::vector<Tensor> tensors_;
};

inline void expect_near(const Tensor& actual, const Tensor& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_EQ(actual.dims(), expected.dims());
  if (actual.dtype() == DType::f32) {
    for (int64_t i = 0; i < actual.count(); ++i) {
      const float a = actual.data<float>()[i], e = expected.data<float>()[i];
      if (std::isnan(e))
        EXPECT_TRUE(std::isnan(a)) << "element " << i;
      else
        EXPECT_NEAR(a, e, tolerance * std::max(1.0f, std::fabs(e))) << "element " << i;
    }
    return;
  }
  const auto* a = reinterpret_cast<const uint8_t*>(actual.bytes());
  const auto* e = reinterpret_cast<const uint8_t*>(expected.bytes());
  for (int64_t i = 0; i < actual.size_bytes(); ++i) ASSERT_EQ(a[i], e[i]) << "byte " << i;
}

}  // namespace attune::test
