// Indices come from outside: a generated Gather looks at them before its code does.
#include "graph/text.h"
#include "runtime/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace attune {
namespace {

Tensor indices_of(std::initializer_list<int64_t> values) {
  Tensor tensor = Tensor::zeros(DType::i64, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.mutable_data<int64_t>());
  return tensor;
}

TEST(GeneratedGather, refuses_indices_out_of_range_and_goes_on) {
  SessionOptions options;
  options.providers = {"generated", "reference"};
  const Session session(parse_graph(R"(graph "g" {
  input %data : f32[3, 8000]
  input %at : i64[2]
  %y = Gather@13(%data, %at) "y"
  output %y
})"),
                        options);
  // Large enough to be worth compiling for.
  Tensor data = Tensor::zeros(DType::f32, {3, 8000});
  std::iota(data.mutable_data<float>(), data.mutable_data<float>() + data.count(), 0.0F);
  const std::vector<Tensor> right = {data, indices_of({2, -3})};
  if (session.plan(right)->steps.front().provider != "generated") GTEST_SKIP() << "nothing can be compiled here";
  for (const int64_t wrong : {3, -4}) try {
      session.run(std::vector<Tensor>{data, indices_of({0, wrong})});
      ADD_FAILURE() << wrong;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("out of range for a dim of 3"), std::string::npos) << error.what();
    }
  const std::vector<Tensor> found = session.run(right);
  const float* y = found.front().data<float>();
  EXPECT_EQ((std::vector<float>{y[0], y[7999], y[8000], y[15999]}), (std::vector<float>{16000, 23999, 0, 7999}));
}

}  // namespace
}  // namespace attune
