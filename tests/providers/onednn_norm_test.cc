// oneDNN's batch normalisation, reductions, LRN and further functions against the reference, every implementation.
#include "providers/provider_case.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

using Ints = std::vector<int64_t>;

constexpr Layout kLayouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

class OnednnNorm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
  }
};

TEST_F(OnednnNorm, batch_normalisation_agrees_in_every_layout) {
  for (const Layout layout : kLayouts) {
    const int64_t channels = 32;
    const TensorSpec parameter = constant({channels});
    // The variance is among random parameters, so epsilon keeps it positive.
    EXPECT_GT(check_every_config("onednn", make_case("", "BatchNormalization", 15,
                                                     {operand({2, channels, 5, 3}, layout), parameter, parameter,
                                                      parameter, parameter},
                                                     {{"epsilon", 1.5F}}, layout)),
              0)
        << layout_name(layout);
  }
}

TEST_F(OnednnNorm, instance_normalisation_agrees_for_one_and_several_images) {
  for (const int64_t images : {1, 3})
    EXPECT_GT(check_every_config("onednn", make_case("", "InstanceNormalization", 6,
                                                     {operand({images, 6, 9, 7}), constant({6}), constant({6})}, {})),
              0);
  EXPECT_NE(refusal("onednn",
                    make_case("", "InstanceNormalization", 6,
                              {operand({2, 16, 9, 7}, Layout::nhwc), constant({16}), constant({16})}, {}, Layout::nhwc))
                .find("several images"),
            std::string::npos);
}

TEST_F(OnednnNorm, reductions_agree_over_trailing_axes) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceProd"})
    for (const int64_t keep : {0, 1}) {
      const auto reduce = [&](Dims dims, Ints axes) {
        return make_case("", op, 11, {operand(std::move(dims))}, {{"axes", std::move(axes)}, {"keepdims", keep}});
      };
      EXPECT_GT(check_every_config("onednn", reduce({3, 5, 17, 33}, {2, 3})), 0) << op;
      EXPECT_GT(check_every_config("onednn", reduce({40, 64}, {-1})), 0) << op;
      check_every_config("onednn", reduce({3, 5, 7}, {1}));  // where it has more than its reference
    }
}

TEST_F(OnednnNorm, lrn_agrees_and_refuses_even_windows) {
  for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw16c})
    check_every_config("onednn", make_case("", "LRN", 13, {operand({2, 32, 5, 5}, layout)},
                                           {{"size", int64_t{5}}, {"alpha", 0.5F}}, layout));
  EXPECT_GT(check_every_config("onednn", make_case("", "LRN", 13, {operand({2, 32, 5, 5})}, {{"size", int64_t{5}}})),
            0);
  EXPECT_NE(refusal("onednn", make_case("", "LRN", 13, {operand({2, 32, 5, 5})}, {{"size", int64_t{4}}})).find("even"),
            std::string::npos);
}

TEST_F(OnednnNorm, bounds_and_slopes_agree) {
  for (const Layout layout : {Layout::plain, Layout::nhwc}) {  // bounds would reach the padding of blocks
    const TensorSpec data = operand({2, 16, 3, 5}, layout);
    EXPECT_GT(check_every_config("onednn", make_case("", "Clip", 13, {data, operand({}), operand({})}, {}, layout)), 0);
    EXPECT_GT(check_every_config("onednn", make_case("", "Clip", 13, {data, constant({})}, {}, layout)), 0);
    EXPECT_GT(check_every_config("onednn", make_case("", "Clip", 13, {data, std::nullopt, constant({})}, {}, layout)),
              0);
    check_every_config("onednn", make_case("", "PRelu", 16, {data, constant({16, 1, 1})}, {}, layout));
  }
  EXPECT_GT(
      check_every_config("onednn", make_case("", "PRelu", 16, {operand({2, 16, 3, 5}), constant({16, 1, 1})}, {})), 0);
}

TEST_F(OnednnNorm, more_functions_agree_in_every_layout) {
  for (const Layout layout : kLayouts)
    for (const auto& [op, version] : {std::pair{"Round", 11}, std::pair{"Neg", 13}})
      EXPECT_GT(check_every_config("onednn", make_case("", op, version, {operand({2, 19, 3, 5}, layout)}, {}, layout)),
                0)
          << op;
  for (const Layout layout : {Layout::plain, Layout::nhwc})
    EXPECT_GT(
        check_every_config("onednn", make_case("", "HardSigmoid", 22, {operand({2, 19, 3, 5}, layout)}, {}, layout)),
        0);
}

}  // namespace
}  // namespace attune::testing
