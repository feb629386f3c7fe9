// The equation of Einsum: parsed into labels for each axis of each operand and of the result.
#pragma once

#include "ops/context.h"

#include <optional>
#include <string_view>
#include <vector>

namespace attune {

/// Letters A-Z, a-z are labels 0 to 51 in that order; the axes that an ellipsis stands for are kEllipsisLabel,
/// kEllipsisLabel + 1 … counted from the right, so that they broadcast like numpy's.
inline constexpr int kEllipsisLabel = 52;
inline constexpr int kMostEllipsisAxes = 64;
inline constexpr int kLabelCount = kEllipsisLabel + kMostEllipsisAxes;

struct EinsumTerm {
  std::vector<int> before;  // letters left of the ellipsis; all of them when there is none
  bool has_ellipsis = false;
  std::vector<int> after;
};

struct EinsumEquation {
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;
};

/// Fails, naming the node, when the text is not an equation over `input_count` operands. The implicit output holds the
/// ellipsis, then the letters that appear once, in order.
EinsumEquation parse_einsum(const OpContext& context, std::string_view text, int input_count);

/// The label of each axis when the ellipsis stands for `ellipsis_axes` axes.
std::vector<int> term_labels(const EinsumTerm& term, int64_t ellipsis_axes);
/// How many axes the ellipsis of an operand of this rank stands for; fails when the rank does not fit the term.
int64_t ellipsis_axes(const OpContext& context, const EinsumTerm& term, int64_t rank);

}  // namespace attune
