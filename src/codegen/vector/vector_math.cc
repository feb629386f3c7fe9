// Functions on vectors of floats as text. The polynomials were fitted by least squares on Chebyshev nodes with 15
// digits, the rational one by the same with its denominator as weight.
#include "base/error.h"
#include "codegen/vector/vector_text.h"

#include <functional>

namespace attune::codegen {
namespace {

struct VectorFunction {
  std::string_view name;
  std::vector<std::string_view> uses;
  std::string_view text;
};

// Functions that others use come first.
const VectorFunction kFunctions[] = {
    {"vmax", {}, "static inline vf vmax(vf a, vf b) { return a > b ? a : b; }\n"},
    {"vmin", {}, "static inline vf vmin(vf a, vf b) { return a < b ? a : b; }\n"},
    {"vabs", {}, "static inline vf vabs(vf x) { return (vf)((vi)x & 0x7FFFFFFF); }\n"},
    {"vsqrt", {}, "static inline vf vsqrt(vf x) { return __builtin_elementwise_sqrt(x); }\n"},
    {"vfloor", {}, "static inline vf vfloor(vf x) { return __builtin_elementwise_floor(x); }\n"},
    {"vceil", {}, "static inline vf vceil(vf x) { return __builtin_elementwise_ceil(x); }\n"},
    {"vround", {}, "static inline vf vround(vf x) { return __builtin_elementwise_roundeven(x); }\n"},
    {"vexp",
     {},
     R"(// e^x = 2^n (1 + r + r^2 p(r)) with |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to the integer n, which then stands in
// the low bits and is added to the exponent.
static inline vf vexp(vf x) {
  const vf shifted = x * 1.44269502f + 12582912.0f, n = shifted - 12582912.0f;
  const vf r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  vf p = r * 0.000198992871f + 0.00139336521f;
  p = p * r + 0.00833329838f;
  p = p * r + 0.0416664667f;
  p = p * r + 0.166666672f;
  p = p * r + 0.5f;
  const vf one_to_two = (p * r * r + r) + 1.0f;
  vf y = (vf)((vi)one_to_two + ((vi)shifted << 23));
  y = x > 88.7228394f ? (vf)__builtin_inff() : y;
  y = x < -87.3365479f ? (vf)0.0f : y;
  return x == x ? y : x;
}
)"},
    {"vexp_within",
     {},
     R"(// e^x for x in [-87, 87]. A NaN stays one because the power of two is multiplied, not added.
static inline vf vexp_within(vf x) {
  const vf shifted = x * 1.44269502f + 12582912.0f, n = shifted - 12582912.0f;
  const vf r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  vf p = r * 0.000198992871f + 0.00139336521f;
  p = p * r + 0.00833329838f;
  p = p * r + 0.0416664667f;
  p = p * r + 0.166666672f;
  p = p * r + 0.5f;
  const vf one_to_two = (p * r * r + r) + 1.0f;
  return one_to_two * (vf)(((vi)shifted << 23) + 0x3F800000);
}
)"},
    {"vexp_below", {"vexp_within"}, R"(// e^x for x <= 0, as softmax wants it.
static inline vf vexp_below(vf x) { return x < -87.3365479f ? (vf)0.0f : vexp_within(x); }
)"},
    {"vexpm1", {}, R"(// 2^n (1 + e) - 1 = 2^n e + (2^n - 1), which keeps small results exact.
static inline vf vexpm1(vf x) {
  const vf c = x > 88.0f ? (vf)88.0f : (x < -30.0f ? (vf)-30.0f : x);
  const vf shifted = c * 1.44269502f + 12582912.0f, n = shifted - 12582912.0f;
  const vf r = (c - n * 0.693145752f) - n * 1.42860677e-6f;
  vf p = r * 0.000198992871f + 0.00139336521f;
  p = p * r + 0.00833329838f;
  p = p * r + 0.0416664667f;
  p = p * r + 0.166666672f;
  p = p * r + 0.5f;
  const vf e = p * r * r + r;
  const vf scale = (vf)(((vi)shifted << 23) + 0x3F800000);
  const vf y = scale * e + (scale - 1.0f);
  return x == x ? (x > 88.7228394f ? (vf)__builtin_inff() : y) : x;
}
)"},
    {"vlog", {}, R"(// x = 2^e m with sqrt(1/2) <= m < sqrt(2); ln m = f - f^2 / 2 + f^3 p(f) with f = m - 1.
static inline vf vlog(vf x) {
  const vi e = ((vi)x - 0x3F3504F3) >> 23;
  const vf f = (vf)((vi)x - (e << 23)) - 1.0f, k = __builtin_convertvector(e, vf);
  vf p = f * 0.0714975223f + -0.115712009f;
  p = p * f + 0.116615124f;
  p = p * f + -0.124110505f;
  p = p * f + 0.142499357f;
  p = p * f + -0.166684806f;
  p = p * f + 0.200007081f;
  p = p * f + -0.249999896f;
  p = p * f + 0.333333313f;
  const vf f2 = f * f;
  vf y = ((p * f * f2 + k * 1.42860677e-6f) - 0.5f * f2 + f) + k * 0.693145752f;
  y = x == __builtin_inff() ? x : y;
  y = x < 1.17549435e-38f ? (vf)-__builtin_inff() : y;
  return x < 0.0f || x != x ? (vf)__builtin_nanf("") : y;
}
)"},
    {"vtanh", {"vexpm1"}, R"(static inline vf vtanh(vf x) {
  const vf c = x > 9.5f ? (vf)9.5f : (x < -9.5f ? (vf)-9.5f : x);
  const vf e = vexpm1(c + c);
  return e / (e + 2.0f);
}
)"},
    {"verf", {}, R"(// x P(x^2) / Q(x^2); beyond 3.93 it is 1, so that gelu vanishes far below 0.
static inline vf verf(vf x) {
  const vf t = x * x;
  vf p = t * 2.05933202e-6f + 0.000283540779f;
  p = p * t + 0.00370781356f;
  p = p * t + 0.0525677837f;
  p = p * t + 0.189063504f;
  p = p * t + 1.12837911f;
  vf q = t * 3.81185673e-5f + 0.00114849838f;
  q = q * t + 0.0148526086f;
  q = q * t + 0.113551125f;
  q = q * t + 0.500886142f;
  q = q * t + 1.0f;
  const vf y = x * p / q;
  return x > 3.93f ? (vf)1.0f : (x < -3.93f ? (vf)-1.0f : y);
}
)"},
    {"vsigmoid", {"vexp"}, "static inline vf vsigmoid(vf x) { return 1.0f / (1.0f + vexp(-x)); }\n"},
    {"vsoftplus",
     {"vexp", "vlog", "vabs", "vmax"},
     "static inline vf vsoftplus(vf x) { return vmax(x, 0.0f) + vlog(1.0f + vexp(-vabs(x))); }\n"},
    {"vmish", {"vexp"}, R"(// tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2); it rounds to 1 from 20 on.
static inline vf vmish(vf x) {
  const vf e = vexp(x > 20.0f ? (vf)20.0f : x), u = e * (e + 2.0f);
  return x * (u / (u + 2.0f));
}
)"},
    {"vgelu_erf",
     {"verf"},
     "static inline vf vgelu_erf(vf x) { return 0.5f * x * (1.0f + verf(x * 0.707106769f)); }\n"},
    {"vgelu_tanh", {"vexp"}, R"(// (1 + tanh u) / 2 = 1 / (1 + e^(-2u)), which saves a division.
static inline vf vgelu_tanh(vf x) {
  return x / (1.0f + vexp(x * (-1.59576917f + -0.0713548139f * x * x)));
}
)"},
};

const VectorFunction& find(std::string_view name) {
  for (const VectorFunction& function : kFunctions)
    if (function.name == name) return function;
  throw InternalError("there is no vector function '{}'", name);
}

}  // namespace

std::string vector_functions(const std::set<std::string>& names) {
  std::set<std::string_view> needed;
  const std::function<void(std::string_view)> need = [&](std::string_view name) {
    if (!needed.insert(find(name).name).second) return;
    for (const std::string_view used : find(name).uses) need(used);
  };
  for (const std::string& name : names) need(name);
  std::string out;
  for (const VectorFunction& function : kFunctions)
    if (needed.count(function.name) > 0) out += function.text;
  return out;
}

}  // namespace attune::codegen
