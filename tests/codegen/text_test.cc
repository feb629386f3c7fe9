#include "codegen/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::codegen {
namespace {

TEST(FloatLiteral, reads_back_as_the_same_number) {
  EXPECT_EQ(float_literal(3.0f), "3.0f");
  EXPECT_EQ(float_literal(-0.0f), "(-0.0f)");
  for (const float value : {0.1f, -1e-30f, 3.4e38f, 1.17549435e-38f}) {
    std::string text = float_literal(value);
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '(' || c == ')'; }), text.end());
    EXPECT_EQ(std::stof(text), value) << text;
  }
  EXPECT_EQ(float_literal(std::numeric_limits<float>::infinity()), "__builtin_inff()");
  EXPECT_NE(float_literal(std::nanf("")).find("nan"), std::string::npos);
}

TEST(HeaderComment, lets_no_text_of_a_model_leave_the_comment) {
  EXPECT_EQ(header_comment({"Op {mode=a\nint injected;\\\n}", "x=1"}), "// Op {mode=a?int injected;??}\n// x=1\n");
}

TEST(FillIn, replaces_names_and_leaves_other_braces) {
  EXPECT_EQ(fill_in("struct {name} { int x[{n}] = {}; {other} }", {{"name", "S"}, {"n", "4"}}),
            "struct S { int x[4] = {}; {other} }");
}

}  // namespace
}  // namespace attune::codegen
