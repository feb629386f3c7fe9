// Random points of the spaces of the cube generators, on shapes that fill no tile, and what the generators refuse.
#include "base/thread_count_scope.h"
#include "codegen/compiler_module.h"
#include "codegen/isa.h"
#include "kernel/parse_workload.h"
#include "providers/generated/generated_provider.h"
#include "tune/measure/check_kernel.h"
#include "tune/measure/example.h"

#include <gtest/gtest.h>

namespace attune::tune {
namespace {

constexpr int kPointsEach = 5;

/// Whether this machine, as masked, has what kernels for the workload need.
bool has_instructions(const Workload& workload) {
  const TensorSpec& src = workload.input(0);
  if (src.dtype == DType::bf16) return usable_isa() >= Isa::avx512_bf16;
  return usable_isa() >= (src.layout == Layout::nchw16c ? Isa::avx512 : Isa::avx2);
}

class CubeSpace : public ::testing::TestWithParam<const char*> {};

TEST_P(CubeSpace, random_points_compute_what_the_reference_does) {
  const GeneratedProvider provider;
  if (!missing_compiler().empty()) GTEST_SKIP() << missing_compiler();
  const WorkloadCase what = parse_workload_case(GetParam());
  const Example example = make_example(what, 1);
  const Workload workload = complete_workload(what, example);
  const auto offer = provider.offer(workload);
  if (const auto* refusal = std::get_if<Refusal>(&offer)) {
    ASSERT_FALSE(has_instructions(workload)) << refusal->reason;
    GTEST_SKIP() << refusal->reason;
  }
  const Space space = provider.space(workload);
  constexpr uint64_t kSeed = 17;
  Random random(kSeed);
  for (int i = 0; i < kPointsEach; ++i) {
    const Config config = space.at(space.sample(random));
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed, to_text(config)));
    EXPECT_EQ(check_kernel(*provider.build(workload, config), workload, example).problem, "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    OddShapes, CubeSpace,
    ::testing::Values(
        "MatMul@17(f32[131x67], f32[67x101]*)", "MatMul@17(f32[1x257], f32[257x1000]*)",
        "MatMul@17(f32[17x1], f32[1x13]*)", "MatMul@17(f32[37x1031], f32[1031x29]*)",
        "MatMul@17(bf16[131x67], bf16[67x101]*)", "MatMul@17(bf16[1x31], bf16[31x7]*)",
        "attune::FusedMatMul@1(bf16[53x96], bf16[96x70]*, bf16[70]*, bf16[53x70]) {epilogue = strings [\"add 2\", "
        "\"gelu_erf\", \"add 3\"]}",
        "MatMul@17(f32[131x67], f32[67x101])", "MatMul@17(f32[2x3x37x64], f32[2x3x64x53])",
        "MatMul@17(f32[3x257], f32[257x100])", "MatMul@17(bf16[131x67], bf16[67x101])",
        "MatMul@17(bf16[2x3x37x64], bf16[2x3x64x53])", "Gemm@13(f32[45x35], f32[49x45]) {transA = 1, transB = 1}",
        "Gemm@13(bf16[45x35], bf16[49x45]) {transA = 1, transB = 1}",
        "com.microsoft::FusedMatMul@1(f32[4x65x24], f32[4x33x24]) {transB = 1, alpha = 0.5f}",
        "com.microsoft::FusedMatMul@1(bf16[4x65x24], bf16[4x33x24]) {transB = 1, alpha = 0.5f}",
        "attune::FusedMatMul@1(bf16[3x53x96], bf16[3x96x70], bf16[70]*, bf16[3x53x70]) {epilogue = strings [\"add 2\", "
        "\"gelu_erf\", \"add 3\"]}",
        "Conv@17(f32[1x3x37x41]@nhwc, f32[21x3x7x7]*, f32[21]*) -> (?@nhwc) {pads = ints [3, 3, 3, 3], strides = "
        "ints [2, 2]}",
        "Conv@17(f32[2x58x9x7]@nhwc, f32[29x58x1x1]*, f32[29]*) -> (?@nhwc)",
        "Conv@17(f32[1x13x11x17]@nhwc, f32[19x13x3x3]*, f32[19]*) -> (?@nhwc) {pads = ints [1, 1, 1, 1], strides = "
        "ints [2, 1]}",
        "Conv@17(f32[1x16x12x10]@nhwc, f32[16x16x3x3]*, f32[16]*) -> (?@nhwc) {dilations = ints [2, 3], pads = ints "
        "[2, 3, 2, 3]}",
        "attune::FusedConv@1(f32[2x32x13x11]@nhwc, f32[80x32x3x3]*, f32[80]*, f32[2x80x13x11]@nhwc) -> (?@nhwc) {pads "
        "= ints [1, 1, 1, 1], epilogue = strings [\"add 3\", \"relu\"]}",
        "Conv@17(f32[1x48x7x7]@nhwc, f32[64x48x3x3]*) -> (?@nhwc) {pads = ints [0, 1, 2, 1]}",
        "Conv@17(bf16[2x32x13x11]@nhwc, bf16[48x32x3x3]*, bf16[48]*) -> (?@nhwc) {pads = ints [1, 1, 1, 1]}",
        "Conv@17(bf16[1x3x37x41]@nhwc, bf16[21x3x7x7]*, bf16[21]*) -> (?@nhwc) {pads = ints [3, 3, 3, 3], strides = "
        "ints [2, 2]}",
        "Conv@17(bf16[1x24x19x17]@nhwc, bf16[40x24x3x3]*) -> (?@nhwc) {pads = ints [1, 1, 1, 1], strides = ints [2, "
        "2]}",
        "Conv@17(bf16[1x64x9x9]@nhwc, bf16[34x32x3x3]*, bf16[34]*) -> (?@nhwc) {group = 2, pads = ints [2, 2, 2, 2], "
        "dilations = ints [2, 2]}",
        "Conv@17(f32[2x29x13x11]@nhwc, f32[29x1x3x3]*, f32[29]*) -> (?@nhwc) {group = 29, pads = ints [1, 1, 1, 1], "
        "strides = ints [2, 2]}",
        "Conv@17(bf16[1x37x13x17]@nchw16c, bf16[37x1x5x5]*, bf16[37]*) -> (?@nchw16c) {group = 37, pads = ints [2, 2, "
        "2, 2]}",
        "attune::ConvGradData@1(f32[2x48x9x7]@nhwc, f32[48x32x3x3]*) -> (f32[2x32x9x7]@nhwc) {pads = ints [1, 1, 1, "
        "1]}",
        "attune::ConvGradData@1(bf16[1x40x9x11]@nhwc, bf16[40x33x3x3]*) -> (bf16[1x33x11x9]@nhwc) {pads = ints [0, 2, "
        "0, 2]}",
        "attune::ConvGradWeights@1(f32[2x37x13x11]@nhwc, f32[2x29x7x6]@nhwc) -> (f32[29x37x3x3], f32[29]) {pads = ints "
        "[1, 1, 1, 1], strides = ints [2, 2]}",
        "attune::ConvGradWeights@1(bf16[1x24x9x9]@nhwc, bf16[1x70x9x9]@nhwc) -> (bf16[70x24x1x1], bf16[70])"));

/// Whichever of these a search would seldom meet by chance: vectors of both widths, each with every way of storing.
TEST(CubeVectors, have_vectors_of_half_the_width_and_results_past_the_caches) {
  if (!missing_compiler().empty()) GTEST_SKIP() << missing_compiler();
  const GeneratedProvider provider;
  for (const char* text :
       {"attune::FusedConv@1(f32[1x37x9x9]@nhwc, f32[48x37x1x1]*, f32[48]*, f32[1x48x9x9]@nhwc) -> (?@nhwc) {epilogue "
        "= strings [\"add 3\", \"relu\"]}",
        "Conv@17(f32[2x24x7x5]@nhwc, f32[29x24x1x1]*) -> (?@nhwc)",
        "Conv@17(f32[1x3x21x19]@nhwc, f32[24x3x3x3]*, f32[24]*) -> (?@nhwc) {pads = ints [1, 1, 1, 1], strides = ints "
        "[2, 2]}",
        "MatMul@17(bf16[45x67], bf16[67x40]*)", "MatMul@17(f32[45x67], f32[67x40])"}) {
    const WorkloadCase what = parse_workload_case(text);
    const Example example = make_example(what, 1);
    const Workload workload = complete_workload(what, example);
    const auto offer = provider.offer(workload);
    if (const auto* refusal = std::get_if<Refusal>(&offer)) {
      ASSERT_FALSE(has_instructions(workload)) << refusal->reason;
      continue;
    }
    const Space space = provider.space(workload);
    int tried = 0;
    for (const Config& offered : std::get<Offer>(offer).configs)
      for (const auto& [lanes, tile] : {std::pair{"8", "8x24"}, {"8", "12x16"}, {"16", "8x48"}, {"16", "12x32"}})
        for (const char* results : {"cached", "ahead", "past_cache"}) {
          const bool rows = offered.at("generator") == "cube_rows";
          if (!rows && offered.at("generator") != "cube_vectors") continue;
          Config config = offered;
          config[rows ? "rows_lanes" : "lanes"] = lanes;
          config[rows ? "rows_tile" : "tile"] = tile;
          if (!rows) config["results"] = results;
          if (!space.why_invalid(config).empty()) continue;
          SCOPED_TRACE(fmt::format("{}: {}", text, to_text(config)));
          EXPECT_EQ(check_kernel(*provider.build(workload, config), workload, example).problem, "");
          ++tried;
        }
    EXPECT_TRUE(tried > 0 || usable_isa() < Isa::avx512) << text;
  }
}

TEST(CubeVectors, refuse_vectors_and_stores_that_do_not_fit) {
  if (usable_isa() < Isa::avx512) GTEST_SKIP() << "vectors of two widths need AVX-512";
  const GeneratedProvider provider;
  const WorkloadCase what = parse_workload_case("MatMul@17(f32[45x67], f32[67x29]*)");
  const Workload workload = complete_workload(what, make_example(what, 1));
  const auto message = [&](const Config& changes) {
    Config config = std::get<Offer>(provider.offer(workload)).configs.front();
    for (const auto& [name, value] : changes) config[name] = value;
    try {
      provider.generate(workload, config);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(message({{"lanes", "8"}, {"tile", "8x24"}}), "taken");
  EXPECT_NE(message({{"lanes", "4"}, {"tile", "8x24"}}).find("its values are 8, 16"), std::string::npos);
  EXPECT_NE(message({{"lanes", "16"}, {"tile", "8x24"}}).find("registers hold the tile"), std::string::npos);
  EXPECT_NE(message({{"results", "past_cache"}}).find("rows of whole vectors"), std::string::npos);
  EXPECT_NE(message({{"results", "elsewhere"}}).find("cached, ahead, past_cache"), std::string::npos);
}

/// All of these are offered first without a search, so one that cannot be built would stop a model from running.
TEST(CubeGenerators, offer_only_what_there_is_room_for) {
  const GeneratedProvider provider;
  for (const char* text :
       {"Conv@17(f32[64x512x28x28]@nhwc, f32[512x512x3x3]*) -> (f32[64x512x26x26]@nhwc)",
        "Conv@17(f32[1x64x1024x1024]@nhwc, f32[64x64x3x3]*) -> (f32[1x64x1022x1022]@nhwc)",
        "Conv@17(f32[8x8192x16x16]@nhwc, f32[8192x8192x3x3]*) -> (f32[8x8192x14x14]@nhwc)",
        "Conv@17(f32[1x65536x5x5]@nhwc, f32[1040x65536x3x3]*) -> (f32[1x1040x3x3]@nhwc)",
        "Conv@17(f32[1x3x4000x4000]@nhwc, f32[64x3x7x7]*) -> (f32[1x64x3994x3994]@nhwc)",
        "Conv@17(bf16[4x2048x64x64]@nhwc, bf16[2048x2048x3x3]*) -> (bf16[4x2048x62x62]@nhwc)",
        "Conv@17(f32[1x960x500x500]@nhwc, f32[960x1x5x5]*) -> (f32[1x960x496x496]@nhwc) {group = 960}",
        "MatMul@13(f32[16x4096x20000], f32[16x20000x4096]) -> (f32[16x4096x4096])",
        "MatMul@13(bf16[8x64x70000], bf16[8x70000x640]) -> (bf16[8x64x640])",
        "MatMul@13(f32[1x150000], f32[150000x5000]*) -> (f32[1x5000])",
        "MatMul@13(bf16[5000x30000], bf16[30000x4000]*) -> (bf16[5000x4000])"})
    for (const int threads : {1, 2, 64}) {
      const ThreadCountScope scope(threads);
      const Workload workload = parse_workload(text);
      const auto offer = provider.offer(workload);
      if (std::holds_alternative<Refusal>(offer)) continue;
      for (const Config& config : std::get<Offer>(offer).configs) {
        EXPECT_NO_THROW(provider.generate(workload, config)) << text << ", " << threads << ": " << to_text(config);
      }
    }
}

TEST(CubeGenerators, refuse_in_words) {
  const GeneratedProvider provider;
  const auto reason = [&](const char* text) {
    const WorkloadCase what = parse_workload_case(text);
    const Workload workload = complete_workload(what, make_example(what, 1));
    const auto offer = provider.offer(workload);
    const auto* refusal = std::get_if<Refusal>(&offer);
    return refusal ? refusal->reason : "offered";
  };
  EXPECT_NE(reason("Conv@17(f32[1x8x5x5]@nhwc, f32[4x8x3x3]) -> (?@nhwc)").find("not constant"), std::string::npos);
  EXPECT_NE(reason("Gemm@13(f32[5x7], f32[7x3], f32[3]) {beta = 2f}").find("scales"), std::string::npos);
  EXPECT_NE(reason("MatMul@17(f64[5x7], f64[7x3]*)").find("f32 and bf16"), std::string::npos);
  EXPECT_NE(reason("Conv@17(f32[1x8x5x5], f32[4x8x3x3]*)").find("channels last"), std::string::npos);
}

}  // namespace
}  // namespace attune::tune
