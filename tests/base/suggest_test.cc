#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace attune {
namespace {

constexpr std::array<std::string_view, 3> kNames{"resnet18", "resnet50", "bert_base"};

TEST(Suggest, distance_counts_edits_and_swaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("bacth", "batch"), 1);
}

TEST(Suggest, finds_the_nearest_name) {
  EXPECT_EQ(nearest("resnt50", kNames), "resnet50");
  EXPECT_EQ(nearest("ResNet-18", kNames), "resnet18");
  EXPECT_EQ(nearest("bert", kNames), "bert_base");
}

TEST(Suggest, offers_nothing_for_a_strange_word) {
  EXPECT_EQ(nearest("wav2vec", kNames), std::nullopt);
  EXPECT_EQ(nearest("", kNames), std::nullopt);
  EXPECT_EQ(nearest("resnet18", {}), std::nullopt);
}

}  // namespace
}  // namespace attune
