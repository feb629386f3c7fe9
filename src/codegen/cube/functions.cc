#include "codegen/cube/functions.h"

#include "base/error.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

namespace attune::cube {
namespace {

struct Function {
  std::string_view name;
  std::array<std::string_view, 2> needs;  // defined before it
  const char* text;
};

// Steps that AVX-512 has instructions for, in vectors of 16 and of 8.
constexpr const char* kInstructions512 = R"(
INLINE vf about_inverse(vf x) { return __builtin_ia32_rcp14ps512_mask(x, (vf){}, 0xffff); }  // within 2^-14
INLINE vf fraction_of(vf x) { return __builtin_ia32_reduceps512_mask(x, 8, (vf){}, 0xffff, 4); }  // of the nearest integer
INLINE vf times_power(vf x, vf n) { return __builtin_ia32_scalefps512_mask(x, n, (vf){}, 0xffff, 4); }  // x 2^n
)";
constexpr const char* kInstructions256 = R"(
INLINE vf about_inverse(vf x) { return __builtin_ia32_rcp14ps256_mask(x, (vf){}, 0xff); }  // within 2^-14
INLINE vf fraction_of(vf x) { return __builtin_ia32_reduceps256_mask(x, 8, (vf){}, 0xff); }  // of the nearest integer
INLINE vf times_power(vf x, vf n) { return __builtin_ia32_scalefps256_mask(x, n, (vf){}, 0xff); }  // x 2^n
)";

// A division takes as long as the whole series of an exponential; one step of Newton's method behind the estimate is
// within two units in the last place.
constexpr const char* kInverseByEstimate = R"(
INLINE vf inverse(vf x) {
  const vf y = about_inverse(x);
  return y + y * (1.f - x * y);
}
)";
constexpr const char* kInverseByDivision = R"(
INLINE vf inverse(vf x) { return 1.f / x; }
)";

// Each is a plain reduction of the argument and a short series; vectors of any width.
constexpr Function kFunctions[] = {
    {"bounded_exp", {}, R"(
// e^x of x held within [-87, 87], where neither end overflows: e^x = 2^n e^r with |r| <= ln 2 / 2; the sum of a large
// constant rounds to the integer n, which then stands in the low bits with the bias of an exponent.
INLINE vf bounded_exp(vf x) {
  x = x < -87.f ? splat(-87.f) : x;
  x = x > 87.f ? splat(87.f) : x;
  const vf rounded = x * 1.44269504f + 12583039.f;
  const vf n = rounded - 12583039.f;
  const vf r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  vf p = r * (1 / 5040.f) + 1 / 720.f;
  p = p * r + 1 / 120.f;
  p = p * r + 1 / 24.f;
  p = p * r + 1 / 6.f;
  p = p * r + 0.5f;
  p = (p * r) * r + r + 1.f;
  return p * (vf)((vi)rounded << 23);
}
)"},
    {"exp", {"bounded_exp"}, R"(
// The whole range, as the product of two halves.
INLINE vf exp_of(vf x) {
  const vf half = bounded_exp(x * 0.5f);
  const vf p = half * half;
  return x == x ? p : x;
}
)"},
    {"sigmoid", {"inverse", "bounded_exp"}, R"(
INLINE vf sigmoid_of(vf x) { return inverse(1.f + bounded_exp(-x)); }
)"},
    {"tanh", {"inverse", "bounded_exp"}, R"(
// The series near 0, where the other form cancels.
INLINE vf tanh_of(vf x) {
  const vf s = x * x;
  vf p = s * (21844 / 6081075.f) - 1382 / 155925.f;
  p = p * s + 62 / 2835.f;
  p = p * s - 17 / 315.f;
  p = p * s + 2 / 15.f;
  p = p * s - 1 / 3.f;
  const vf near = x + x * s * p;
  const vf far = 1.f - 2.f * inverse(bounded_exp(2.f * x) + 1.f);
  return s < 0.16f ? near : far;
}
)"},
    {"gelu_erf", {"inverse", "bounded_exp"}, R"(
// erf by Abramowitz and Stegun 7.1.26.
INLINE vf gelu_erf_of(vf x) {
  vf size = (x < 0.f ? -x : x) * 0.70710678f;
  size = size > 16.f ? splat(16.f) : size;  // the inverse of infinity would be no number
  const vf t = inverse(1.f + 0.3275911f * size);
  vf p = t * 1.061405429f - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const vf far = 1.f - p * t * bounded_exp(-(size * size));
  return 0.5f * x * (1.f + (x < 0.f ? -far : far));
}
)"},
    {"log1p", {}, R"(
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

// The same names for results that are rounded to bf16, in about half of the instructions.
constexpr Function kBriefFunctions[] = {
    {"power", {}, R"(
// 2^x, within 8e-5 of it, of x held within [-125, 125]: numbers with leading zeros, here or as the inverse, would take
// hundreds of cycles.
INLINE vf power_of_two(vf x) {
  x = x < -125.f ? splat(-125.f) : x;
  x = x > 125.f ? splat(125.f) : x;
  const vf f = fraction_of(x);
  const vf p = ((f * 0.05517166f + 0.24261112f) * f + 0.69326099f) * f + 0.99992807f;
  return times_power(p, x - f);
}
)"},
    {"sigmoid", {"power"}, R"(
INLINE vf sigmoid_of(vf x) { return about_inverse(1.f + power_of_two(x * -1.44269504f)); }
)"},
    {"tanh", {"power"}, R"(
// The series near 0, where the other form cancels.
INLINE vf tanh_of(vf x) {
  const vf s = x * x;
  const vf near = x + x * s * ((s * (-17 / 315.f) + 2 / 15.f) * s - 1 / 3.f);
  const vf far = 1.f - 2.f * about_inverse(power_of_two(x * 2.88539008f) + 1.f);
  return s < 0.16f ? near : far;
}
)"},
    {"gelu_erf", {"power"}, R"(
// x Phi(x), where the normal distribution Phi is the logistic function of x p(x^2); p holds within 0.002 / |x| up to
// |x| = 5 and stays what it is there, where Phi is 0 or 1.
INLINE vf gelu_erf_of(vf x) {
  vf s = x * x;
  s = s > 25.f ? splat(25.f) : s;
  const vf p = ((s * -1.30320766e-5f + 1.42355907e-3f) * s - 0.109396768f) * s - 2.29764671f;
  return x * about_inverse(1.f + power_of_two(x * p));
}
)"},
};

// By the logistic function, as (1 + tanh u) / 2 = 1 / (1 + e^(-2u)).
constexpr const char* kGeluTanh = R"(
INLINE vf gelu_tanh_of(vf x) { return x * sigmoid_of(x * (1.59576912f + 0.0713548163f * x * x)); }
)";

const Function* find(std::span<const Function> functions, std::string_view name) {
  const auto found = std::ranges::find(functions, name, &Function::name);
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace

std::string function_definitions(const std::set<std::string_view>& names, const VectorIsa& isa, Accuracy accuracy) {
  std::string out;
  std::set<std::string_view> written;
  // Brief functions are made of instructions that AVX-512 has.
  const bool brief = accuracy == Accuracy::bf16 && isa.masks;
  const std::function<void(std::string_view)> write = [&](std::string_view name) {
    if (name.empty() || !written.insert(name).second) return;
    if (name == "instructions") {
      if (isa.masks) out += isa.lanes == 16 ? kInstructions512 : kInstructions256;
    } else if (name == "inverse") {
      write("instructions");
      out += isa.masks ? kInverseByEstimate : kInverseByDivision;
    } else if (name == "gelu_tanh") {
      write("sigmoid");
      out += kGeluTanh;
    } else {
      const Function* one = brief ? find(kBriefFunctions, name) : nullptr;
      if (one != nullptr) write("instructions");
      if (one == nullptr) one = find(kFunctions, name);
      if (one == nullptr) throw InternalError("there is no function '{}' for epilogues", name);
      for (const std::string_view need : one->needs) write(need);
      out += one->text;
    }
  };
  for (const std::string_view name : names) write(name);
  return out;
}

}  // namespace attune::cube
