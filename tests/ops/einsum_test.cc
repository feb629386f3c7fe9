#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase einsum(const std::string& equation) {
  OpCase result("Einsum");
  result.attr("equation", equation);
  return result;
}

TEST(Einsum, contracts_transposes_and_takes_diagonals) {
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  expect_near(einsum("ij,jk->ik").input(a).input(b).run()[0], f32({2, 2}, {4, 5, 10, 11}));
  expect_near(einsum("ij,jk->ki").input(a).input(b).run()[0], f32({2, 2}, {4, 10, 5, 11}));
  expect_near(einsum("ij->ji").input(a).run()[0], f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  expect_near(einsum("ii").input(f32({2, 2}, {1, 2, 3, 4})).run()[0], f32({}, {5}));
  expect_near(einsum("ii->i").input(f32({2, 2}, {1, 2, 3, 4})).run()[0], f32({2}, {1, 4}));
  expect_near(einsum("ij,ij->").input(a).input(a).run()[0], f32({}, {91}));
}

TEST(Einsum, broadcasts_ellipsis_and_takes_many_operands) {
  const Tensor a = f32({2, 1, 2}, {1, 2, 3, 4});
  expect_near(einsum("...i,...i->...").input(a).input(f32({3, 2}, {1, 0, 0, 1, 1, 1})).run()[0],
              f32({2, 3}, {1, 2, 3, 3, 4, 7}));
  expect_near(einsum("i, j, k -> kji").input(f32({2}, {1, 2})).input(f32({1}, {3})).input(f32({2}, {5, 7})).run()[0],
              f32({2, 1, 2}, {15, 30, 21, 42}));
  // The letter that no other term has is summed first.
  expect_near(einsum("ij,k->k").input(f32({1, 2}, {1, 2})).input(f32({2}, {1, 10})).run()[0], f32({2}, {3, 30}));
  expect_near(einsum("ij,jk").input(f32({1, 0}, {})).input(f32({0, 1}, {})).run()[0], f32({1, 1}, {0}));
}

TEST(Einsum, refuses_bad_equations) {
  const Tensor a = f32({2, 2}, {1, 2, 3, 4});
  for (const char* equation : {"i1->i", "i..j->ij", "ij->ik", "ij->ii", "ijk->i", "ij,jk->ik", "ij->...", "->", ""})
    EXPECT_THROW(einsum(equation).input(a).run(), UserError) << equation;
  EXPECT_THROW(einsum("ij,jk").input(a).input(f32({3, 1}, {1, 2, 3})).run(), UserError);
}

}  // namespace
}  // namespace attune::test
