// What a kernel does to its sums before it stores them, as text.
#pragma once

#include "codegen/cube/vectors.h"
#include "graph/dtype.h"
#include "ops/epilogue.h"

#include <string>
#include <vector>

namespace attune::cube {

/// How an operand of a step spreads over the result.
enum class Reach : uint8_t {
  full,  // an element for each of the result, in the same order
  row,   // an element for each column (channel)
  one,   // one element
};

struct Operand {
  int input = -1;  // position among the kernel's inputs
  Reach reach = Reach::full;
  DType dtype = DType::f32;
};

struct Epilogue {
  float scale = 1;                  // of the sums, before all steps
  std::vector<EpilogueStep> steps;  // the bias of a convolution is a step like any other
  std::vector<Operand> operands;    // one for each input that a step names

  const Operand& operand(int input) const;
};

/// Whether a step computes an exponential or the like, in many instructions.
bool has_functions(const std::vector<EpilogueStep>& steps);

/// For results of type `dst`, after vector_vocabulary(isa): the functions that the steps need, `struct Operands` with
/// its `operands_of(inputs)`, and `template <int N> vf finish(vf x, const Operands& with, long at, long column)`, where
/// `at` is the position of lane 0 in the result and `column` its column.
std::string epilogue_text(const Epilogue& epilogue, const VectorIsa& isa, DType dst);

}  // namespace attune::cube
