#include "codegen/isa.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace attune {
namespace {

class IsaMask : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* text = std::getenv("ATTUNE_MAX_ISA")) before_ = text;
  }
  void TearDown() override {
    if (before_)
      setenv("ATTUNE_MAX_ISA", before_->c_str(), 1);
    else
      unsetenv("ATTUNE_MAX_ISA");
  }
  std::optional<std::string> before_;
};

TEST(Isa, has_names_that_can_be_read_back) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_bf16, Isa::amx})
    EXPECT_EQ(parse_isa(isa_name(isa)), isa);
  EXPECT_FALSE(parse_isa("avx9000"));
}

TEST_F(IsaMask, only_narrows) {
  setenv("ATTUNE_MAX_ISA", "baseline", 1);
  EXPECT_EQ(usable_isa(), Isa::baseline);
  setenv("ATTUNE_MAX_ISA", "amx", 1);
  EXPECT_EQ(usable_isa(), detected_isa());
  unsetenv("ATTUNE_MAX_ISA");
  EXPECT_EQ(usable_isa(), detected_isa());
}

TEST_F(IsaMask, refuses_unknown_names) {
  setenv("ATTUNE_MAX_ISA", "sse9", 1);
  EXPECT_THROW(usable_isa(), UserError);
}

}  // namespace
}  // namespace attune
