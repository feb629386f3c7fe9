#include "ops/infer_case.h"
#include "ops/op_case.h"

#include "ops/content_math.h"

namespace attune::test {
namespace {

struct ShapeOf {
  InferCase graph;
  ValueId shape;
  ShapeOf() {
    const ValueId src = graph.input("x", DType::f32, Shape{sym("N"), Dim(3), sym("H")});
    shape = graph.op("Shape", {src});
  }
};

TEST(ContentMath, arithmetic_on_a_shape_keeps_its_symbols) {
  ShapeOf of;
  InferCase& g = of.graph;
  EXPECT_EQ(g.content(g.op("Add", {of.shape, g.scalar(1)})), "N+1,4,H+1");
  EXPECT_EQ(g.content(g.op("Mul", {of.shape, g.constant({2, 5, 1})})), "2*N,15,H");
  EXPECT_EQ(g.content(g.op("Div", {g.op("Mul", {of.shape, g.scalar(4)}), g.scalar(2)})), "2*N,6,2*H");
  EXPECT_EQ(g.content(g.op("Sub", {of.shape, of.shape})), "0,0,0");
  EXPECT_EQ(g.content(g.op("Max", {of.shape, g.scalar(0)})), "N,3,H");
}

TEST(ContentMath, sizes_survive_a_detour_through_floats) {
  ShapeOf of;
  InferCase& g = of.graph;
  const ValueId floats = g.op("Cast", {of.shape}, {{"to", int64_t{1}}});
  const ValueId two = g.op("Cast", {g.scalar(2)}, {{"to", int64_t{1}}});
  const ValueId scaled = g.op("Floor", {g.op("Mul", {floats, two})});
  EXPECT_EQ(g.content(g.op("Cast", {scaled}, {{"to", int64_t{7}}})), "2*N,6,2*H");
  EXPECT_EQ(g.content(g.op("Cast", {g.op("Div", {floats, two})}, {{"to", int64_t{7}}})), "?,?,?");
}

TEST(ContentMath, a_size_is_never_minus_one) {
  ShapeOf of;
  InferCase& g = of.graph;
  const ValueId keep = g.op("Equal", {g.constant({-1, 8, -1}), g.scalar(-1)});
  const ValueId wanted = g.op("Where", {keep, of.shape, g.constant({-1, 8, -1})});
  EXPECT_EQ(g.content(wanted), "N,8,H");
  EXPECT_EQ(g.content(g.op("Equal", {of.shape, g.scalar(-1)})), "0,0,0");
  EXPECT_EQ(g.content(g.op("Equal", {of.shape, g.scalar(3)})), "?,1,?");
}

TEST(ContentMath, orders_what_it_can_prove) {
  const Dim n = Dim::symbol("N");
  EXPECT_EQ(less_content(n, n + Dim(1)).text(), "1");
  EXPECT_EQ(less_content(n, Dim(0)).text(), "0");
  EXPECT_EQ(less_content(n, Dim(1)).text(), "?");
  EXPECT_EQ(max_content(n, n + Dim(2)).text(), "N+2");
  EXPECT_EQ(min_content(n, Dim(7)).text(), "?");
  EXPECT_EQ(divide_integers(Dim(-7), Dim(2)).text(), "-3");
  EXPECT_EQ(divide_integers(Dim(1), Dim(0)).text(), "?");
}

}  // namespace
}  // namespace attune::test
