#include "ops/vector_program.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

Attributes program(std::vector<std::string> steps) { return {{"steps", std::move(steps)}}; }

TEST(VectorProgram, is_read_as_it_is_written) {
  Attributes attributes =
      program({"Sub 1 x0", "Clip t0 -inf 0.1", "LeakyRelu t1 alpha=0.25", "LayerNormalization t2 x1 x2 epsilon=1e-05"});
  attributes["results"] = std::vector<int64_t>{3, 1};
  const VectorProgram read = parse_vector_program(attributes);
  EXPECT_EQ(read.row_step(), 3);
  const Attributes written = vector_program_attributes(read);
  EXPECT_EQ(std::get<std::vector<std::string>>(written.at("steps")),
            std::get<std::vector<std::string>>(attributes.at("steps")));
  EXPECT_EQ(std::get<std::vector<int64_t>>(written.at("results")), (std::vector<int64_t>{3, 1}));
}

TEST(VectorProgram, refuses_what_is_no_program) {
  const std::vector<std::vector<std::string>> wrong{
      {},
      {""},
      {"Conv x0"},
      {"Add x0"},
      {"Relu x0 x1"},
      {"Relu t0"},
      {"Relu x"},
      {"Relu y0"},
      {"Relu x-1"},
      {"Relu 3"},
      {"Relu x0 alpha=1"},
      {"Elu x0 alpha=much"},
      {"Softmax x0", "LogSoftmax t0"},
  };
  for (const auto& steps : wrong)
    EXPECT_THROW(parse_vector_program(program(steps)), UserError) << (steps.empty() ? "none" : steps.back());
  Attributes beyond = program({"Relu x0"});
  beyond["results"] = std::vector<int64_t>{1};
  EXPECT_THROW(parse_vector_program(beyond), UserError);
  EXPECT_THROW(parse_vector_program({}), UserError);
}

TEST(VectorProgram, types_follow_operands_and_casts) {
  const VectorProgram read =
      parse_vector_program(program({"ToF32 x0", "Add 1 t0", "Where x1 2 t1", "ToBf16 t2", "Mul x0 t3"}));
  const std::vector<DType> expected{DType::f32, DType::f32, DType::f32, DType::bf16, DType::bf16};
  EXPECT_EQ(read.types({DType::bf16, DType::boolean}), expected);
}

}  // namespace
}  // namespace attune
