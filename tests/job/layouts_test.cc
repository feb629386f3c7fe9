// Layouts by measured cost: the cut, the regions, sessions with a layout for each convolution, and what the bank keeps.
#include "bank/location.h"
#include "base/min_cut.h"
#include "base/random.h"
#include "graph/text.h"
#include "job/assign_labels.h"
#include "job/check_outputs.h"
#include "job/layout_record.h"
#include "job/layout_regions.h"
#include "runtime/random_inputs.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace attune {
namespace {

TEST(MinCut, keeps_items_on_the_first_side_where_it_makes_no_difference) {
  MinCut cut(3);
  cut.cost_of_first(0, 2);
  cut.cost_of_second(0, 1);
  cut.cost_of_first(1, 1);
  cut.cost_of_second(1, 1);
  EXPECT_EQ(cut.solve(), (std::vector<bool>{true, false, false}));
}

LabelProblem random_problem(Random& random, size_t items, size_t labels) {
  const auto cost = [&] { return static_cast<double>(random.next() % 1000) / 100; };
  LabelProblem problem;
  problem.costs.resize(items);
  for (auto& costs : problem.costs)
    for (size_t label = 0; label < labels; ++label) costs.push_back(cost());
  for (size_t i = 1; i < items; ++i) {
    problem.links.push_back({random.next() % i, i, cost()});
    if (i > 2) problem.links.push_back({i, random.next() % i, cost() / 2});
  }
  return problem;
}

/// Of all assignments.
double least_cost(const LabelProblem& problem) {
  std::vector<size_t> labels(problem.costs.size(), 0);
  const size_t count = problem.costs[0].size();
  double least = label_cost(problem, labels);
  for (;;) {
    size_t i = 0;
    while (i < labels.size() && ++labels[i] == count) labels[i++] = 0;
    if (i == labels.size()) return least;
    least = std::min(least, label_cost(problem, labels));
  }
}

TEST(AssignLabels, finds_the_best_of_two_and_nearly_that_of_three) {
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const LabelProblem two = random_problem(random, 9, 2);
    EXPECT_NEAR(label_cost(two, assign_labels(two, std::vector<size_t>(9, i % 2))), least_cost(two), 1e-9);
    const LabelProblem three = random_problem(random, 7, 3);
    EXPECT_LE(label_cost(three, assign_labels(three, std::vector<size_t>(7, 0))), 1.15 * least_cost(three));
  }
}

/// Numbers for a constant of the text form.
std::string numbers(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", static_cast<int>(i % 7) - 3);
  return text;
}

Graph small_model() {
  return parse_graph(fmt::format(R"(graph "g" {{
  input %x : f32[1, 16, 9, 9]
  const %v : f32[32, 16, 3, 3] = [{}]
  const %w : f32[32, 32, 1, 1] = [{}]
  %a = Conv@17(%x, %v) "first" {{pads = ints [1, 1, 1, 1]}}
  %b = MaxPool@12(%a) "pool" {{kernel_shape = ints [3, 3]}}
  %c = Conv@17(%b, %w) "second"
  %d = Sigmoid@13(%c) "sigmoid"
  %e = Add@14(%d, %b) "sum"
  %f = ReduceMax@13(%e) "largest" {{axes = ints [1], keepdims = 0}}
  output %f
}})",
                                 numbers(32 * 16 * 9), numbers(32 * 32)));
}

class Layouts : public testing::Test {
 protected:
  Graph graph_ = small_model();
  Session before_{Graph(graph_)};
  std::vector<Tensor> inputs_ = random_inputs(graph_, {}, 3);
};

TEST_F(Layouts, regions_are_convolutions_with_what_follows_them) {
  const auto plan = before_.plan(inputs_);
  const LayoutRegions regions = find_layout_regions(*plan);
  ASSERT_EQ(regions.convolutions, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(regions.region_of_node.at("pool"), 0u);
  EXPECT_EQ(regions.region_of_value.at("e"), 1u);
  ASSERT_EQ(regions.borders.size(), 1u);  // %b, once: both who read it lie in the second
  EXPECT_EQ(regions.borders[0].bytes, 32 * 7 * 7 * 4);
  const std::vector<double> step_ms(plan->steps.size(), 1);
  const std::vector<double> times = region_times(regions, *plan, step_ms);
  EXPECT_EQ(times[0] + times[1], static_cast<double>(plan->steps.size()));
}

TEST_F(Layouts, each_convolution_can_have_its_own) {
  for (const Layout first : {Layout::plain, Layout::nhwc, Layout::nchw8c})
    for (const Layout second : {Layout::plain, Layout::nhwc, Layout::nchw8c}) {
      SessionOptions options;
      options.node_layouts = {{"first", first}, {"second", second}};
      const Session after(Graph(graph_), options);
      EXPECT_EQ(check_outputs(before_, after, inputs_).problem, "");
      for (const Step& step : after.plan(inputs_)->steps)
        if (step.label == "first") {
          EXPECT_EQ(step.workload.output(0).layout, first);
        } else if (step.label == "second") {
          EXPECT_EQ(step.workload.output(0).layout, second);
        }
    }
}

TEST_F(Layouts, are_measured_and_said_in_words) {
  LayoutStageOptions options;
  options.seconds = 0.05;
  const auto findings = tune_layouts(before_, inputs_, options);
  ASSERT_TRUE(findings);
  EXPECT_EQ(findings->convolutions, 2u);
  EXPECT_GE(findings->uniform_ms.size(), 2u);
  EXPECT_NE(findings->conclusion.find("layout"), std::string::npos);
  EXPECT_TRUE(findings->node_layouts.empty() || findings->comparison->faster());
  options.session.layout = LayoutChoice::nhwc;
  EXPECT_FALSE(tune_layouts(before_, inputs_, options)) << "what a user asks for is not tuned";
}

TEST_F(Layouts, are_remembered_for_the_same_model_alone) {
  const std::string path = testing::TempDir() + "/layouts_" + std::to_string(getpid()) + ".sqlite";
  std::filesystem::remove(path);
  auto bank = open_one_bank(path, BankAccess::read_write);
  const auto plan = before_.plan(inputs_);
  const SessionOptions session;
  LayoutFindings findings;
  findings.node_layouts["second"] = Layout::nhwc;
  findings.uniform_ms = {{Layout::nhwc, 1.5}};
  findings.conclusion = "layouts were looked at";
  bank->add(layout_record({*plan, session, 2}, findings, {"test", 5}));

  const auto known = recall_layouts({*plan, session, 2}, *bank);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->node_layouts, findings.node_layouts);
  EXPECT_TRUE(known->from_bank);
  EXPECT_FALSE(recall_layouts({*plan, session, 3}, *bank)) << "of another number of threads";
  SessionOptions fewer;
  fewer.providers = {"reference"};
  EXPECT_FALSE(recall_layouts({*plan, fewer, 2}, *bank)) << "of other providers";
  bank.reset();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace attune
