#include "device/cpu/amx_palette_scope.h"

#include "device/cpu/cpuid.h"

#include <cpuid.h>
#include <gtest/gtest.h>

#include <thread>

namespace attune {
namespace {

CpuidRegisters ask(uint32_t leaf, uint32_t subleaf) {
  CpuidRegisters r;
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

class PaletteScope : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!AmxPaletteScope::useful()) GTEST_SKIP() << "this machine hides no AMX palette, or has no AMX";
  }
};

TEST_F(PaletteScope, shows_palette_1_inside_and_nothing_outside) {
  EXPECT_EQ(cpuid(0x1D, 0).eax, 0u);
  {
    const AmxPaletteScope outer;
    const AmxPaletteScope inner;  // scopes nest
    EXPECT_GE(ask(0, 0).eax, 0x1Eu);
    EXPECT_EQ(ask(0x1D, 0).eax, 1u);
    const CpuidRegisters palette = ask(0x1D, 1);
    EXPECT_EQ(palette.eax >> 16, 1024u);   // bytes of a tile
    EXPECT_EQ(palette.ebx & 0xFFFF, 64u);  // bytes of a row
    EXPECT_EQ(palette.ebx >> 16, 8u);      // tiles
    EXPECT_EQ(palette.ecx, 16u);           // rows
  }
  EXPECT_EQ(cpuid(0x1D, 0).eax, 0u);
}

TEST_F(PaletteScope, other_leaves_are_as_ever) {
  const CpuidRegisters before = ask(7, 0);
  const AmxPaletteScope scope;
  const CpuidRegisters inside = ask(7, 0);
  EXPECT_EQ(inside.ebx, before.ebx);
  EXPECT_EQ(inside.edx, before.edx);
}

TEST_F(PaletteScope, threads_may_be_inside_at_once) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < 200; ++round) {
        const AmxPaletteScope scope;
        ASSERT_EQ(ask(0x1D, 0).eax, 1u);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PaletteScope, another_fault_inside_ends_the_process) {
  EXPECT_DEATH(
      {
        const AmxPaletteScope scope;
        volatile int* nowhere = nullptr;
        *nowhere = 1;
      },
      "");
}

}  // namespace
}  // namespace attune
