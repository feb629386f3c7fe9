// An infinity in one pixel reaches the results whose window has the pixel, and no others: what kernels read beyond a
// row and multiply by zero must not be infinite.
#include "base/float_types.h"
#include "codegen/compiler_module.h"
#include "kernel/parse_workload.h"
#include "providers/generated/cube_generators.h"
#include "providers/generated/generated_provider.h"
#include "tune/measure/check_kernel.h"
#include "tune/measure/example.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune::tune {
namespace {

/// A square convolution of bf16 in channels-last order, padded evenly.
struct InfinityCase {
  int64_t channels, size, columns, kernel, stride, pad;
  std::string text() const {
    return fmt::format(
        "Conv@17(bf16[1x{0}x{1}x{1}]@nhwc, bf16[{2}x{0}x{3}x{3}]*) -> (?@nhwc) {{pads = ints [{4}, {4}, "
        "{4}, {4}], strides = ints [{5}, {5}]}}",
        channels, size, columns, kernel, pad, stride);
  }
  int64_t out() const { return (size + 2 * pad - kernel) / stride + 1; }
  bool meets(int64_t out_at, int64_t in_at) const {
    const int64_t first = out_at * stride - pad;
    return in_at >= first && in_at < first + kernel;
  }
};

void PrintTo(const InfinityCase& what, std::ostream* out) { *out << what.text(); }

class CubeInfinity : public ::testing::TestWithParam<InfinityCase> {};

TEST_P(CubeInfinity, stays_in_the_windows_that_have_it) {
  const GeneratedProvider provider;
  if (!missing_compiler().empty()) GTEST_SKIP() << missing_compiler();
  const InfinityCase& shape = GetParam();
  const WorkloadCase what = parse_workload_case(shape.text());
  const Example example = make_example(what, 1);
  const Workload workload = complete_workload(what, example);
  const std::vector<Config> configs = cube_sweep(workload);
  if (configs.empty()) GTEST_SKIP() << "no kernels for bf16 on this machine";
  const int64_t row = shape.size / 2, column = shape.size / 2 + 1;
  std::vector<BFloat16> src(static_cast<size_t>(shape.size * shape.size * shape.channels), BFloat16(0.5f));
  for (int64_t c = 0; c < shape.channels; ++c)
    src[static_cast<size_t>((row * shape.size + column) * shape.channels + c)] =
        BFloat16(std::numeric_limits<float>::infinity());
  std::vector<const Tensor*> constants = {nullptr, &example.inputs[1]};
  const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(src.data()), nullptr};
  constexpr size_t kMost = 4;  // one of each kind would do; a few of each compile quickly
  for (size_t i = 0; i < configs.size(); i += std::max<size_t>(1, configs.size() / kMost)) {
    SCOPED_TRACE(to_text(configs[i]));
    const auto kernel = provider.build(workload, configs[i]);
    const std::vector<Tensor> prepared = kernel->prepare(constants);
    std::vector<BFloat16> dst(static_cast<size_t>(shape.out() * shape.out() * shape.columns));
    std::vector<std::byte> workspace(static_cast<size_t>(kernel->workspace_bytes()));
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(dst.data())};
    run_on_pool(*kernel, {inputs, outputs, prepared, workspace.data(), nullptr});
    int64_t wrong = 0;
    for (int64_t y = 0; y < shape.out(); ++y)
      for (int64_t x = 0; x < shape.out(); ++x)
        for (int64_t n = 0; n < shape.columns; ++n) {
          const auto at = static_cast<size_t>((y * shape.out() + x) * shape.columns + n);
          const bool finite = std::isfinite(static_cast<float>(dst[at]));
          wrong += finite == (shape.meets(y, row) && shape.meets(x, column)) ? 1 : 0;
        }
    EXPECT_EQ(wrong, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CubeInfinity,
                         ::testing::Values(InfinityCase{3, 23, 20, 7, 2, 3}, InfinityCase{3, 17, 16, 3, 1, 1},
                                           InfinityCase{24, 13, 40, 3, 2, 1}, InfinityCase{16, 13, 33, 3, 1, 1},
                                           InfinityCase{33, 11, 16, 3, 1, 1}, InfinityCase{58, 9, 58, 3, 1, 1},
                                           InfinityCase{1, 19, 16, 5, 1, 2}, InfinityCase{32, 11, 32, 3, 1, 1},
                                           InfinityCase{37, 11, 29, 1, 1, 0}));

}  // namespace
}  // namespace attune::tune
