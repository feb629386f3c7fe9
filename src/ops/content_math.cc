#include "ops/content_math.h"

#include "ops/content.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: above it a double skips whole numbers

/// i32 arithmetic wraps where Dims do not: such an element says nothing.
Dim in_range(const Dim& dim, DType dtype) {
  if (dtype != DType::i32 || !dim.is_known()) return dim;
  return dim.value() < INT32_MIN || dim.value() > INT32_MAX ? Dim::unknown() : dim;
}

bool carries_content(DType dtype) {
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::boolean || is_plain_float(dtype);
}

}  // namespace

std::optional<Content> numbers_of(const InferContext& context, int input) {
  if (!context.has_input(input)) return std::nullopt;
  if (auto content = context.content(input)) return content;
  const Tensor* constant = context.constant(input);
  if (constant == nullptr || !is_plain_float(constant->dtype()) || constant->rank() > 1 ||
      constant->count() > kMostContentElements)
    return std::nullopt;
  Content content;
  for (int64_t i = 0; i < constant->count(); ++i) {
    const double value = element_as_double(*constant, i);
    const bool whole = std::fabs(value) <= kLargestWhole && std::trunc(value) == value;
    content.push_back(whole ? Dim(static_cast<int64_t>(value)) : Dim::unknown());
  }
  return content;
}

void map_content(InferContext& context, const std::function<Dim(const Dim&)>& fn) {
  map_contents(context, 1, context.input(0), [&fn](const std::vector<Dim>& elements) { return fn(elements[0]); });
}

void map_contents(InferContext& context, int count, const ValueType& output,
                  const std::function<Dim(const std::vector<Dim>&)>& fn) {
  if (!carries_content(output.dtype) || !output.shape || output.shape->size() > 1) return;
  std::vector<Content> contents;
  size_t length = 1;
  for (int i = 0; i < count; ++i) {
    auto content = numbers_of(context, i);
    if (!content) return;
    if (content->size() != 1) length = content->size();
    contents.push_back(std::move(*content));
  }
  for (const Content& content : contents)
    if (content.size() != 1 && content.size() != length) return;

  Content result;
  std::vector<Dim> elements(contents.size());
  for (size_t at = 0; at < length; ++at) {
    for (size_t i = 0; i < contents.size(); ++i) elements[i] = contents[i][contents[i].size() == 1 ? 0 : at];
    result.push_back(in_range(fn(elements), output.dtype));
  }
  context.set_content(0, std::move(result));
}

Dim equal_content(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  const Dim difference = a - b;
  if (difference.is_known()) return Dim(difference.value() == 0 ? 1 : 0);
  // Sizes are never negative, so a shape compared with the -1 of "keep this dim" is decided.
  auto is_negative = [](const Dim& dim) { return dim.is_known() && dim.value() < 0; };
  if ((is_negative(a) && b.is_symbolic() && b.never_negative()) ||
      (is_negative(b) && a.is_symbolic() && a.never_negative()))
    return Dim(0);
  return Dim::unknown();
}

Dim less_content(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.is_known()) return Dim(difference.value() < 0 ? 1 : 0);
  return difference.never_negative() ? Dim(0) : Dim::unknown();
}

Dim max_content(const Dim& a, const Dim& b) {
  if ((a - b).never_negative()) return a;
  if ((b - a).never_negative()) return b;
  return Dim::unknown();
}

Dim min_content(const Dim& a, const Dim& b) {
  if ((a - b).never_negative()) return b;
  if ((b - a).never_negative()) return a;
  return Dim::unknown();
}

Dim divide_integers(const Dim& a, const Dim& b) {
  if (!a.is_known() || !b.is_known()) return a.floor_div(b);  // sizes are not negative: floor is truncation
  if (b.value() == 0 || (a.value() == INT64_MIN && b.value() == -1)) return Dim::unknown();
  return Dim(a.value() / b.value());
}

Dim divide_exactly(const Dim& a, const Dim& b) {
  const Dim quotient = a.floor_div(b);
  return quotient * b == a ? quotient : Dim::unknown();
}

}  // namespace attune
