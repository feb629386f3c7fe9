// What every provider promises of its spaces.
#include "space/space.h"
#include "kernel/parse_workload.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

constexpr std::string_view kWorkloads[] = {
    "Conv@17(f32[1x16x9x7], f32[16x16x3x3]*) -> (f32[1x16x9x7]) {pads = ints [1, 1, 1, 1]}",
    "MatMul@13(f32[12x20], f32[20x8]*) -> (f32[12x8])",
    "Softmax@13(f32[6x10]) -> (f32[6x10])",
    "Relu@14(f32[3x5]) -> (f32[3x5])",
    "Identity@19(f32[300x7]) -> (f32[300x7])",
};

Workload workload_of(std::string_view line) {
  const WorkloadCase parsed = parse_workload_case(std::string(line));
  Workload workload = parsed.workload;
  for (const OutputCase& output : parsed.outputs) workload.outputs.emplace_back(output.spec);
  return workload;
}

TEST(ProviderSpace, holds_the_default_and_the_offer_and_builds_samples) {
  int served = 0;
  for (const Provider* provider : every_provider())
    for (const std::string_view line : kWorkloads) {
      SCOPED_TRACE(fmt::format("{} of {}", line, provider->name()));
      const Workload workload = workload_of(line);
      const auto answer = provider->offer(workload);
      if (!std::holds_alternative<Offer>(answer)) {
        EXPECT_THROW(static_cast<void>(provider->space(workload)), UserError);
        EXPECT_THROW(static_cast<void>(provider->default_config(workload)), UserError);
        continue;
      }
      ++served;
      const Space space = provider->space(workload);
      const Config standard = provider->default_config(workload);
      EXPECT_EQ(space.default_config(), standard);
      EXPECT_EQ(space.why_invalid(standard), "");
      EXPECT_NE(provider->build(workload, standard), nullptr);
      for (const Config& config : std::get<Offer>(answer).configs) EXPECT_EQ(space.why_invalid(config), "");
      Random random(1);
      for (int i = 0; i < 3; ++i) EXPECT_NE(provider->build(workload, space.at(space.sample(random))), nullptr);
    }
  EXPECT_GE(served, 6);  // the reference serves all five, the skeleton one
}

TEST(ProviderSpace, of_the_skeleton_is_larger_than_its_offer) {
  for (const Provider* provider : every_provider()) {
    if (provider->name() != "null") continue;
    const Workload workload = workload_of("Identity@19(f32[300x7]) -> (f32[300x7])");
    EXPECT_EQ(provider->space(workload).size(), 7u);
    EXPECT_NE(provider->build(workload, {{"chunk_bytes", "4096"}}), nullptr);
    EXPECT_THROW(provider->build(workload, {{"chunk_bytes", "4097"}}), UserError);
  }
}

}  // namespace
}  // namespace attune::testing
