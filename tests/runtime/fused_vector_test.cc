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

TEST(FusedVector, has_the_type_of_what_it_chooses_between) {
  // Of two numbers none tells whether the chain is f32 or bf16; the second result is the choice itself.
  run(R"(graph "g" {
  input %c : bool[3, 4]
  input %x : f32[3, 4]
  const %a : f32[] = [0]
  const %b : f32[1] = [1]
  %w = Where@16(%c, %a, %b) "where"
  %y = Mul@14(%w, %x) "product"
  output %y
  output %w
})",
      {});
}

TEST(FusedVector, is_one_generated_kernel_where_it_is_large) {
  if (!can_compile()) GTEST_SKIP() << "this build compiles no kernels";
  const Outcome outcome = run(kLarge, {});
  EXPECT_EQ(outcome.chains, 1);
  EXPECT_EQ(outcome.by_reference, 0);
}

TEST(FusedVector, is_taken_apart_where_compiling_does_not_pay) { EXPECT_EQ(run(kSmall, {}).chains, 0); }

TEST(FusedVector, is_taken_apart_where_each_shape_would_be_compiled_for) {
  constexpr const char* kOpen = R"(graph "g" {
  input %x : f32[N, 16]
  %scaled = Tanh@13(%x) "scaled"
  %y = Mul@14(%x, %scaled) "y"
  output %y
})";
  const Graph graph = parse_graph(kOpen);
  const auto inputs = random_inputs(graph, {{"x", {4096, 16}}}, 3);
  for (const bool first : {false, true}) {
    SessionOptions options;
    if (first) options.providers = {"generated", "onednn"};
    const Session session(graph, options);
    int chains = 0;
    for (const Step& step : session.plan(inputs)->steps) chains += step.workload.op == "FusedVector";
    EXPECT_EQ(chains, first && can_compile() ? 1 : 0);
  }
}

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
