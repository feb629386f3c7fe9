// oneDNN's products of bytes against the reference, every implementation of each. Results are equal to the last step,
// except where sums reach beyond 2^24: those pass through f32, and a result may then lie one step beside.
#include "ops/run_node.h"
#include "providers/provider_case.h"

#include <gtest/gtest.h>

#include <random>

namespace attune::testing {
namespace {

using Ints = std::vector<int64_t>;
using Specs = std::vector<std::optional<TensorSpec>>;

class OnednnInt8 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
    const std::string reason =
        refusal("onednn", make_case("", "MatMulInteger", 10, {byte(DType::u8, {2, 4}), byte(DType::i8, {4, 3})}, {}));
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  static TensorSpec byte(DType dtype, Dims dims, Layout layout = Layout::plain) {
    return {dtype, std::move(dims), layout, false};
  }
};

TensorSpec constant_byte(DType dtype, Dims dims) { return {dtype, std::move(dims), Layout::plain, true}; }
TensorSpec zero_of(DType dtype, Dims dims = {}) { return {dtype, std::move(dims), Layout::plain, true, true}; }
TensorSpec scale_of(Dims dims = {}) { return constant(std::move(dims)); }

/// Bytes of the whole range, scales such that most results fall inside the range, small biases.
Tensor contents(const TensorSpec& spec, std::mt19937& random, float scale) {
  Tensor tensor = Tensor::zeros(spec.dtype, spec.dims);
  if (spec.zero) return tensor;
  std::uniform_int_distribution<int> byte(0, 255), bias(-3000, 3000);
  std::uniform_real_distribution<float> factor(0.5F * scale, scale);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (spec.dtype == DType::f32)
      tensor.mutable_data<float>()[i] = factor(random);
    else if (spec.dtype == DType::i32)
      tensor.mutable_data<int32_t>()[i] = bias(random);
    else
      tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(byte(random));
  }
  return tensor;
}

/// How many configs there were, each compared with the reference on random contents. `scale` is that of every scale;
/// `tolerance` as for check_every_config.
int check(const Workload& workload, float scale, double tolerance = 0) {
  std::mt19937 random(11);
  Example example;
  for (const auto& spec : workload.inputs) example.inputs.push_back(spec ? contents(*spec, random, scale) : Tensor());
  std::vector<const Tensor*> pointers;
  for (size_t i = 0; i < example.inputs.size(); ++i)
    pointers.push_back(workload.inputs[i] ? &example.inputs[i] : nullptr);
  example.outputs = {run_node(workload.node(), pointers)[0]};
  return check_every_config("onednn", workload, example, tolerance);
}

Workload qlinear_conv(const TensorSpec& src, Dims weights, Attributes attributes, const TensorSpec& src_zero,
                      const TensorSpec& dst_zero, bool for_each_channel = true, bool bias = true) {
  const Dims channels = {weights[0]};
  Specs inputs = {src,
                  scale_of(),
                  src_zero,
                  constant_byte(DType::i8, weights),
                  scale_of(for_each_channel ? channels : Dims{}),
                  zero_of(DType::i8, for_each_channel ? channels : Dims{}),
                  scale_of(),
                  dst_zero};
  if (bias) inputs.emplace_back(TensorSpec{DType::i32, channels, Layout::plain, true});
  return make_case("", "QLinearConv", 10, std::move(inputs), std::move(attributes), Layout::nhwc);
}

TEST_F(OnednnInt8, convolutions_agree_in_every_type_with_and_without_zero_points) {
  struct Shape {
    Dims src, weights;
    Attributes attributes;
  };
  const Shape shapes[] = {
      {{1, 16, 9, 9}, {32, 16, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
      {{2, 3, 11, 7}, {20, 3, 3, 3}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 2, 1}}}},
      {{1, 64, 5, 5}, {32, 64, 1, 1}, {}},
      {{1, 32, 8, 8}, {32, 1, 3, 3}, {{"group", int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}}},
      {{1, 32, 8, 8}, {48, 8, 3, 3}, {{"group", int64_t{4}}, {"dilations", Ints{2, 2}}}},
      {{1, 16, 30}, {8, 16, 5}, {{"pads", Ints{2, 2}}}},
  };
  // Scales multiply to x * w / y = scale / 1 on average, which spreads the sums over the range.
  constexpr float kScale = 0.004F;
  for (const Shape& shape : shapes)
    for (const DType src : {DType::u8, DType::i8})
      for (const DType dst : {DType::u8, DType::i8})
        for (const bool src_is_zero : {false, true})
          for (const bool dst_is_zero : {false, true}) {
            const Workload workload =
                qlinear_conv(byte(src, shape.src, Layout::nhwc), shape.weights, shape.attributes,
                             src_is_zero ? zero_of(src) : constant_byte(src, {}),
                             dst_is_zero ? zero_of(dst) : constant_byte(dst, {}), src_is_zero, dst_is_zero);
            EXPECT_GT(check(workload, kScale), 0) << workload.key();
          }
}

TEST_F(OnednnInt8, convolutions_with_long_sums_agree_within_a_step) {
  constexpr double kOneStep = 1.0 / 127;
  for (const DType src : {DType::u8, DType::i8})
    EXPECT_GT(check(qlinear_conv(byte(src, {1, 512, 4, 4}, Layout::nhwc), {16, 512, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}},
                                 constant_byte(src, {}), constant_byte(src, {})),
                    0.0004F, kOneStep),
              0);
}

TEST_F(OnednnInt8, integer_convolutions_agree_and_refuse_sums_that_f32_does_not_hold) {
  const auto integer = [](DType src, int64_t channels, std::optional<TensorSpec> zero) {
    return make_case(
        "", "ConvInteger", 10,
        {byte(src, {1, channels, 7, 7}, Layout::nhwc), constant_byte(DType::i8, {24, channels, 3, 3}), std::move(zero)},
        {{"pads", Ints{1, 1, 1, 1}}}, Layout::nhwc);
  };
  for (const DType src : {DType::u8, DType::i8}) {
    EXPECT_GT(check(integer(src, 16, std::nullopt), 1), 0);
    EXPECT_GT(check(integer(src, 16, byte(src, {})), 1), 0);  // a zero point that is known at run time
  }
  EXPECT_NE(refusal("onednn", integer(DType::u8, 64, std::nullopt)).find("f32"), std::string::npos);
}

TEST_F(OnednnInt8, convolutions_refuse_what_the_library_cannot_do_in_words) {
  const TensorSpec src = byte(DType::u8, {1, 16, 9, 9}, Layout::nhwc), zero = constant_byte(DType::u8, {});
  Workload workload = qlinear_conv(src, {32, 16, 3, 3}, {}, zero, zero);
  workload.inputs[5]->zero = false;
  EXPECT_NE(refusal("onednn", workload).find("zero point of weights"), std::string::npos);
  workload = qlinear_conv(src, {32, 16, 3, 3}, {}, zero, zero);
  workload.inputs[3]->dtype = workload.inputs[5]->dtype = DType::u8;
  EXPECT_NE(refusal("onednn", workload).find("signed weights"), std::string::npos);
  workload = qlinear_conv(src, {32, 16, 3, 3}, {}, zero, zero);
  workload.inputs[0]->layout = workload.outputs[0]->layout = Layout::plain;
  EXPECT_NE(refusal("onednn", workload).find("channels-last"), std::string::npos);
}

struct ProductShape {
  Dims a, b;
};
const ProductShape kProducts[] = {{{5, 64}, {64, 48}},      {{1, 33}, {33, 7}}, {{2, 3, 40}, {40, 16}},
                                  {{2, 9, 16}, {2, 16, 9}}, {{16}, {16, 8}},    {{128, 256}, {256, 64}}};

TEST_F(OnednnInt8, requantised_products_agree_in_every_type) {
  constexpr float kScale = 0.004F;
  for (const auto& [a, b] : kProducts)
    for (const DType left : {DType::u8, DType::i8})
      for (const DType right : {DType::u8, DType::i8})
        for (const bool weights : {true, false})
          for (const bool zero : {true, false}) {
            const auto zero_point = [&](DType dtype) { return zero ? zero_of(dtype) : constant_byte(dtype, {}); };
            const TensorSpec second = weights ? constant_byte(right, b) : byte(right, b);
            const Dims columns = b.size() == 2 ? Dims{b.back()} : Dims{};
            const Workload workload =
                make_case("", "QLinearMatMul", 10,
                          {byte(left, a), scale_of(), zero_point(left), second, scale_of(weights ? columns : Dims{}),
                           zero_point(right), scale_of(), zero_point(left)},
                          {});
            EXPECT_GT(check(workload, kScale), 0) << workload.key();
          }
}

TEST_F(OnednnInt8, integer_products_are_equal_however_long_the_sums) {
  for (const ProductShape& shape : {kProducts[0], kProducts[2], kProducts[3], ProductShape{{3, 4096}, {4096, 32}}})
    for (const DType left : {DType::u8, DType::i8})
      for (const DType right : {DType::u8, DType::i8}) {
        EXPECT_GT(
            check(make_case("", "MatMulInteger", 10, {byte(left, shape.a), constant_byte(right, shape.b)}, {}), 1), 0);
        const Workload with_zeros = make_case(
            "", "MatMulInteger", 10,
            {byte(left, shape.a), constant_byte(right, shape.b), byte(left, {}), constant_byte(right, {1})}, {});
        EXPECT_GT(check(with_zeros, 1), 0) << with_zeros.key();
      }
}

TEST_F(OnednnInt8, the_largest_values_do_not_saturate_between) {
  for (const DType left : {DType::u8, DType::i8}) {
    const Workload workload =
        make_case("", "MatMulInteger", 10, {byte(left, {2, 300}), constant_byte(DType::i8, {300, 16})}, {});
    Example example;
    example.inputs = {Tensor::allocate(left, {2, 300}), Tensor::allocate(DType::i8, {300, 16})};
    std::fill_n(example.inputs[0].mutable_data<uint8_t>(), 600, left == DType::u8 ? 255 : 128);
    std::fill_n(example.inputs[1].mutable_data<int8_t>(), 4800, int8_t{-128});
    example.outputs = {Tensor::allocate(DType::i32, {2, 16})};
    std::fill_n(example.outputs[0].mutable_data<int32_t>(), 32, 300 * -128 * (left == DType::u8 ? 255 : -128));
    EXPECT_GT(check_every_config("onednn", workload, example, 0), 0);
  }
}

TEST_F(OnednnInt8, products_of_com_microsoft_agree) {
  for (const DType right : {DType::u8, DType::i8}) {
    const TensorSpec weights = constant_byte(right, {40, 24}), zero = constant_byte(right, {});
    const Workload to_float = make_case("com.microsoft", "MatMulIntegerToFloat", 1,
                                        {byte(DType::u8, {6, 40}), weights, scale_of(), scale_of({24}),
                                         constant_byte(DType::u8, {}), zero, scale_of({24})},
                                        {});
    EXPECT_GT(check(to_float, 0.01F, 1e-6), 0) << to_float.key();
    const Workload dynamic = make_case("com.microsoft", "DynamicQuantizeMatMul", 1,
                                       {operand({2, 3, 40}), weights, scale_of(), zero, scale_of({24})}, {});
    EXPECT_GT(check(dynamic, 0.01F, 1e-6), 0) << dynamic.key();
    for (const int64_t transposes : {0, 1}) {
      const Workload gemm =
          make_case("com.microsoft", "QGemm", 1,
                    {byte(DType::u8, {6, 40}), scale_of(), constant_byte(DType::u8, {}),
                     constant_byte(right, transposes != 0 ? Dims{24, 40} : Dims{40, 24}), scale_of(), zero,
                     TensorSpec{DType::i32, {24}, Layout::plain, true}, scale_of(), constant_byte(DType::u8, {})},
                    {{"transB", transposes}, {"alpha", 1.5F}});
      EXPECT_GT(check(gemm, 0.004F), 0) << gemm.key();
    }
  }
}

TEST_F(OnednnInt8, products_refuse_what_the_library_cannot_do_in_words) {
  const TensorSpec a = byte(DType::u8, {6, 40}), b = constant_byte(DType::i8, {40, 24});
  EXPECT_NE(
      refusal("onednn", make_case("", "MatMulInteger", 10, {a, b, std::nullopt, constant_byte(DType::i8, {24})}, {}))
          .find("zero point of the right operand"),
      std::string::npos);
}

}  // namespace
}  // namespace attune::testing
