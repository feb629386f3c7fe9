#include "providers/providers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

bool holds(std::span<const Provider* const> list, std::string_view name) {
  return std::ranges::any_of(list, [&](const Provider* provider) { return provider->name() == name; });
}

TEST(Providers, the_reference_is_the_last_resort) { EXPECT_EQ(providers().back()->name(), "reference"); }

TEST(Providers, the_skeleton_is_for_tests_and_not_for_plans) {
  EXPECT_TRUE(holds(every_provider(), "null"));
  EXPECT_FALSE(holds(providers(), "null"));
  EXPECT_THROW(require_provider("null"), UserError);
}

TEST(Providers, an_unknown_name_is_answered_with_the_known_ones) {
  try {
    require_provider("nobody");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("reference"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attune
