#include "codegen/vector/vector_text.h"

#include "base/error.h"
#include "codegen/text.h"

#include <algorithm>

namespace attune::codegen {
namespace {

constexpr std::string_view kTypes = R"(typedef float vf __attribute__((ext_vector_type({lanes})));
typedef int vi __attribute__((ext_vector_type({lanes})));
typedef unsigned vu __attribute__((ext_vector_type({lanes})));
typedef unsigned short vh __attribute__((ext_vector_type({lanes})));
typedef unsigned char vb __attribute__((ext_vector_type({lanes})));
typedef float vf_anywhere __attribute__((ext_vector_type({lanes}), aligned(4), may_alias));
typedef unsigned short vh_anywhere __attribute__((ext_vector_type({lanes}), aligned(2), may_alias));
typedef unsigned char vb_anywhere __attribute__((ext_vector_type({lanes}), aligned(1), may_alias));

)";

constexpr std::string_view kFloat = R"(static inline vf load(const float* p) { return *(const vf_anywhere*)p; }
static inline vf load_one(const float* p) { return (vf)*p; }
static inline void store(float* p, vf v) { *(vf_anywhere*)p = v; }
static inline void store_past_cache(float* p, vf v) { __builtin_nontemporal_store(v, (vf*)p); }
)";

constexpr std::string_view kBf16 =
    R"(static inline vf from_bf16(vh h) { return (vf)(__builtin_convertvector(h, vu) << 16); }
static inline vf load(const unsigned short* p) { return from_bf16(*(const vh_anywhere*)p); }
static inline vf load_one(const unsigned short* p) { return (vf)((vu)((unsigned)*p << 16)); }
{to_bf16}static inline void store(unsigned short* p, vf v) { *(vh_anywhere*)p = to_bf16(v); }
static inline void store_past_cache(unsigned short* p, vf v) { __builtin_nontemporal_store(to_bf16(v), (vh*)p); }
)";

constexpr std::string_view kToBf16ByBits = R"(// To the nearest, ties to even; NaN stays NaN.
static inline vh to_bf16(vf v) {
  const vu bits = (vu)v, rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return __builtin_convertvector(v == v ? rounded : (vu)0x7FC0, vh);
}
)";
constexpr std::string_view kToBf16ByInstruction = R"(typedef __bf16 vbf __attribute__((ext_vector_type({lanes})));
static inline vh to_bf16(vf v) { return __builtin_bit_cast(vh, __builtin_convertvector(v, vbf)); }
)";

constexpr std::string_view kBool = R"(static inline vf from_bool(vb b) { return __builtin_convertvector(b, vf); }
static inline vf load(const unsigned char* p) { return from_bool(*(const vb_anywhere*)p); }
static inline vf load_one(const unsigned char* p) { return (vf)(float)*p; }
)";

// The first n < lanes elements; the others load as zero and are not touched by stores.
constexpr std::string_view kPartByLoop = R"(static inline vf load_part(const {type}* p, long n) {
  {type} part[{lanes}] = {};
  for (long i = 0; i < n; ++i) part[i] = p[i];
  return load(part);
}
static inline void store_part({type}* p, vf v, long n) {
  {type} part[{lanes}];
  store(part, v);
  for (long i = 0; i < n; ++i) p[i] = part[i];
}
)";

constexpr std::string_view kLoadPartByLoop = R"(static inline vf load_part(const {type}* p, long n) {
  {type} part[{lanes}] = {};
  for (long i = 0; i < n; ++i) part[i] = p[i];
  return load(part);
}
)";

// The builtins are declared with vectors of signed elements, and those of 512 bits with pointers to one float.
constexpr std::string_view kFloatPartMasked = R"(static inline vf load_part(const float* p, long n) {
  return __builtin_ia32_loadups{bits}_mask(({float_pointer})p, (vf)0.0f, ({mask})((1u << n) - 1));
}
static inline void store_part(float* p, vf v, long n) {
  __builtin_ia32_storeups{bits}_mask(({float_pointer})p, v, ({mask})((1u << n) - 1));
}
)";
constexpr std::string_view kBf16PartMasked = R"(typedef short vs __attribute__((vector_size({half_bytes})));
static inline vf load_part(const unsigned short* p, long n) {
  return from_bf16((vh)__builtin_ia32_loaddquhi{half_bits}_mask((vs*)p, (vs)(vh)0, ({mask})((1u << n) - 1)));
}
static inline void store_part(unsigned short* p, vf v, long n) {
  __builtin_ia32_storedquhi{half_bits}_mask((vs*)p, (vs)to_bf16(v), ({mask})((1u << n) - 1));
}
)";
constexpr std::string_view kFloatPartAvx2 = R"(typedef float float8 __attribute__((vector_size(32)));
static inline vi part_mask(long n) {
  const vi lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane < (vi)(int)n;
}
static inline vf load_part(const float* p, long n) {
  return __builtin_ia32_maskloadps256((const float8*)p, part_mask(n));
}
static inline void store_part(float* p, vf v, long n) {
  __builtin_ia32_maskstoreps256((float8*)p, part_mask(n), v);
}
)";

}  // namespace

std::string_view element_c_type(Element element) {
  switch (element) {
    case Element::f32: return "float";
    case Element::bf16: return "unsigned short";
    case Element::boolean: return "unsigned char";
  }
  throw InternalError("an element type that vectors do not have");
}

int64_t element_bytes(Element element) { return element == Element::f32 ? 4 : element == Element::bf16 ? 2 : 1; }

int widest_lanes(Isa isa) { return isa >= Isa::avx512 ? 16 : isa == Isa::avx2 ? 8 : 4; }

std::vector<int> lane_choices(Isa isa) {
  if (isa >= Isa::avx512) return {16, 8};
  return {widest_lanes(isa)};
}

std::string vector_types(Isa isa, int lanes, const std::set<Element>& elements) {
  const bool masked = isa >= Isa::avx512 && (lanes == 16 || lanes == 8);
  const std::vector<std::pair<std::string_view, std::string>> values{
      {"lanes", std::to_string(lanes)},
      {"bits", std::to_string(lanes * 32)},
      {"half_bits", std::to_string(lanes * 16)},
      {"half_bytes", std::to_string(lanes * 2)},
      {"float_pointer", lanes == 16 ? "float*" : "float8*"},
      {"mask", lanes == 16 ? "unsigned short" : "unsigned char"},
      {"to_bf16",
       fill_in(isa >= Isa::avx512_bf16 ? kToBf16ByInstruction : kToBf16ByBits, {{"lanes", std::to_string(lanes)}})}};
  std::string out = fill_in(kTypes, values);
  const auto by_loop = [&](std::string_view text, Element element) {
    auto with_type = values;
    with_type.emplace_back("type", std::string(element_c_type(element)));
    return fill_in(text, with_type);
  };
  if (elements.count(Element::f32) > 0) {
    out += kFloat;
    if (masked)
      out += (lanes == 8 ? "typedef float float8 __attribute__((vector_size(32)));\n" : "") +
             fill_in(kFloatPartMasked, values);
    else if (isa == Isa::avx2 && lanes == 8)
      out += kFloatPartAvx2;
    else
      out += by_loop(kPartByLoop, Element::f32);
  }
  if (elements.count(Element::bf16) > 0) {
    out += fill_in(kBf16, values);
    out += masked ? fill_in(kBf16PartMasked, values) : by_loop(kPartByLoop, Element::bf16);
  }
  if (elements.count(Element::boolean) > 0) out += fill_in(kBool, values) + by_loop(kLoadPartByLoop, Element::boolean);
  return out + "\n";
}

}  // namespace attune::codegen
