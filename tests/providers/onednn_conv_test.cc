#include "ops/epilogue.h"
#include "providers/provider_case.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

using Ints = std::vector<int64_t>;
using Kind = EpilogueStep::Kind;

class OnednnConv : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
  }
};

constexpr Layout kLayouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

struct Shape2d {
  Dims src, weights;
  Attributes attributes;
};

Workload conv(const Shape2d& shape, Layout src_layout, Layout dst_layout, DType dtype = DType::f32) {
  return make_case(
      "", "Conv", 17,
      {operand(shape.src, src_layout, dtype), constant(shape.weights, dtype), constant({shape.weights[0]}, dtype)},
      shape.attributes, dst_layout);
}

/// Every layout; at least one config has to exist in plain and nhwc together.
int check_layouts(const Shape2d& shape) {
  int configs = 0;
  for (const Layout layout : kLayouts) configs += check_every_config("onednn", conv(shape, layout, layout));
  return configs;
}

Workload fused(const std::vector<EpilogueStep>& steps, std::vector<std::optional<TensorSpec>> operands, Layout layout,
               Dims src = {2, 32, 9, 7}, int64_t out_channels = 32) {
  std::vector<std::optional<TensorSpec>> inputs = {operand(src, layout), constant({out_channels, src[1], 3, 3}),
                                                   constant({out_channels})};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  return make_case("attune", "FusedConv", 1, inputs,
                   {{"pads", Ints{1, 1, 1, 1}}, {"epilogue", epilogue_attribute(steps)}}, layout);
}

TEST_F(OnednnConv, agrees_on_ordinary_and_odd_shapes_in_every_layout) {
  const Shape2d shapes[] = {
      {{1, 32, 14, 14}, {32, 32, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
      {{2, 16, 7, 7}, {48, 16, 1, 1}, {}},
      {{1, 3, 23, 29}, {16, 3, 7, 7}, {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}}},
      {{3, 17, 11, 13}, {19, 17, 3, 5}, {{"pads", Ints{1, 2, 1, 2}}}},
      {{1, 58, 9, 9}, {58, 58, 1, 1}, {}},
      {{1, 58, 9, 9}, {29, 58, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}},
      {{1, 32, 9, 9}, {64, 32, 1, 1}, {{"strides", Ints{2, 2}}}},
      {{1, 16, 12, 10}, {16, 16, 3, 3}, {{"dilations", Ints{2, 3}}, {"pads", Ints{2, 3, 2, 3}}}},
      {{1, 16, 12, 10}, {16, 16, 3, 3}, {{"pads", Ints{0, 1, 2, 0}}, {"strides", Ints{2, 1}}}},
      {{1, 16, 12, 11}, {16, 16, 4, 4}, {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{3, 2}}}},
      {{1, 16, 12, 11}, {16, 16, 4, 4}, {{"auto_pad", std::string("SAME_LOWER")}}},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {{1, 16, 2, 2}, {16, 16, 5, 5}, {{"pads", Ints{4, 4, 4, 4}}}},
  };
  for (const Shape2d& shape : shapes) EXPECT_GT(check_layouts(shape), 0) << to_text(shape.src);
}

TEST_F(OnednnConv, agrees_with_groups_and_depthwise) {
  const Shape2d shapes[] = {
      {{1, 32, 9, 9}, {32, 16, 3, 3}, {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}}},
      {{1, 64, 6, 6}, {32, 16, 1, 1}, {{"group", int64_t{4}}}},
      {{1, 21, 9, 9}, {14, 3, 3, 3}, {{"group", int64_t{7}}, {"pads", Ints{1, 1, 1, 1}}}},
      {{1, 32, 14, 14}, {32, 1, 3, 3}, {{"group", int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}}},
      {{2, 58, 13, 11}, {58, 1, 3, 3}, {{"group", int64_t{58}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}},
      {{1, 24, 13, 11}, {24, 1, 5, 5}, {{"group", int64_t{24}}, {"pads", Ints{2, 2, 2, 2}}}},
      {{1, 16, 9, 9}, {32, 1, 3, 3}, {{"group", int64_t{16}}}},
  };
  for (const Shape2d& shape : shapes) EXPECT_GT(check_layouts(shape), 0) << to_text(shape.src);
}

TEST_F(OnednnConv, agrees_in_one_and_three_spatial_dims) {
  EXPECT_GT(check_layouts({{2, 16, 37}, {32, 16, 5}, {{"pads", Ints{2, 2}}, {"strides", Ints{2}}}}), 0);
  EXPECT_GT(check_layouts({{1, 13, 37}, {7, 13, 3}, {{"dilations", Ints{4}}}}), 0);
  EXPECT_GT(check_layouts({{1, 16, 5, 6, 7}, {16, 16, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1, 1, 1}}}}), 0);
  EXPECT_GT(check_layouts({{1, 5, 5, 6, 7}, {6, 5, 3, 2, 3}, {{"strides", Ints{2, 1, 2}}}}), 0);
}

TEST_F(OnednnConv, first_layer_reads_plain_and_writes_blocks) {
  const Shape2d shape{{1, 3, 32, 32}, {32, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}};
  for (const Layout dst : {Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
    check_every_config("onednn", conv(shape, Layout::plain, dst));
  EXPECT_EQ(refusal("onednn", conv(shape, Layout::plain, Layout::nchw16c)), "");
}

TEST_F(OnednnConv, offers_direct_before_winograd_and_both_where_they_fit) {
  const Shape2d shape{{1, 64, 28, 28}, {64, 64, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}};
  EXPECT_GT(check_every_config("onednn", conv(shape, Layout::nchw16c, Layout::nchw16c)), 1);
}

TEST_F(OnednnConv, agrees_in_bf16) {
  const Shape2d shapes[] = {{{1, 32, 14, 14}, {32, 32, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
                            {{1, 58, 9, 9}, {29, 58, 1, 1}, {}},
                            {{1, 32, 9, 9}, {32, 1, 3, 3}, {{"group", int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}}}};
  for (const Shape2d& shape : shapes)
    for (const Layout layout : {Layout::nhwc, Layout::nchw16c})
      check_every_config("onednn", conv(shape, layout, layout, DType::bf16), 1e-2);
}

TEST_F(OnednnConv, weights_that_are_not_constant_are_packed_in_each_run) {
  Workload workload = conv({{1, 32, 9, 9}, {32, 32, 3, 3}, {}}, Layout::nhwc, Layout::nhwc);
  workload.inputs[1]->constant = false;
  workload.inputs[2]->constant = false;
  EXPECT_GT(check_every_config("onednn", workload), 0);
}

TEST_F(OnednnConv, fuses_every_activation) {
  const EpilogueStep steps[] = {
      {Kind::relu, -1, 0, 0},       {Kind::leaky_relu, -1, 0.1F, 0}, {Kind::elu, -1, 0.5F, 0},
      {Kind::sigmoid, -1, 0, 0},    {Kind::tanh, -1, 0, 0},          {Kind::gelu_erf, -1, 0, 0},
      {Kind::gelu_tanh, -1, 0, 0},  {Kind::swish, -1, 1.5F, 0},      {Kind::hard_sigmoid, -1, 0.2F, 0.4F},
      {Kind::hard_swish, -1, 0, 0}, {Kind::mish, -1, 0, 0},          {Kind::clip, -1, -0.5F, 2},
      {Kind::softplus, -1, 0, 0},   {Kind::exp, -1, 0, 0},           {Kind::abs, -1, 0, 0}};
  for (const EpilogueStep& step : steps) {
    int configs = 0;
    for (const Layout layout : {Layout::nhwc, Layout::nchw16c})
      configs += check_every_config("onednn", fused({step}, {}, layout));
    configs += check_every_config("onednn", fused({step}, {}, Layout::nchw16c, {1, 13, 9, 7}, 21));  // padding channels
    EXPECT_GT(configs, 0) << to_text(step);
  }
  EXPECT_GT(check_every_config("onednn", fused({{Kind::abs, -1, 0, 0}, {Kind::sqrt, -1, 0, 0}}, {}, Layout::nhwc)), 0);
}

TEST_F(OnednnConv, fuses_additions_and_products_with_broadcasting) {
  const EpilogueStep add{Kind::add, 3, 0, 0}, mul{Kind::mul, 3, 0, 0}, relu{Kind::relu, -1, 0, 0};
  for (const Layout layout : kLayouts) {
    EXPECT_GT(check_every_config("onednn", fused({add, relu}, {operand({2, 32, 9, 7}, layout)}, layout)), 0);
    EXPECT_GT(check_every_config("onednn", fused({relu, mul}, {operand({2, 32, 9, 7}, layout)}, layout)), 0);
    EXPECT_GT(check_every_config("onednn", fused({mul}, {constant({32, 1, 1})}, layout)), 0);
    EXPECT_GT(check_every_config("onednn", fused({mul}, {operand({1, 32, 1, 1}, layout)}, layout)), 0);
    EXPECT_GT(check_every_config("onednn", fused({add}, {constant({})}, layout)), 0);
    check_every_config("onednn", fused({mul}, {operand({2, 32, 1, 1})}, layout));
    check_every_config("onednn", fused({mul}, {operand({2, 32, 1, 1}, layout)}, layout));
    check_every_config("onednn", fused({add}, {operand({2, 1, 9, 7})}, layout));
    check_every_config("onednn", fused({add}, {operand({9, 7})}, layout));
    check_every_config("onednn", fused({add}, {operand({7})}, layout));
    check_every_config("onednn", fused({add}, {operand({1, 32, 9, 7})}, layout));
    check_every_config("onednn", fused({add}, {operand({2, 32, 9, 7})}, layout));
    const Dims odd{1, 13, 9, 7};
    check_every_config("onednn", fused({add, relu}, {operand({1, 21, 9, 7}, layout)}, layout, odd, 21));
    check_every_config("onednn", fused({add}, {constant({21, 1, 1})}, layout, odd, 21));
    check_every_config("onednn", fused({add}, {constant({})}, layout, odd, 21));
  }
}

TEST_F(OnednnConv, offers_residuals_that_update_the_operand_in_place) {
  const std::vector<EpilogueStep> steps = {{Kind::add, 3, 0, 0}, {Kind::relu, -1, 0, 0}};
  const Workload workload = fused(steps, {operand({2, 32, 9, 7}, Layout::nchw16c)}, Layout::nchw16c);
  const Provider& onednn = require_provider("onednn");
  const auto offer = std::get<Offer>(onednn.offer(workload));
  int in_place = 0;
  bool winograd = false;
  for (const Config& config : offer.configs) {
    if (onednn.build(workload, config)->in_place_input() != 3) continue;
    ++in_place;
    winograd |= config.at("algorithm") == "winograd";
  }
  EXPECT_GT(in_place, 0);
  const bool avx512 = offer.configs.front().at("impl").find("avx512") != std::string::npos;
  EXPECT_EQ(winograd, avx512);  // oneDNN has Winograd for AVX-512 only
}

TEST_F(OnednnConv, refuses_in_words) {
  const Shape2d shape{{1, 0, 5, 5}, {4, 0, 3, 3}, {}};
  EXPECT_NE(refusal("onednn", conv(shape, Layout::plain, Layout::plain)), "");
  const Shape2d doubles{{1, 2, 5, 5}, {4, 2, 3, 3}, {}};
  EXPECT_NE(refusal("onednn", conv(doubles, Layout::plain, Layout::plain, DType::f64)).find("f64"), std::string::npos);
  const Shape2d flat{{1, 2}, {4, 2}, {}};
  EXPECT_NE(refusal("onednn", conv(flat, Layout::plain, Layout::plain)).find("spatial"), std::string::npos);
}

}  // namespace
}  // namespace attune::testing
