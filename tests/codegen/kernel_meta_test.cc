#include "codegen/kernel_meta.h"

#include "base/error.h"
#include "codegen/compile_text.h"
#include "io/temp_folder.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace attune::testing {
namespace {

std::set<std::string> suffixes_in(const std::filesystem::path& folder) {
  std::set<std::string> suffixes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) suffixes.insert(entry.path().extension());
  return suffixes;
}

class KernelMeta : public ::testing::Test {
 protected:
  void keep(int level) const {
    keep_kernel_meta({level, folder_.file("meta")}, {"extern \"C\" int kernel() { return 1; }", "kernel"}, {},
                     {"Relu@14(f32[8]) -> (f32[8]) {}", "unroll=2"}, std::vector<std::byte>(16));
  }
  TempFolder folder_;
};

TEST_F(KernelMeta, keeps_nothing_unless_asked) {
  keep(0);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("meta")));
}

TEST_F(KernelMeta, keeps_text_and_description) {
  keep(1);
  EXPECT_EQ(suffixes_in(folder_.file("meta")), (std::set<std::string>{".cc", ".json"}));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file("meta"))) {
    if (entry.path().extension() != ".json") continue;
    const auto json = nlohmann::json::parse(TempFolder::read(entry.path()));
    EXPECT_EQ(json.at("workload"), "Relu@14(f32[8]) -> (f32[8]) {}");
    EXPECT_EQ(json.at("config"), "unroll=2");
    EXPECT_EQ(json.at("object_bytes"), 16);
  }
}

TEST_F(KernelMeta, keeps_object_and_assembly_as_well) {
  SKIP_WITHOUT_COMPILER();
  keep(2);
  EXPECT_EQ(suffixes_in(folder_.file("meta")), (std::set<std::string>{".cc", ".json", ".o", ".s"}));
}

TEST(KernelMetaOptions, refuse_unknown_levels) {
  setenv("ATTUNE_KERNEL_META", "7", 1);
  EXPECT_THROW(kernel_meta_options(), UserError);
  unsetenv("ATTUNE_KERNEL_META");
}

}  // namespace
}  // namespace attune::testing
