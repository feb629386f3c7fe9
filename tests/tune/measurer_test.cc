// Measuring what is right, on real kernels.
#include "tune/measure/measurer.h"

#include "providers/providers.h"
#include "tune/measure/roofline.h"
#include "tune/measure/worker_program.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune::tune {
namespace {

MeasurerOptions quick_options() {
  MeasurerOptions options;
  options.threads = 2;
  options.ceilings = {{"f32", 1e6}};
  return options;
}

MeasureTask task_of(const std::string& text) { return {parse_workload(text), parse_workload_case(text).contents}; }

/// Everything that the providers have, the first as anchor.
std::vector<Trial> all_trials(const Workload& workload) {
  std::vector<Trial> trials;
  for (const Provider* provider : providers()) {
    const auto answer = provider->offer(workload);
    if (const auto* offer = std::get_if<Offer>(&answer))
      for (const Config& config : offer->configs) trials.push_back({std::string(provider->name()), config});
  }
  return trials;
}

TEST(Measurer, verifies_and_times_what_the_providers_have) {
  Measurer measurer(quick_options());
  for (const std::string text : {
           "Conv@17(f32[1x16x20x20], f32[16x16x3x3]*, f32[16]*) -> (f32[1x16x20x20]) {pads=[1, 1, 1, 1]}",
           "MatMul@13(f32[33x65], f32[65x17]*) -> (f32[33x17]) {}",
           "Gather@17(f32[100x8], i64[3x5]) -> (f32[3x5x8]) {axis=0}",
           "Slice@13(f32[10x8], i64[1]* = [2], i64[1]* = [9], i64[1]* = [0], i64[1]* = [3]) -> (f32[3x8]) {}",
           "QuantizeLinear@13(f32[64x64], f32[scalar]*, u8[scalar]*0) -> (u8[64x64]) {}",
           "attune::Reorder@1(f32[1x20x9x9]) -> (f32[1x20x9x9]@nchw16c) {}",
           // Of weights between -1 and 1 layers of this size would be chaotic.
           "LSTM@14(f32[64x1x32], f32[2x512x32]*, f32[2x512x128]*) -> (f32[64x2x1x128]) {direction=bidirectional, "
           "hidden_size=128}",
           "GRU@14(f32[64x1x32], f32[1x384x32]*, f32[1x384x128]*) -> (f32[64x1x1x128]) {hidden_size=128}",
       }) {
    const MeasureTask task = task_of(text);
    const std::vector<Trial> trials = all_trials(task.workload);
    ASSERT_FALSE(trials.empty()) << text;
    const Measurement measured = measurer.measure(task, trials[0], trials);
    ASSERT_EQ(measured.anchor.outcome, Outcome::ok) << text << "\n" << measured.anchor.message;
    ASSERT_EQ(measured.trials.size(), trials.size());
    for (size_t i = 0; i < trials.size(); ++i) {
      const TrialResult& result = measured.trials[i];
      EXPECT_EQ(result.outcome, Outcome::ok) << text << " " << to_text(trials[i]) << ": " << result.message;
      EXPECT_GE(result.log_ratios.size(), 1U);
      EXPECT_EQ(result.log_ratios.size(), result.candidate_ns.size());
      EXPECT_GT(result.time_ns(), 0);
      EXPECT_LT(result.max_error, 1e-3);
    }
  }
  EXPECT_EQ(measurer.counts().workers_started, 1) << "the worker stays up from trial to trial";
}

TEST(Measurer, what_is_slow_gets_fewer_pairs) {
  MeasurerOptions options = quick_options();
  options.threads = 1;  // threads that wait for each other on a crowded machine would make both slow alike
  Measurer measurer(options);
  const MeasureTask task = task_of("MatMul@13(f32[256x256], f32[256x256]*) -> (f32[256x256]) {}");
  const std::vector<Trial> trials = all_trials(task.workload);
  if (trials.front().provider == "reference") GTEST_SKIP() << "built with the reference alone";
  const Trial slow[] = {{"reference", {}}};
  const Measurement measured = measurer.measure(task, trials.front(), slow);
  ASSERT_EQ(measured.trials.at(0).outcome, Outcome::ok) << measured.trials.at(0).message;
  EXPECT_EQ(measured.trials[0].log_ratios.size(), 1U);
  EXPECT_GT(measured.trials[0].log_ratio(), std::log(1.5));
}

TEST(Measurer, faster_than_the_machine_is_implausible) {
  MeasurerOptions options = quick_options();
  options.ceilings = {{"f32", 1e-3}};  // a machine of a megaflop
  options.ceiling_doubts = 0;
  Measurer measurer(options);
  const MeasureTask task = task_of("MatMul@13(f32[64x64], f32[64x64]*) -> (f32[64x64]) {}");
  const std::vector<Trial> trials = all_trials(task.workload);
  const Measurement measured = measurer.measure(task, trials.front(), trials);
  EXPECT_EQ(measured.anchor.outcome, Outcome::implausible);
  EXPECT_NE(measured.anchor.message.find("at its best"), std::string::npos) << measured.anchor.message;
}

TEST(Measurer, ceilings_of_a_disturbed_machine_are_measured_again) {
  MeasurerOptions options = quick_options();
  options.ceilings = {{"f32", 1e-3}};
  Measurer measurer(options);
  const MeasureTask task = task_of("MatMul@13(f32[64x64], f32[64x64]*) -> (f32[64x64]) {}");
  const Trial trials[] = {{"reference", {}}};
  const Measurement measured = measurer.measure(task, trials[0], trials);
  EXPECT_EQ(measured.anchor.outcome, Outcome::ok) << measured.anchor.message;
  EXPECT_GT(measurer.ceilings().at("f32"), 1e-3);
}

TEST(Measurer, inputs_that_decide_a_shape_have_to_be_given) {
  Measurer measurer(quick_options());
  const MeasureTask task = task_of("Reshape@14(f32[4x6], i64[2]*) -> (f32[8x3]) {}");
  const Trial trials[] = {{"reference", {}}};
  const Measurement measured = measurer.measure(task, trials[0], trials);
  EXPECT_EQ(measured.anchor.outcome, Outcome::infrastructure);
  EXPECT_EQ(measured.anchor.stage, Stage::reference);
}

TEST(Measurer, stops_when_it_is_told_to) {
  Measurer measurer(quick_options());
  const MeasureTask task = task_of("Relu@14(f32[64]) -> (f32[64]) {}");
  const std::vector<Trial> trials(5, Trial{"reference", {}});
  MeasureControl control;
  size_t results = 0;
  control.on_result = [&](size_t index, const TrialResult& result) {
    EXPECT_EQ(index, results++);
    EXPECT_EQ(result.outcome, Outcome::ok);
  };
  control.should_stop = [&] { return results == 2; };
  EXPECT_EQ(measurer.measure(task, trials[0], trials, {}, control).trials.size(), 2U);
}

TEST(Measurer, finals_compare_with_the_default_and_its_duplicate) {
  MeasurerOptions options = quick_options();
  options.threads = 1;
  Measurer measurer(options);
  EXPECT_FALSE(measurer.noise_floor().has_value());
  const MeasureTask task = task_of("MatMul@13(f32[128x128], f32[128x128]*) -> (f32[128x128]) {}");
  const std::vector<Trial> trials = all_trials(task.workload);
  if (trials.front().provider == "reference") GTEST_SKIP() << "built with the reference alone";
  const Trial finalists[] = {{"reference", {}}};
  const Finals finals = measurer.finals(task, trials.front(), finalists);
  EXPECT_EQ(finals.problem, "");
  EXPECT_GE(finals.rounds, 6);
  EXPECT_EQ(verdict_name(finals.finalists[0].judgement.verdict), "slower");
  EXPECT_GT(finals.finalists[0].time_ns, finals.default_ns);
  EXPECT_EQ(measurer.noise_floor().value(), finals.noise_floor);
}

TEST(Measurer, says_which_program_it_cannot_use) {
  MeasurerOptions options = quick_options();
  options.worker_program = "/nowhere/attune";
  EXPECT_THROW(Measurer{options}, UserError);
  options.worker_program = "/bin/true";
  EXPECT_THROW(Measurer{options}, UserError);
}

TEST(Roofline, is_the_larger_of_arithmetic_and_traffic) {
  const CeilingRates ceilings = {{"f32", 100}, {"bf16", 200}, {"amx_bf16", 1000}, {"l2_read", 50}};
  const auto ns = [&](const std::string& text) { return roofline_ns(parse_workload(text), ceilings); };
  EXPECT_NEAR(ns("MatMul@13(f32[100x100], f32[100x100]*) -> (f32[100x100]) {}"), 2e6 / 100, 1);
  EXPECT_NEAR(ns("MatMul@13(bf16[100x100], bf16[100x100]*) -> (bf16[100x100]) {}"), 2e6 / 1000, 1);
  EXPECT_NEAR(ns("Relu@14(f32[1000x1000x10]) -> (f32[1000x1000x10]) {}"), 8e7 / 100, 1e5);
  // A window of 3x3 may be computed with five times fewer multiplications, one of 1x1 may not.
  EXPECT_LT(ns("Conv@17(f32[1x64x30x30], f32[64x64x3x3]*) -> (f32[1x64x28x28]) {}"),
            ns("Conv@17(f32[1x576x28x28], f32[64x576x1x1]*) -> (f32[1x64x28x28]) {}") / 4);
  // Both gradients of a convolution multiply as often as it does, whatever its stride.
  const double forward = ns("Conv@11(f32[1x64x16x16], f32[32x64x3x3]) -> (f32[1x32x7x7]) {strides = ints [2, 2]}");
  EXPECT_DOUBLE_EQ(
      ns("attune::ConvGradData@1(f32[1x32x7x7], f32[32x64x3x3]) -> (f32[1x64x16x16]) {strides = ints [2, 2]}"),
      forward);
  EXPECT_DOUBLE_EQ(
      ns("attune::ConvGradWeights@1(f32[1x64x16x16], f32[1x32x7x7]) -> (f32[32x64x3x3]) {strides = ints [2, 2]}"),
      forward);
}

TEST(Roofline, of_operands_beyond_all_caches_is_what_memory_allows_for_people) {
  const CeilingRates ceilings = {{"f32", 100}, {"l2_read", 100}, {"copy", 40}};
  const auto ns = [&](const std::string& text) { return reachable_ns(parse_workload(text), ceilings); };
  EXPECT_NEAR(ns("Transpose@13(f32[65536x65536]) -> (f32[65536x65536]) {perm = ints [1, 0]}"),
              2 * 4.0 * (1LL << 32) / 40, 1);
  const std::string small = "Relu@14(f32[128x768]) -> (f32[128x768]) {}";
  EXPECT_DOUBLE_EQ(ns(small), roofline_ns(parse_workload(small), ceilings));
}

}  // namespace
}  // namespace attune::tune
