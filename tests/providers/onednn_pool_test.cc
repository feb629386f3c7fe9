#include "kernel/reorder.h"
#include "providers/provider_case.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

using Ints = std::vector<int64_t>;

constexpr Layout kLayouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

class OnednnPool : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
  }
};
using OnednnDeconv = OnednnPool;
using OnednnReorder = OnednnPool;

Workload pool(const char* op, Dims src, Attributes attributes, Layout layout, DType dtype = DType::f32) {
  return make_case("", op, 19, {operand(std::move(src), layout, dtype)}, std::move(attributes), layout);
}

int check_pool(const char* op, const Dims& src, const Attributes& attributes) {
  int configs = 0;
  for (const Layout layout : kLayouts) configs += check_every_config("onednn", pool(op, src, attributes, layout));
  return configs;
}

TEST_F(OnednnPool, agrees_on_windows_in_every_layout) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const Ints two{2, 2}, three{3, 3}, ones{1, 1, 1, 1};
    EXPECT_GT(check_pool(op, {1, 16, 8, 8}, {{"kernel_shape", two}, {"strides", two}}), 0);
    EXPECT_GT(check_pool(op, {2, 58, 11, 13}, {{"kernel_shape", three}, {"strides", two}, {"pads", ones}}), 0);
    EXPECT_GT(check_pool(op, {1, 7, 9, 9}, {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{0, 1, 1, 0}}}), 0);
    EXPECT_GT(check_pool(op, {1, 16, 10, 9},
                         {{"kernel_shape", three}, {"auto_pad", std::string("SAME_LOWER")}, {"strides", two}}),
              0);
    EXPECT_GT(check_pool(op, {1, 16, 8, 10}, {{"kernel_shape", three}, {"strides", two}, {"ceil_mode", int64_t{1}}}),
              0);
    EXPECT_GT(check_pool(op, {1, 16, 31}, {{"kernel_shape", Ints{4}}, {"strides", Ints{3}}}), 0);
    EXPECT_GT(check_pool(op, {1, 16, 5, 6, 7}, {{"kernel_shape", Ints{2, 3, 2}}, {"strides", Ints{2, 1, 2}}}), 0);
    check_pool(op, {1, 16, 12, 12}, {{"kernel_shape", three}, {"dilations", two}});
  }
}

TEST_F(OnednnPool, counts_padding_when_asked) {
  EXPECT_GT(check_pool("AveragePool", {1, 19, 9, 9},
                       {{"kernel_shape", Ints{3, 3}},
                        {"strides", Ints{2, 2}},
                        {"pads", Ints{1, 1, 1, 1}},
                        {"count_include_pad", int64_t{1}}}),
            0);
  const Attributes beyond{{"kernel_shape", Ints{3, 3}},
                          {"strides", Ints{2, 2}},
                          {"ceil_mode", int64_t{1}},
                          {"count_include_pad", int64_t{1}}};
  EXPECT_NE(refusal("onednn", pool("AveragePool", {1, 16, 8, 8}, beyond, Layout::plain)).find("ceil_mode"),
            std::string::npos);
}

TEST_F(OnednnPool, agrees_on_global_pools) {
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"}) {
    EXPECT_GT(check_pool(op, {2, 32, 7, 7}, {}), 0);
    EXPECT_GT(check_pool(op, {1, 58, 5, 3}, {}), 0);
    EXPECT_GT(check_pool(op, {1, 17, 31}, {}), 0);
  }
}

TEST_F(OnednnPool, agrees_in_bf16) {
  const Attributes attributes{{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}};
  for (const Layout layout : {Layout::nhwc, Layout::nchw16c}) {
    check_every_config("onednn", pool("MaxPool", {1, 32, 9, 9}, attributes, layout, DType::bf16), 1e-2);
    check_every_config("onednn", pool("AveragePool", {1, 32, 9, 9}, attributes, layout, DType::bf16), 1e-2);
  }
}

TEST_F(OnednnPool, refuses_windows_of_padding_only) {
  const Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 2, 2, 2}}};
  EXPECT_NE(refusal("onednn", pool("MaxPool", {1, 16, 8, 8}, attributes, Layout::plain)).find("padding"),
            std::string::npos);
}

int check_deconv(const Dims& src, const Dims& weights, const Attributes& attributes) {
  const auto group = attributes.find("group");
  const int64_t groups = group == attributes.end() ? 1 : std::get<int64_t>(group->second);
  int configs = 0;
  for (const Layout layout : kLayouts) {
    const Workload workload =
        make_case("", "ConvTranspose", 17, {operand(src, layout), constant(weights), constant({weights[1] * groups})},
                  attributes, layout);
    configs += check_every_config("onednn", workload);
  }
  return configs;
}

TEST_F(OnednnDeconv, agrees_on_ordinary_and_odd_shapes_in_every_layout) {
  EXPECT_GT(check_deconv({1, 16, 7, 7}, {16, 32, 2, 2}, {{"strides", Ints{2, 2}}}), 0);
  EXPECT_GT(check_deconv({2, 13, 5, 7}, {13, 11, 3, 3}, {{"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 0, 1}}}), 0);
  EXPECT_GT(check_deconv({1, 16, 6, 6}, {16, 16, 3, 3},
                         {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 1}}}),
            0);
  EXPECT_GT(check_deconv({1, 16, 6, 6}, {16, 16, 3, 3}, {{"dilations", Ints{2, 2}}}), 0);
  EXPECT_GT(
      check_deconv({1, 16, 6, 6}, {16, 16, 4, 4}, {{"strides", Ints{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}),
      0);
  EXPECT_GT(check_deconv({1, 16, 6, 6}, {16, 16, 3, 3}, {{"strides", Ints{2, 2}}, {"output_shape", Ints{12, 11}}}), 0);
  EXPECT_GT(check_deconv({1, 32, 6, 6}, {32, 8, 3, 3}, {{"group", int64_t{2}}}), 0);
  EXPECT_GT(check_deconv({1, 16, 6, 6}, {16, 1, 3, 3}, {{"group", int64_t{16}}, {"strides", Ints{2, 2}}}), 0);
  EXPECT_GT(check_deconv({1, 16, 9}, {16, 16, 3}, {{"strides", Ints{2}}}), 0);
  EXPECT_GT(check_deconv({1, 5, 3, 4, 5}, {5, 6, 2, 2, 2}, {{"strides", Ints{2, 2, 2}}}), 0);
}

TEST_F(OnednnReorder, converts_between_all_layouts) {
  for (const Dims& dims :
       {Dims{2, 58, 7, 5}, Dims{1, 32, 9, 9}, Dims{2, 17, 11}, Dims{1, 16, 3, 4, 5}, Dims{3, 1, 1, 1}})
    for (const Layout from : kLayouts)
      for (const Layout to : kLayouts)
        for (const DType dtype : {DType::f32, DType::bf16})
          EXPECT_GT(
              check_every_config("onednn", reorder_workload(operand(dims, from, dtype), operand(dims, to, dtype)), 0),
              0);
}

TEST_F(OnednnReorder, converts_between_f32_and_bf16) {
  const Dims dims{2, 19, 7, 5};
  for (const Layout from : kLayouts)
    for (const Layout to : kLayouts) {
      EXPECT_GT(check_every_config("onednn", reorder_workload(operand(dims, from), operand(dims, to, DType::bf16)), 0),
                0);
      EXPECT_GT(check_every_config("onednn", reorder_workload(operand(dims, from, DType::bf16), operand(dims, to)), 0),
                0);
    }
  EXPECT_NE(refusal("onednn", reorder_workload(operand(dims), operand(dims, Layout::plain, DType::i8))), "");
}

}  // namespace
}  // namespace attune::testing
