// Precision chosen for a real graph, one product of which is lost in bf16: what follows it subtracts nearly all of it.
#include "job/precision/choose_precision.h"

#include "graph/text.h"
#include "io/temp_folder.h"
#include "runtime/plan_file.h"
#include "runtime/random_inputs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

constexpr const char* kGraph = R"(graph "g" {
  input %x : f32[8, 4]
  const %w : f32[4, 4] = [0.3, -0.7, 0.2, 0.9, 0.5, 0.1, -0.4, 0.6, -0.8, 0.35, 0.15, -0.25, 0.45, -0.55, 0.65, 0.75]
  const %large : f32[4] = [1000, 1001, 1002, 1003]
  %a = MatMul@13(%x, %w) "first"
  %b = Relu@14(%a) "relu"
  %c = MatMul@13(%b, %w) "second"
  %d = MatMul@13(%x, %w) "delicate"
  %e = Add@14(%d, %large) "far"
  %f = Tanh@13(%x) "bounded"
  %g = MatMul@13(%f, %w) "other"
  %h = Sub@14(%e, %large) "back"
  output %c
  output %h
  output %g
})";

/// Comparisons that always come out the same: what is faster on this machine is no matter of these tests.
CompareSessions comes_out(double ratio) {
  return [ratio](const Session&, const Session&, std::span<const Tensor>, const CompareOptions&) {
    SessionComparison runs;
    runs.before_ms.assign(8, ratio);
    runs.after_ms.assign(8, 1);
    runs.summarize();
    return runs;
  };
}

PrecisionOutcome choose(double budget, double ratio = 2, InputOrigin origin = InputOrigin::random) {
  PrecisionInputs inputs;
  inputs.origin = origin;
  inputs.seed = 3;
  inputs.make = [](const Graph& graph, uint64_t seed) { return random_inputs(graph, {}, seed); };
  PrecisionOptions options;
  options.accuracy_budget = budget;
  options.compare = comes_out(ratio);
  SessionOptions session;
  session.without_passes = {"merge_duplicates"};  // "first" and "delicate" are the same product, read by two
  return choose_precision(parse_graph(kGraph), session, inputs, options);
}

DType type_given_by(const Graph& graph, const std::string& node_name) {
  for (const Node& node : graph.nodes())
    if (node.name == node_name) return graph.value(node.outputs[0]).dtype;
  ADD_FAILURE() << "no node is named " << node_name;
  return DType::undefined;
}

TEST(ChoosePrecision, leaves_the_delicate_product_in_f32) {
  const PrecisionOutcome outcome = choose(0.05);
  const PrecisionStatement statement = outcome.session.precision().value();
  EXPECT_EQ(statement.precision, "mixed") << statement.reason;
  EXPECT_EQ(statement.kept, std::vector<std::string>{"delicate"});
  EXPECT_EQ(statement.products, 4);
  EXPECT_EQ(statement.lowered, 3);
  EXPECT_GE(statement.operators, 3);
  EXPECT_GT(statement.error, 0);
  EXPECT_LE(statement.error, 0.05);
  EXPECT_NEAR(statement.speedup, 2, 1e-9);
  EXPECT_EQ(statement.seeds, (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_FALSE(statement.new_seeds.empty());
  EXPECT_NE(type_given_by(outcome.session.graph(), "delicate"), DType::bf16);
  EXPECT_EQ(type_given_by(outcome.session.graph(), "second"), DType::bf16);
  EXPECT_EQ(type_given_by(outcome.session.graph(), "other"), DType::bf16);
  EXPECT_LE(error_on(outcome.session, outcome.known), statement.error);
}

TEST(ChoosePrecision, gives_options_that_open_the_model_in_the_same_precision) {
  const PrecisionOutcome outcome = choose(0.05);
  Session again(parse_graph(kGraph), outcome.options);
  EXPECT_EQ(to_text(again.graph()), to_text(outcome.session.graph()));
  EXPECT_TRUE(restate_precision(again, outcome));
  EXPECT_EQ(to_json(again.precision().value()), to_json(outcome.session.precision().value()));

  SessionOptions all_in_bf16;
  all_in_bf16.dtype = DType::bf16;
  Session other(parse_graph(kGraph), all_in_bf16);
  EXPECT_FALSE(restate_precision(other, outcome));
  EXPECT_FALSE(other.precision()) << "nothing is said that is not true";
}

TEST(ChoosePrecision, lowers_everything_under_a_loose_budget) {
  const PrecisionStatement statement = choose(1000).session.precision().value();
  EXPECT_EQ(statement.precision, "bf16") << statement.reason;
  EXPECT_EQ(statement.lowered, 4);
  EXPECT_GT(statement.error, 0.05);
  EXPECT_TRUE(statement.kept.empty());
}

TEST(ChoosePrecision, lowers_nothing_under_a_tight_budget) {
  const PrecisionOutcome outcome = choose(1e-7);
  const PrecisionStatement statement = outcome.session.precision().value();
  EXPECT_EQ(statement.precision, "f32");
  EXPECT_EQ(statement.error, 0);
  EXPECT_EQ(statement.operators, 0);
  EXPECT_EQ(error_on(outcome.session, outcome.known), 0);
  EXPECT_EQ(outcome.options.dtype, DType::f32);
}

TEST(ChoosePrecision, keeps_f32_where_that_is_as_fast) {
  const PrecisionStatement statement = choose(1000, 0.95).session.precision().value();
  EXPECT_EQ(statement.precision, "f32");
  EXPECT_NE(statement.reason.find("not faster"), std::string::npos) << statement.reason;
}

TEST(ChoosePrecision, on_given_inputs_is_not_confirmed_on_random_ones) {
  const PrecisionStatement statement = choose(0.05, 2, InputOrigin::given).session.precision().value();
  EXPECT_EQ(statement.lowered, 3);
  EXPECT_EQ(statement.input_sets, 1);
  EXPECT_TRUE(statement.seeds.empty());
  EXPECT_TRUE(statement.new_seeds.empty());
}

TEST(ChoosePrecision, is_stated_by_the_plan) {
  const TempFolder folder;
  const PrecisionOutcome outcome = choose(0.05);
  const std::vector<Tensor>& inputs = outcome.known.front().inputs;
  save_plan(outcome.session, inputs, folder.file("mixed.plan"));
  const Session loaded = load_plan(folder.file("mixed.plan"));
  ASSERT_TRUE(loaded.precision());
  EXPECT_EQ(to_json(*loaded.precision()), to_json(*outcome.session.precision()));
  EXPECT_EQ(error_on(loaded, outcome.known), error_on(outcome.session, outcome.known));

  const Session plain(parse_graph(kGraph));
  save_plan(plain, inputs, folder.file("f32.plan"));
  EXPECT_FALSE(load_plan(folder.file("f32.plan")).precision());
}

}  // namespace
}  // namespace attune
