#include "runtime/generated_rule.h"

#include "kernel/parse_workload.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

const Config kStreaming{{"generator", "cube_vectors"}, {"fetch_next", "1"}};
const Config kPlain{{"generator", "cube_vectors"}, {"fetch_next", "0"}};

TEST(GeneratedRule, takes_products_whose_weights_stream) {
  const Workload product = parse_workload("MatMul@13(f32[128x768], f32[768x3072]*) -> (f32[128x3072]) {}");
  EXPECT_TRUE(generated_pays(product, kStreaming, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(product, kPlain, InputShapes::fixed));
}

TEST(GeneratedRule, leaves_f32_convolutions_to_the_library) {
  const Workload conv = parse_workload("Conv@11(f32[1x64x7x7]@nhwc, f32[64x64x1x1]*) -> (f32[1x64x7x7]@nhwc) {}");
  EXPECT_FALSE(generated_pays(conv, kStreaming, InputShapes::fixed));
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
  EXPECT_FALSE(generated_pays(conv(kLargerThanCaches, "\"add 3\", \"relu\""), tiles, InputShapes::fixed));
  EXPECT_TRUE(generated_pays(conv(kLargerThanCaches, "\"relu\""), tiles, InputShapes::fixed));
}

TEST(GeneratedRule, takes_bf16_convolutions_that_end_in_functions) {
  const auto conv = [](int in, int kernel, std::string_view epilogue) {
    return parse_workload(
        fmt::format("attune::FusedConv@1(bf16[1x{0}x40x40]@nhwc, bf16[64x{0}x{1}x{1}]*, bf16[64]*) -> "
                    "(bf16[1x64x40x40]@nhwc) {{epilogue = strings [\"{2}\"], pads = ints [{3}, {3}, {3}, {3}]}}",
                    in, kernel, epilogue, kernel / 2));
  };
  const Config bands{{"generator", "cube_bands"}}, tiles{{"generator", "cube_tiles"}};
  EXPECT_TRUE(generated_pays(conv(256, 3, "swish 1"), bands, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(conv(256, 3, "relu"), bands, InputShapes::fixed));
  EXPECT_TRUE(generated_pays(conv(3, 3, "relu"), bands, InputShapes::fixed));
  EXPECT_TRUE(generated_pays(conv(512, 1, "swish 1"), tiles, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(conv(512, 1, "relu"), tiles, InputShapes::fixed));
  EXPECT_TRUE(generated_pays(conv(512, 1, "swish 1"), kPlain, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(conv(1024, 1, "swish 1"), kPlain, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(conv(512, 1, "relu"), kPlain, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(conv(256, 3, "swish 1"), kPlain, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(conv(256, 3, "swish 1"), bands, InputShapes::open));
  EXPECT_FALSE(generated_pays(conv(512, 1, "swish 1"), tiles, InputShapes::open));
}

TEST(GeneratedRule, takes_attention_in_bf16_where_pairs_are_multiplied) {
  const Workload attention = parse_workload(
      "attune::FusedAttention@1(bf16[1x128x768], bf16[1x128x768], bf16[1x128x768]) -> (bf16[1x128x12x64]) "
      "{heads = 12, head_size = 64}");
  EXPECT_TRUE(generated_pays(attention, {{"generator", "attention"}, {"products", "pairs"}}, InputShapes::open));
  EXPECT_FALSE(generated_pays(attention, {{"generator", "attention"}, {"products", "wide"}}, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(attention, {{"generator", "attention"}}, InputShapes::fixed));
}

TEST(GeneratedRule, compiles_recurrent_layers_for_lasting_shapes) {
  const Workload lstm =
      parse_workload("LSTM@14(f32[32x1x64], f32[1x256x64]*, f32[1x256x64]*) -> (f32[32x1x1x64]) {hidden_size = 64}");
  const Config config{{"generator", "recurrent"}};
  EXPECT_TRUE(generated_pays(lstm, config, InputShapes::fixed));
  EXPECT_FALSE(generated_pays(lstm, config, InputShapes::open));
}

}  // namespace
}  // namespace attune
