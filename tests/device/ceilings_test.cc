#include "device/cpu/ceilings.h"

#include "base/parallel.h"
#include "device/cpu/ceiling_kernels.h"
#include "device/libraries.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace attune {
namespace {

constexpr CeilingOptions kShort{.threads = 2, .windows = 2, .window_ms = 1, .memory_bytes = 8 << 20};

TEST(Ceilings, are_measured_for_whatever_the_processor_has) {
  const auto ceilings = measure_ceilings(cpu_info(), kShort);
  std::set<std::string_view> ids;
  for (const Ceiling& ceiling : ceilings) {
    EXPECT_TRUE(ids.insert(ceiling.id).second) << ceiling.id;
    EXPECT_GT(ceiling.one_thread, 0) << ceiling.id;
    EXPECT_FALSE(ceiling.what.empty());
  }
  for (const std::string_view id : {"f32", "read", "copy"}) EXPECT_NE(find_ceiling(ceilings, id), nullptr) << id;
  EXPECT_EQ(find_ceiling(ceilings, "amx_bf16") != nullptr, has_isa(cpu_info(), "amx_bf16"));
  EXPECT_EQ(find_ceiling(ceilings, "none"), nullptr);
}

TEST(Ceilings, need_no_vector_extension) {
  CpuInfo old = cpu_info();
  for (IsaState& state : old.isa) state.usable = false;
  const auto ceilings = measure_ceilings(old, kShort);
  ASSERT_NE(find_ceiling(ceilings, "f32"), nullptr);
  EXPECT_NE(find_ceiling(ceilings, "f32")->what.find("SSE2"), std::string_view::npos);
  EXPECT_EQ(find_ceiling(ceilings, "bf16"), nullptr);
}

TEST(Ceilings, work_without_any_known_cache) {
  CpuInfo bare = cpu_info();
  bare.caches.clear();
  const auto ceilings = measure_ceilings(bare, kShort);
  EXPECT_EQ(find_ceiling(ceilings, "l2_read"), nullptr);
  EXPECT_NE(find_ceiling(ceilings, "read"), nullptr);
}

TEST(CeilingKernels, compute_what_they_claim) {
  // a / 2 + 1 tends to 2 from anywhere; twelve accumulators of it are summed up.
  EXPECT_DOUBLE_EQ(multiply_add_f32_sse2(1000), 24.0);
  if (has_isa(cpu_info(), "avx2") && has_isa(cpu_info(), "fma")) {
    EXPECT_DOUBLE_EQ(fma_f32_avx2(1000), 24.0);
  }
  if (has_isa(cpu_info(), "avx512f")) {
    EXPECT_DOUBLE_EQ(fma_f32_avx512(1000), 24.0);
  }
  // Starting values 3 to 14, then two products of ones (four for int8) a round.
  const double start = 102, rounds = 10;
  if (has_isa(cpu_info(), "avx512_bf16")) {
    EXPECT_DOUBLE_EQ(dot_bf16_avx512(10), start + 12 * 2 * rounds);
  }
  if (has_isa(cpu_info(), "avx512_vnni")) {
    EXPECT_DOUBLE_EQ(dot_int8_avx512(10), start + 12 * 4 * rounds);
  }
}

TEST(CeilingKernels, copy_every_word) {
  alignas(64) static uint64_t src[256], dst[256];
  std::iota(std::begin(src), std::end(src), uint64_t{1});
  copy_past_caches(src, dst);
  EXPECT_TRUE(std::equal(std::begin(src), std::end(src), std::begin(dst)));
  EXPECT_GT(read_sse2(dst), 0u);
}

TEST(Libraries, are_named_with_purpose_and_remedy) {
  for (const Library& library : libraries()) {
    EXPECT_FALSE(library.purpose.empty()) << library.name;
    EXPECT_FALSE(library.remedy.empty()) << library.name;
    if (library.found) {
      EXPECT_FALSE(library.version.empty()) << library.name;
    }
  }
}

}  // namespace
}  // namespace attune
