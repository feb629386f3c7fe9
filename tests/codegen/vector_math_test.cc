// The errors that vector_text.h states, for every instruction set that this machine has.
#include "codegen/compile_text.h"
#include "codegen/vector/map_kernel.h"

#include <bit>
#include <cmath>
#include <limits>

namespace attune::testing {
namespace {

using namespace codegen;

/// y = f(x) by generated code.
std::vector<float> apply(const std::string& function, const std::vector<float>& x, Isa isa) {
  MapKernel kernel;
  kernel.inputs = {{Element::f32, 0}};
  kernel.nest.loops = {{static_cast<int64_t>(x.size()), {1, 1}}};
  kernel.expression.result = function + "(x0)";
  kernel.expression.functions = {function};
  MapConfig config;
  config.lanes = widest_lanes(isa);
  const GeneratedSource source = emit_map(kernel, config, isa, "");
  CompileOptions options;
  options.isa = isa;
  const CompiledObject object = find_compiler().compiler->compile(source, options);
  EXPECT_TRUE(object.ok()) << object.error << source.text;
  if (!object.ok()) return {};
  const auto loaded = LoadedObject::load(object.object);
  std::vector<float> y(x.size());
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  function_of<GeneratedFunction>(*loaded, source.entry)(inputs, outputs, nullptr, nullptr, 0,
                                                        map_task_count(kernel, config));
  return y;
}

/// Positive and negative floats over all magnitudes up to `largest`, evenly in their bits.
std::vector<float> all_magnitudes(float largest) {
  std::vector<float> x;
  for (float value = 1e-30f; value < largest; value *= 1.00037f) {
    x.push_back(value);
    x.push_back(-value);
  }
  return x;
}

struct Case {
  const char* function;
  double (*exact)(double);
  float largest;
  double relative, absolute;
};

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

class VectorMath : public ::testing::TestWithParam<Isa> {};

TEST_P(VectorMath, keeps_the_stated_errors) {
  SKIP_WITHOUT_COMPILER();
  if (GetParam() > detected_isa()) GTEST_SKIP() << "this machine has no " << isa_name(GetParam());
  const Case cases[] = {
      {"vexp", std::exp, 87, 2e-7, 0},
      {"vexp_below", std::exp, 87, 2e-7, 0},
      {"vexpm1", std::expm1, 87, 3e-7, 1e-37},
      {"vlog", std::log, 1e30f, 2e-7, 1e-7},
      {"vtanh", std::tanh, 50, 5e-7, 1e-37},
      {"verf", std::erf, 20, 4e-7, 1e-37},
      {"vgelu_erf", gelu, 20, 5e-7, 1e-6},
      {"vsigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 80, 5e-7, 1e-37},
      {"vsoftplus", [](double x) { return std::log1p(std::exp(x)); }, 80, 3e-7, 2e-7},
      {"vmish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, 60, 5e-7, 2e-7},
  };
  for (const Case& what : cases) {
    const auto x = all_magnitudes(what.largest);
    const auto y = apply(what.function, x, GetParam());
    ASSERT_EQ(y.size(), x.size());
    double worst = 0;
    float worst_at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = what.exact(static_cast<double>(x[i]));
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(y[i])) << what.function << "(" << x[i] << ")";
        continue;
      }
      const double error = std::abs(static_cast<double>(y[i]) - exact);
      const double allowed = what.relative * std::abs(exact) + what.absolute;
      if (error / allowed > worst) worst = error / allowed, worst_at = x[i];
    }
    EXPECT_LE(worst, 1) << what.function << " at " << worst_at << ", in units of the stated error";
    RecordProperty(what.function, std::to_string(worst));
  }
}

TEST_P(VectorMath, treats_infinities_and_nan_as_the_functions_do) {
  SKIP_WITHOUT_COMPILER();
  if (GetParam() > detected_isa()) GTEST_SKIP() << "this machine has no " << isa_name(GetParam());
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{inf, -inf, nan, 0.0f, 89.0f, -104.0f, -1.0f};
  const auto e = apply("vexp", x, GetParam());
  EXPECT_EQ(e[0], inf);
  EXPECT_EQ(e[1], 0);
  EXPECT_TRUE(std::isnan(e[2]));
  EXPECT_EQ(e[3], 1);
  EXPECT_EQ(e[4], inf);
  EXPECT_EQ(e[5], 0);
  const std::vector<float> below{-inf, nan,    std::bit_cast<float>(0x7FC001FFu), std::bit_cast<float>(0xFFC00155u),
                                 0.0f, -104.0f};
  const auto b = apply("vexp_below", below, GetParam());
  EXPECT_EQ(b[0], 0);
  for (const size_t i : {1, 2, 3}) EXPECT_TRUE(std::isnan(b[i])) << i;
  EXPECT_EQ(b[4], 1);
  EXPECT_EQ(b[5], 0);
  const auto l = apply("vlog", x, GetParam());
  EXPECT_EQ(l[0], inf);
  EXPECT_TRUE(std::isnan(l[1]));
  EXPECT_TRUE(std::isnan(l[2]));
  EXPECT_EQ(l[3], -inf);
  EXPECT_TRUE(std::isnan(l[6]));
  for (const char* function : {"vtanh", "verf"}) {
    const auto y = apply(function, x, GetParam());
    EXPECT_NEAR(y[0], 1, 1e-6) << function;
    EXPECT_NEAR(y[1], -1, 1e-6) << function;
    EXPECT_TRUE(std::isnan(y[2])) << function;
    EXPECT_EQ(y[3], 0) << function;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, VectorMath, ::testing::Values(Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_bf16),
                         [](const auto& test) { return std::string(isa_name(test.param)); });

}  // namespace
}  // namespace attune::testing
