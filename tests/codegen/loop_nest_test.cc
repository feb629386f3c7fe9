#include "codegen/vector/loop_nest.h"

#include <gtest/gtest.h>

namespace attune::codegen {
namespace {

std::string text_of(const LoopNest& nest) {
  std::string out;
  for (const Loop& loop : nest.loops) {
    out += std::to_string(loop.extent) + ":";
    for (const int64_t stride : loop.strides) out += " " + std::to_string(stride);
    out += "; ";
  }
  return out;
}

TEST(LoopNest, joins_what_every_operand_walks_in_one_go) {
  EXPECT_EQ(text_of(simplify({{{2, {15, 15}}, {3, {5, 5}}, {5, {1, 1}}}}, 1)), "30: 1 1; ");
}

TEST(LoopNest, keeps_loops_apart_where_an_operand_repeats) {
  EXPECT_EQ(text_of(simplify({{{2, {0, 15}}, {3, {5, 5}}, {5, {1, 1}}}}, 1)), "2: 0 15; 15: 1 1; ");
  EXPECT_EQ(text_of(simplify({{{2, {3, 15}}, {3, {1, 5}}, {5, {0, 1}}}}, 1)), "6: 1 5; 5: 0 1; ");
}

TEST(LoopNest, drops_loops_of_one_iteration_and_follows_the_leader) {
  EXPECT_EQ(text_of(simplify({{{1, {7, 7}}, {4, {1, 6}}, {6, {4, 1}}}}, 1)), "4: 1 6; 6: 4 1; ");
  EXPECT_EQ(text_of(simplify({{{1, {7, 7}}, {4, {1, 6}}, {6, {4, 1}}}}, 0)), "6: 4 1; 4: 1 6; ");
  EXPECT_EQ(text_of(simplify({{{1, {1, 1}}}}, 1)), "1: 1 1; ");
}

TEST(LoopNest, counts_rows_and_says_where_they_begin) {
  const LoopNest nest{{{3, {10, 20}}, {5, {0, 4}}, {4, {1, 1}}}};
  EXPECT_EQ(iterations(nest), 60);
  EXPECT_EQ(outer_iterations(nest, 1), 15);
  EXPECT_EQ(row_pointers(nest, 1, {{"const float", "in", "x"}, {"float", "out", "y"}}, ""),
            "const long i1 = row % 5;\nconst long i0 = row / 5;\nconst float* x = in + i0 * 10;\n"
            "float* y = out + i0 * 20 + i1 * 4;\n");
}

}  // namespace
}  // namespace attune::codegen
