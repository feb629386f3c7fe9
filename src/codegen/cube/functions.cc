#include "codegen/cube/functions.h"

namespace attune::cube {
namespace {

struct Function {
  std::string_view name;
  std::string_view needs;  // one other, defined before it
  const char* text;
};

// Each is a plain reduction of the argument and a short series; vectors of any width.
constexpr Function kFunctions[] = {
    {"bounded_exp", "", R"(
// e^x of x held within [-87, 87], where neither end overflows: e^x = 2^n e^r with |r| <= ln 2 / 2; the sum of a large
// constant rounds to the integer n.
INLINE vf bounded_exp(vf x) {
  x = x < -87.f ? splat(-87.f) : x;
  x = x > 87.f ? splat(87.f) : x;
  const vf rounded = x * 1.44269504f + 12582912.f;
  const vf n = rounded - 12582912.f;
  const vf r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  vf p = r * (1 / 5040.f) + 1 / 720.f;
  p = p * r + 1 / 120.f;
  p = p * r + 1 / 24.f;
  p = p * r + 1 / 6.f;
  p = p * r + 0.5f;
  p = (p * r) * r + r + 1.f;
  return (vf)((vi)p + ((vi)rounded << 23));
}
)"},
    {"exp", "bounded_exp", R"(
// The whole range, as the product of two halves.
INLINE vf exp_of(vf x) {
  const vf half = bounded_exp(x * 0.5f);
  const vf p = half * half;
  return x == x ? p : x;
}
)"},
    {"sigmoid", "bounded_exp", R"(
INLINE vf sigmoid_of(vf x) { return 1.f / (1.f + bounded_exp(-x)); }
)"},
    {"tanh", "bounded_exp", R"(
// The series near 0, where the other form cancels.
INLINE vf tanh_of(vf x) {
  const vf s = x * x;
  vf p = s * (21844 / 6081075.f) - 1382 / 155925.f;
  p = p * s + 62 / 2835.f;
  p = p * s - 17 / 315.f;
  p = p * s + 2 / 15.f;
  p = p * s - 1 / 3.f;
  const vf near = x + x * s * p;
  const vf far = 1.f - 2.f / (bounded_exp(2.f * x) + 1.f);
  return s < 0.16f ? near : far;
}
)"},
    {"erf", "bounded_exp", R"(
// Abramowitz and Stegun 7.1.26.
INLINE vf erf_of(vf x) {
  const vf size = x < 0.f ? -x : x;
  const vf t = 1.f / (1.f + 0.3275911f * size);
  vf p = t * 1.061405429f - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const vf far = 1.f - p * t * bounded_exp(-(size * size));
  return x < 0.f ? -far : far;
}
)"},
    {"log1p", "", R"(
// log(1 + x) = 2 atanh(x / (2 + x)), for 0 <= x <= 1.
INLINE vf log1p_of(vf x) {
  const vf t = x / (2.f + x), s = t * t;
  vf p = s * (1 / 15.f) + 1 / 13.f;
  p = p * s + 1 / 11.f;
  p = p * s + 1 / 9.f;
  p = p * s + 1 / 7.f;
  p = p * s + 1 / 5.f;
  p = p * s + 1 / 3.f;
  return 2.f * t + 2.f * t * s * p;
}
)"},
};

}  // namespace

std::string function_definitions(const std::set<std::string_view>& names) {
  std::string out;
  for (const Function& one : kFunctions) {
    bool wanted = names.contains(one.name);
    for (const Function& other : kFunctions) wanted |= names.contains(other.name) && other.needs == one.name;
    if (wanted) out += one.text;
  }
  return out;
}

}  // namespace attune::cube
