// Which steps answer for a change, and what each change saves.
#include "job/plan_regions.h"

#include "job/change_effects.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

/// A chain of steps, each of which reads what the one before wrote.
class Chain {
 public:
  struct Link {
    std::string label, op, provider = "a";
    bool is_conversion = false;
  };

  explicit Chain(const std::vector<Link>& links) : node_(std::make_unique<Node>()) {
    plan.slots.resize(links.size() + 1);
    for (size_t i = 0; i < links.size(); ++i) {
      Step step;
      step.node = links[i].is_conversion ? nullptr : node_.get();
      step.label = links[i].label;
      step.workload.op = links[i].op;
      step.provider = links[i].provider;
      step.kernel = std::shared_ptr<const Kernel>(std::shared_ptr<void>(), reinterpret_cast<const Kernel*>(this));
      step.inputs = {static_cast<SlotId>(i)};
      step.outputs = {static_cast<SlotId>(i + 1)};
      plan.steps.push_back(std::move(step));
    }
  }
  std::string key(size_t step) const { return plan.steps[step].workload.key(); }

  Plan plan;

 private:
  std::unique_ptr<Node> node_;
};

std::vector<size_t> steps_of(std::vector<StepShare> shares) {
  std::vector<size_t> steps;
  for (const StepShare& one : shares) steps.push_back(one.step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

TEST(PlanRegions, hold_the_changed_steps_and_their_unchanged_neighbours) {
  const Chain before({{"a", "A"}, {"b", "B"}, {"c", "C"}, {"d", "D"}});
  const Chain after({{"a", "A"}, {"b", "B", "other"}, {"c", "C"}, {"d", "D"}});
  const std::string keys[] = {before.key(1)};
  const auto regions = changed_regions(before.plan, after.plan, keys);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].own_before, (std::vector<size_t>{1}));
  EXPECT_EQ(steps_of(regions[0].before), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(steps_of(regions[0].after), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(untouched_steps(before.plan, after.plan, regions), (std::vector<std::pair<size_t, size_t>>{{3, 3}}));
}

TEST(PlanRegions, charge_conversions_to_the_change_that_needs_them) {
  const Chain before({{"a", "A"}, {"b", "B"}, {"c", "C"}});
  const Chain after({{"a", "A"},
                     {"x (plain to nhwc)", "Reorder", "a", true},
                     {"b", "B", "other"},
                     {"y (nhwc to plain)", "Reorder", "a", true},
                     {"c", "C"}});
  const std::string keys[] = {before.key(1)};
  const auto regions = changed_regions(before.plan, after.plan, keys);
  EXPECT_EQ(steps_of(regions[0].before), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(steps_of(regions[0].after), (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(regions[0].own_after, (std::vector<size_t>{2}));
}

TEST(PlanRegions, share_what_lies_between_two_changes_which_answer_for_themselves) {
  const Chain before({{"a", "A"}, {"b", "B"}, {"c", "C"}, {"d", "D"}});
  const Chain after({{"a", "A", "other"}, {"b", "B"}, {"c", "C", "other"}, {"d", "D", "other"}});
  const std::string keys[] = {before.key(0), before.key(2), before.key(3)};
  const auto regions = changed_regions(before.plan, after.plan, keys);
  EXPECT_EQ(steps_of(regions[0].before), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(steps_of(regions[1].before), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(steps_of(regions[2].before), (std::vector<size_t>{3}));
  for (const StepShare& one : regions[0].before) EXPECT_EQ(one.share, one.step == 1 ? 0.5 : 1.0);
}

TEST(PlanRegions, count_the_parts_of_what_was_taken_apart) {
  const Chain before({{"a", "A"}, {"b", "Fused"}, {"c", "C"}});
  const Chain after({{"a", "A"}, {"b", "Conv"}, {"b relu", "Relu"}, {"c", "C"}});
  const std::string keys[] = {before.key(1)};
  const auto regions = changed_regions(before.plan, after.plan, keys);
  std::vector<size_t> own = regions[0].own_after;
  std::sort(own.begin(), own.end());
  EXPECT_EQ(own, (std::vector<size_t>{1, 2}));
}

TEST(ChangeEffects, are_what_the_whole_region_saves_by_round) {
  const Chain before({{"a", "A"}, {"b", "B"}, {"c", "C"}});
  const Chain after({{"a", "A"}, {"b", "B", "other"}, {"c", "C"}});
  const std::string keys[] = {before.key(1)};
  SessionComparison rounds;
  for (const double tremble : {0.9, 1.0, 1.1}) {
    rounds.before_step_ms.push_back({1 * tremble, 2 * tremble, 1 * tremble});
    rounds.after_step_ms.push_back({1 * tremble, 1 * tremble, 1.5 * tremble});  // half of the gain is lost at c
  }
  const auto effects = change_effects(rounds, changed_regions(before.plan, after.plan, keys));
  EXPECT_NEAR(effects[0].own_ms, 2, 1e-9);
  EXPECT_NEAR(effects[0].median_saved_ms(), 0.5, 1e-9);
  EXPECT_NEAR(effects[0].ratio(), 0.75, 1e-9);
  EXPECT_LE(effects[0].ratio_interval(0.95).low, 0.75);
  EXPECT_GE(effects[0].ratio_interval(0.95).high, 0.75);
}

TEST(ChangeEffects, take_the_noise_from_identical_steps) {
  SessionComparison rounds;
  std::vector<std::pair<size_t, size_t>> untouched;
  for (size_t step = 0; step < 10; ++step) untouched.emplace_back(step, step);
  for (int round = 0; round < 9; ++round) {
    rounds.before_step_ms.push_back(std::vector<double>(10, 1.0));
    rounds.after_step_ms.push_back(std::vector<double>(10, 1.02));
  }
  EXPECT_NEAR(noise_between(rounds, untouched).value(), 0.0198, 1e-3);
  untouched.resize(2);
  EXPECT_FALSE(noise_between(rounds, untouched)) << "two steps say little";
}

}  // namespace
}  // namespace attune
