// The errors that functions.h states, for every kind of vector that this machine has.
#include "codegen/cube/functions.h"

#include "codegen/compile_text.h"

#include <cmath>
#include <limits>

namespace attune::testing {
namespace {

using cube::Accuracy;
using cube::VectorIsa;

struct Target {
  const char* name;
  Isa isa;
  VectorIsa vectors;
};

constexpr Target kTargets[] = {
    {"avx2", Isa::avx2, {.lanes = 8, .native_bf16 = false, .masks = false}},
    {"avx512_in_halves", Isa::avx512, {.lanes = 8, .native_bf16 = false, .masks = true}},
    {"avx512", Isa::avx512, {.lanes = 16, .native_bf16 = false, .masks = true}},
    {"avx512_bf16_in_halves", Isa::avx512_bf16, {.lanes = 8, .native_bf16 = true, .masks = true}},
    {"avx512_bf16", Isa::avx512_bf16, {.lanes = 16, .native_bf16 = true, .masks = true}},
};

/// y = f(x) by generated code, where `call` is f(x) as text.
std::vector<float> apply(const std::string& name, const std::string& call, std::vector<float> x, const Target& target,
                         Accuracy accuracy) {
  const size_t count = x.size();
  while (x.size() % static_cast<size_t>(target.vectors.lanes) != 0) x.push_back(0);
  const std::string text = vector_vocabulary(target.vectors) + function_definitions({name}, target.vectors, accuracy) +
                           "extern \"C\" __attribute__((visibility(\"default"
                           "\"))) void kernel(const float* from, float* to, long count) {\n"
                           "  constexpr int N = sizeof(vf) / sizeof(float);\n"
                           "  for (long i = 0; i < count; i += N) {\n"
                           "    const vf x = load<N>(from + i);\n"
                           "    store<N>(to + i, " +
                           call + ");\n  }\n}\n";
  const CompiledObject object = compile_text(text, target.isa);
  EXPECT_TRUE(object.ok()) << object.error << text;
  if (!object.ok()) return {};
  const auto loaded = LoadedObject::load(object.object);
  std::vector<float> y(x.size());
  function_of<void (*)(const float*, float*, long)>(*loaded, "kernel")(x.data(), y.data(), static_cast<long>(x.size()));
  y.resize(count);
  return y;
}

double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double gelu_tanh(double x) { return x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// What may be wrong at x: so much of the result, of the argument, and at all.
struct Allowed {
  double of_result = 0, of_argument = 0, absolute = 0;
  double at(double x, double exact) const { return of_result * std::abs(exact) + of_argument * std::abs(x) + absolute; }
};

struct Case {
  const char *name, *call;
  double (*exact)(double);
  float least, most;
  Allowed f32, bf16;
};

const Case kCases[] = {
    {"bounded_exp", "bounded_exp(x)", std::exp, -87, 87, {.of_result = 2e-7}, {.of_result = 2e-7}},
    {"exp", "exp_of(x)", std::exp, -87, 87, {.of_result = 3e-6}, {.of_result = 3e-6}},
    {"sigmoid", "sigmoid_of(x)", sigmoid, -86, 100, {.of_result = 3e-7}, {.of_result = 2e-4}},
    {"tanh", "tanh_of(x)", std::tanh, -100, 100, {.of_result = 5e-7}, {.of_result = 4e-4}},
    {"gelu_erf", "gelu_erf_of(x)", gelu_erf, -5, 100, {.of_argument = 3e-7}, {.of_result = 2e-3}},
    {"gelu_erf", "gelu_erf_of(x)", gelu_erf, -100, -5, {.of_argument = 3e-7}, {.absolute = 2e-6}},
    {"gelu_tanh", "gelu_tanh_of(x)", gelu_tanh, -5, 100, {.of_argument = 6e-7}, {.of_result = 2e-3}},
    {"gelu_tanh", "gelu_tanh_of(x)", gelu_tanh, -100, -5, {.of_argument = 6e-7}, {.absolute = 2e-6}},
    {"log1p", "log1p_of(x)", std::log1p, 0, 1, {.of_result = 2e-7}, {.of_result = 2e-7}},
};

/// Floats of [least, most]: evenly, and of all magnitudes.
std::vector<float> arguments(float least, float most) {
  std::vector<float> x;
  for (int i = 0; i <= 200000; ++i) x.push_back(least + (most - least) * static_cast<float>(i) / 200000.0F);
  for (float size = 1e-20F; size < 128; size *= 1.001F)
    for (const float value : {size, -size})
      if (value >= least && value <= most) x.push_back(value);
  return x;
}

class CubeFunctions : public ::testing::TestWithParam<Target> {};

TEST_P(CubeFunctions, keep_the_stated_errors) {
  SKIP_WITHOUT_COMPILER();
  if (GetParam().isa > detected_isa()) GTEST_SKIP() << "this machine has no " << isa_name(GetParam().isa);
  for (const Case& what : kCases)
    for (const Accuracy accuracy : {Accuracy::f32, Accuracy::bf16}) {
      const auto x = arguments(what.least, what.most);
      const auto y = apply(what.name, what.call, x, GetParam(), accuracy);
      ASSERT_EQ(y.size(), x.size());
      const bool brief = accuracy == Accuracy::bf16 && GetParam().vectors.masks;
      const Allowed& allowed = brief ? what.bf16 : what.f32;
      double worst = 0;
      float worst_at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double argument = static_cast<double>(x[i]), exact = what.exact(argument);
        const double error = std::abs(static_cast<double>(y[i]) - exact) / (allowed.at(argument, exact) + 1e-37);
        if (!(error <= worst)) worst = error, worst_at = x[i];
      }
      EXPECT_LE(worst, 1) << what.name << " for " << (accuracy == Accuracy::f32 ? "f32" : "bf16") << " at " << worst_at
                          << ", in units of the stated error";
    }
}

TEST_P(CubeFunctions, keep_what_is_not_a_number_and_end_where_functions_end) {
  SKIP_WITHOUT_COMPILER();
  if (GetParam().isa > detected_isa()) GTEST_SKIP() << "this machine has no " << isa_name(GetParam().isa);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const Accuracy accuracy : {Accuracy::f32, Accuracy::bf16}) {
    for (const Case& what : kCases) {
      if (std::string_view(what.name) == "log1p") continue;  // of numbers that an exponential gave
      EXPECT_TRUE(std::isnan(apply(what.name, what.call, {nan}, GetParam(), accuracy).at(0))) << what.name;
    }
    const auto s = apply("sigmoid", "sigmoid_of(x)", {inf, -inf, 3e38F, -3e38F}, GetParam(), accuracy);
    for (const size_t i : {0, 2}) EXPECT_NEAR(s[i], 1, 2e-4);
    for (const size_t i : {1, 3}) EXPECT_NEAR(s[i], 0, 1e-37);
    const auto t = apply("tanh", "tanh_of(x)", {inf, -inf, 0.0F}, GetParam(), accuracy);
    EXPECT_EQ(t[0], 1);
    EXPECT_NEAR(t[1], -1, 4e-4);
    EXPECT_EQ(t[2], 0);
    for (const char* name : {"gelu_erf", "gelu_tanh"}) {
      const auto g = apply(name, std::string(name) + "_of(x)", {1e30F, -1e4F, 0.0F, inf}, GetParam(), accuracy);
      EXPECT_NEAR(g[0] / 1e30F, 1, 2e-4) << name;
      EXPECT_NEAR(g[1], 0, 1e-30) << name;
      EXPECT_EQ(g[2], 0) << name;
      EXPECT_EQ(g[3], inf) << name;
    }
    const auto e = apply("exp", "exp_of(x)", {inf, -inf, 0.0F, -200.0F, 200.0F}, GetParam(), accuracy);
    EXPECT_GE(e[0], 3e38F);
    EXPECT_NEAR(e[1], 0, 1e-37);
    EXPECT_EQ(e[2], 1);
    EXPECT_NEAR(e[3], 0, 1e-37);
    EXPECT_GE(e[4], 3e38F);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, CubeFunctions, ::testing::ValuesIn(kTargets),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace attune::testing
