#include "ops/einsum_equation.h"

#include <algorithm>
#include <array>
#include <string>

namespace attune {
namespace {

int label_of(const OpContext& context, char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  context.fail("equation holds '{}', expected letters, ',', '...' and '->'", letter);
}

EinsumTerm parse_term(const OpContext& context, std::string_view text) {
  EinsumTerm term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (term.has_ellipsis || text.substr(i, 3) != "...") context.fail("term '{}' has misplaced dots", text);
      term.has_ellipsis = true;
      i += 2;
      continue;
    }
    (term.has_ellipsis ? term.after : term.before).push_back(label_of(context, text[i]));
  }
  return term;
}

EinsumTerm implicit_output(const std::vector<EinsumTerm>& inputs) {
  std::array<int, kEllipsisLabel> uses{};
  EinsumTerm output;
  for (const EinsumTerm& term : inputs) {
    output.has_ellipsis |= term.has_ellipsis;
    for (const int label : term.before) ++uses[static_cast<size_t>(label)];
    for (const int label : term.after) ++uses[static_cast<size_t>(label)];
  }
  for (int label = 0; label < kEllipsisLabel; ++label)
    if (uses[static_cast<size_t>(label)] == 1) output.after.push_back(label);
  if (!output.has_ellipsis) std::swap(output.before, output.after);
  return output;
}

void check_output(const OpContext& context, const EinsumEquation& equation) {
  std::array<bool, kEllipsisLabel> known{}, used{};
  bool any_ellipsis = false;
  for (const EinsumTerm& term : equation.inputs) {
    any_ellipsis |= term.has_ellipsis;
    for (const auto* side : {&term.before, &term.after})
      for (const int label : *side) known[static_cast<size_t>(label)] = true;
  }
  if (equation.output.has_ellipsis && !any_ellipsis) context.fail("only the output of the equation has an ellipsis");
  for (const auto* side : {&equation.output.before, &equation.output.after}) {
    for (const int label : *side) {
      if (!known[static_cast<size_t>(label)]) context.fail("the equation's output has a letter that no operand has");
      if (used[static_cast<size_t>(label)]) context.fail("the equation's output has a letter twice");
      used[static_cast<size_t>(label)] = true;
    }
  }
}

}  // namespace

EinsumEquation parse_einsum(const OpContext& context, std::string_view text, int input_count) {
  std::string compact;
  for (const char c : text)
    if (c != ' ') compact += c;
  const size_t arrow = compact.find("->");
  const std::string_view left = std::string_view(compact).substr(0, arrow);
  EinsumEquation equation;
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    equation.inputs.push_back(parse_term(context, left.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (static_cast<int>(equation.inputs.size()) != input_count)
    context.fail("equation '{}' is for {} operands, the node has {}", text, equation.inputs.size(), input_count);
  equation.output = arrow == std::string::npos ? implicit_output(equation.inputs)
                                               : parse_term(context, std::string_view(compact).substr(arrow + 2));
  check_output(context, equation);
  return equation;
}

std::vector<int> term_labels(const EinsumTerm& term, int64_t ellipsis_axes) {
  std::vector<int> labels = term.before;
  if (term.has_ellipsis)
    for (int64_t i = ellipsis_axes; i-- > 0;) labels.push_back(kEllipsisLabel + static_cast<int>(i));
  labels.insert(labels.end(), term.after.begin(), term.after.end());
  return labels;
}

int64_t ellipsis_axes(const OpContext& context, const EinsumTerm& term, int64_t rank) {
  const auto letters = static_cast<int64_t>(term.before.size() + term.after.size());
  if (rank < letters || (rank > letters && !term.has_ellipsis))
    context.fail("an operand of rank {} does not fit its term of {} letters", rank, letters);
  if (rank - letters > kMostEllipsisAxes) context.fail("an ellipsis stands for more than {} axes", kMostEllipsisAxes);
  return rank - letters;
}

}  // namespace attune
