// What oneDNN offers beyond right results, which tests/conformance checks: the order of its configs and the work they
// save.
#include "kernel/parse_workload.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune::testing {
namespace {

class OnednnOffer : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Provider* provider : providers())
      if (provider->name() == "onednn") onednn_ = provider;
    if (onednn_ == nullptr) GTEST_SKIP() << "built without oneDNN";
  }
  /// The line writes its outputs out.
  static Workload workload(const std::string& line) {
    const WorkloadCase what = parse_workload_case(line);
    Workload workload = what.workload;
    for (const OutputCase& output : what.outputs) workload.outputs.emplace_back(output.spec);
    return workload;
  }
  std::vector<Config> configs(const Workload& workload) const {
    return std::get<Offer>(onednn_->offer(workload)).configs;
  }
  static bool has_avx512(const std::vector<Config>& configs) {  // oneDNN has Winograd for AVX-512 only
    return configs.front().at("impl").find("avx512") != std::string::npos;
  }

  const Provider* onednn_ = nullptr;
};

TEST_F(OnednnOffer, direct_convolution_comes_before_winograd) {
  const auto list =
      configs(workload("Conv@17(f32[1x64x28x28]@nchw16c, f32[64x64x3x3]*, f32[64]*) -> (f32[1x64x28x28]@nchw16c) "
                       "{pads = ints [1, 1, 1, 1]}"));
  EXPECT_EQ(list.front().at("algorithm"), "direct");
  EXPECT_EQ(list.back().at("algorithm"), has_avx512(list) ? "winograd" : "direct");
}

TEST_F(OnednnOffer, residuals_may_update_their_operand_in_place) {
  const Workload residual = workload(
      "attune::FusedConv@1(f32[2x32x9x7]@nchw16c, f32[32x32x3x3]*, f32[32]*, f32[2x32x9x7]@nchw16c) -> "
      "(f32[2x32x9x7]@nchw16c) {pads = ints [1, 1, 1, 1], epilogue = strings [\"add 3\", \"relu\"]}");
  const auto list = configs(residual);
  bool in_place = false, winograd = false;
  for (const Config& config : list) {
    if (onednn_->build(residual, config)->in_place_input() != 3) continue;
    in_place = true;
    winograd |= config.at("algorithm") == "winograd";
  }
  EXPECT_TRUE(in_place);
  EXPECT_EQ(winograd, has_avx512(list));
}

/// The library remembers what was made and begins its list with it; plans and records name what they found there.
TEST_F(OnednnOffer, is_the_same_whatever_was_built_before) {
  for (const char* line :
       {"Conv@22(f32[1x256x20x20]@nchw16c, f32[256x256x3x3]*, f32[256]*) -> (f32[1x256x20x20]@nchw16c) "
        "{pads = ints [1, 1, 1, 1]}",
        "Conv@22(f32[1x32x9x7]@nhwc, f32[16x32x1x1]*) -> (f32[1x16x9x7]@nhwc) {}",
        "MatMul@13(f32[33x64], f32[64x40]*) -> (f32[33x40]) {}", "Relu@14(f32[1000]) -> (f32[1000]) {}"}) {
    const Workload wanted = workload(line);
    const auto list = configs(wanted);
    for (const Config& config : list) {
      const auto kernel = onednn_->build(wanted, config);
      EXPECT_EQ(configs(wanted), list) << line << " after " << to_text(config);
    }
  }
}

}  // namespace
}  // namespace attune::testing
