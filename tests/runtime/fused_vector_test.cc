// attune::FusedVector in sessions: one generated kernel where it pays, its parts where nothing else than the reference
// would run it.
#include "graph/text.h"
#include "providers/providers.h"
#include "runtime/random_inputs.h"
#include "runtime/session.h"
#include "tensor_compare.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

constexpr const char* kLarge = R"(graph "g" {
  input %x : f32[1, 64, 40, 40]
  input %r : f32[1, 64, 40, 40]
  input %scale : f32[64, 1, 1]
  const %half : f32[] = [0.5]
  const %floor : f32[] = [-0.25]
  %sum = Add@14(%x, %r) "sum"
  %scaled = Mul@14(%sum, %scale) "scaled"
  %halved = Mul@14(%scaled, %half) "halved"
  %low = Clip@13(%halved, %floor) "low"
  %y = Tanh@13(%low) "y"
  output %y
  output %scaled
})";
constexpr const char* kSmall = R"(graph "g" {
  input %x : f32[2, 5]
  input %r : f32[2, 5]
  %sum = Add@14(%x, %r) "sum"
  %y = Tanh@13(%sum) "y"
  output %y
})";

struct Outcome {
  int chains = 0, by_reference = 0;
};

Outcome run(const char* text, const SessionOptions& options) {
  const Graph graph = parse_graph(text);
  const auto inputs = random_inputs(graph, {}, 3);
  const Session session(graph, options);
  const auto expected = ReferenceExecutor(graph).run(inputs), actual = session.run(inputs);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(test::compare(actual[i], expected[i], {1e-5, 1e-5}), "");
  Outcome outcome;
  for (const Step& step : session.plan(inputs)->steps) {
    outcome.chains += step.workload.op == "FusedVector";
    outcome.by_reference += step.provider == "reference";
  }
  return outcome;
}

bool can_compile() {
  const Workload chain = [] {
    Workload workload;
    workload.domain = "attune";
    workload.op = "FusedVector";
    workload.version = 1;
    workload.attributes = {{"steps", std::vector<std::string>{"Relu x0", "Exp t0"}}};
    workload.inputs = {TensorSpec{DType::f32, {64}, Layout::plain, false}};
    workload.outputs = workload.inputs;
    return workload;
  }();
  return std::holds_alternative<Offer>(require_provider("generated").offer(chain));
}

TEST(FusedVector, is_one_generated_kernel_where_it_is_large) {
  if (!can_compile()) GTEST_SKIP() << "this build compiles no kernels";
  const Outcome outcome = run(kLarge, {});
  EXPECT_EQ(outcome.chains, 1);
  EXPECT_EQ(outcome.by_reference, 0);
}

TEST(FusedVector, is_taken_apart_where_compiling_does_not_pay) { EXPECT_EQ(run(kSmall, {}).chains, 0); }

TEST(FusedVector, is_taken_apart_for_libraries_that_have_the_parts) {
  const auto all = providers();
  if (std::ranges::none_of(all, [](const Provider* provider) { return provider->name() == "onednn"; }))
    GTEST_SKIP() << "this build has no library";
  SessionOptions options;
  options.providers = {"onednn"};
  const Outcome outcome = run(kLarge, options);
  EXPECT_EQ(outcome.chains, 0);
  EXPECT_EQ(outcome.by_reference, 0);
}

}  // namespace
}  // namespace attune
