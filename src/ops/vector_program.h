// The little program of attune::FusedVector: a list of steps such as "Add x0 x1", "Mul t0 0.5", "Clip t1 0 6".
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace attune {

/// What a step reads: an input of the node ("x2"), the result of an earlier step ("t0"), or a number.
struct VectorOperand {
  enum class Kind { input, step, number };
  Kind kind = Kind::input;
  int index = 0;     // of the input or step
  float number = 0;  // itself

  bool is_number() const { return kind == Kind::number; }
  friend bool operator==(const VectorOperand&, const VectorOperand&) = default;
};
std::string to_text(const VectorOperand& operand);

/// One operator of ai.onnx on values that all have the shape of the result. Two names stand for what ONNX says by
/// attributes of other kinds: GeluTanh; ToF32 and ToBf16, which are Cast.
struct VectorStep {
  std::string op;
  std::vector<VectorOperand> operands;
  std::map<std::string, float, std::less<>> numbers;  // attributes: "alpha=0.1"

  bool looks_at_rows() const;  // softmax and normalisations over the last axis; the others look at single elements
  bool is_cast() const { return op == "ToF32" || op == "ToBf16"; }
};
std::string to_text(const VectorStep& step);

struct VectorProgram {
  std::vector<VectorStep> steps;
  std::vector<int> results;  // the step that makes each output of the node

  /// The step that looks at whole rows; -1 when there is none.
  int row_step() const;
  /// Types of the steps' results for those of the inputs: that of the operands, but for casts. undefined where an
  /// input's is.
  std::vector<DType> types(const std::vector<DType>& inputs) const;
};

/// What the attributes `steps` and `results` say (without `results`, the last step). Throws UserError for text that is
/// no step, that reads what does not exist yet, or that looks at rows twice.
VectorProgram parse_vector_program(const Attributes& attributes);
/// The attributes for a program.
Attributes vector_program_attributes(const VectorProgram& program);

/// Whether there is a step of this name for that many operands.
bool has_vector_step(std::string_view op, size_t operands);
/// The attributes, all of them numbers, that a step of this name may have.
std::vector<std::string> vector_step_attributes(std::string_view op);

/// The ONNX node that computes a step, for kernels that run it by itself: its inputs are the operands in their order.
Node vector_step_node(const VectorStep& step);

}  // namespace attune
