#include "runtime/generated_rule.h"

#include "kernel/parse_workload.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

const Config kStreaming{{"generator", "cube_vectors"}, {"fetch_next", "1"}};
const Config kPlain{{"generator", "cube_vectors"}, {"fetch_next", "0"}};

TEST(GeneratedRule, takes_products_whose_weights_stream) {
  const Workload product = parse_workload("MatMul@13(f32[128x768], f32[768x3072]*) -> (f32[128x3072]) {}");
  EXPECT_TRUE(generated_pays(product, kStreaming));
  EXPECT_FALSE(generated_pays(product, kPlain));
}

TEST(GeneratedRule, leaves_f32_convolutions_to_the_library) {
  const Workload conv = parse_workload("Conv@11(f32[1x64x7x7]@nhwc, f32[64x64x1x1]*) -> (f32[1x64x7x7]@nhwc) {}");
  EXPECT_FALSE(generated_pays(conv, kStreaming));
}

TEST(GeneratedRule, leaves_residuals_that_no_cache_holds_to_kernels_that_add_in_place) {
  const Config tiles{{"generator", "cube_tiles"}};
  const auto conv = [](int batch, std::string_view epilogue) {
    return parse_workload(
        fmt::format("attune::FusedConv@1(bf16[{0}x64x56x56]@nhwc, bf16[256x64x1x1]*, bf16[256]*, "
                    "bf16[{0}x256x56x56]@nhwc) -> (bf16[{0}x256x56x56]@nhwc) {{epilogue = strings [{1}]}}",
                    batch, epilogue));
  };
  constexpr int kLargerThanCaches = 4096;
  EXPECT_FALSE(generated_pays(conv(kLargerThanCaches, "\"add 3\", \"relu\""), tiles));
  EXPECT_TRUE(generated_pays(conv(kLargerThanCaches, "\"relu\""), tiles));
}

}  // namespace
}  // namespace attune
