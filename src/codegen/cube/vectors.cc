#include "codegen/cube/vectors.h"

#include "base/error.h"

namespace attune::cube {
namespace {

// {0} bytes of a vector of floats, {1} of one of bf16.
constexpr const char* kTypes = R"(typedef unsigned short bf16;
typedef float vf __attribute__((vector_size({0})));
typedef int vi __attribute__((vector_size({0})));
typedef unsigned vu __attribute__((vector_size({0})));
typedef unsigned short vh __attribute__((vector_size({1})));
typedef float vf_at __attribute__((vector_size({0}), aligned(4), may_alias));
typedef unsigned short vh_at __attribute__((vector_size({1}), aligned(2), may_alias));
typedef int int_at __attribute__((aligned(2), may_alias));
#define INLINE static inline __attribute__((always_inline))

INLINE vf splat(float x) {{ return x - (vf){{}}; }}
INLINE vf widen(vh x) {{ return (vf)(__builtin_convertvector(x, vu) << 16); }}
)";

constexpr const char* kRoundNatively512 = R"(typedef __bf16 vb __attribute__((vector_size(32)));
INLINE vh narrow(vf x) { return (vh)__builtin_ia32_cvtneps2bf16_512_mask(x, (vb){}, 0xffff); }
)";
constexpr const char* kRoundNatively256 = R"(typedef __bf16 vb __attribute__((vector_size(16)));
INLINE vh narrow(vf x) { return (vh)__builtin_ia32_cvtneps2bf16_256_mask(x, (vb){}, 0xff); }
)";

// To nearest, ties to even; what is not a number stays one.
constexpr const char* kRoundByHand = R"(INLINE vh narrow(vf x) {
  const vu bits = (vu)x;
  const vu rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const vu quiet = (bits >> 16) | 0x40;
  return __builtin_convertvector((vu)(x == x ? (vi)rounded : (vi)quiet), vh);
}
)";

constexpr const char* kPastCache =
    R"(INLINE void store_past_cache(float* p, vf x) { __builtin_nontemporal_store(x, (vf*)p); }
INLINE void store_past_cache(bf16* p, vf x) { __builtin_nontemporal_store(narrow(x), (vh*)p); }
)";

/// With AVX-512 masks: {0} lanes, {1} bits of a vector of floats, {2} of one of bf16, {3} the numbers of the lanes, {4}
/// what the functions of that width call the type of a place.
constexpr const char* kMasked = R"(template <int N> INLINE vf load(const float* p) {{
  if constexpr (N == {0}) return *(const vf_at*)p;
  return __builtin_ia32_loadups{1}_mask((const {4}*)p, (vf){{}}, (1u << N) - 1);
}}
template <int N> INLINE void store(float* p, vf x) {{
  if constexpr (N == {0}) *(vf_at*)p = x;
  else __builtin_ia32_storeups{1}_mask(({4}*)p, x, (1u << N) - 1);
}}
typedef short vs __attribute__((vector_size({0} * 2)));
template <int N> INLINE vf first_lanes(vf x) {{
  if constexpr (N == {0}) return x;
  return (vi){{{3}}} < N ? x : (vf){{}};
}}
template <int N> INLINE vh load_halves(const bf16* p) {{
  if constexpr (N == {0}) return *(const vh_at*)p;
  return (vh)__builtin_ia32_loaddquhi{2}_mask((const vs*)p, (vs){{}}, (1u << N) - 1);
}}
template <int N> INLINE void store(bf16* p, vh x) {{
  if constexpr (N == {0}) *(vh_at*)p = x;
  else __builtin_ia32_storedquhi{2}_mask((vs*)p, (vs)x, (1u << N) - 1);
}}
)";

constexpr const char* kByHand256 =
    R"(template <int N> INLINE vi lanes_below() { return (vi){0, 1, 2, 3, 4, 5, 6, 7} < N; }
template <int N> INLINE vf first_lanes(vf x) { return lanes_below<N>() ? x : (vf){}; }
template <int N> INLINE vf load(const float* p) {
  if constexpr (N == 8) return *(const vf_at*)p;
  return __builtin_ia32_maskloadps256((const vf*)p, lanes_below<N>());
}
template <int N> INLINE void store(float* p, vf x) {
  if constexpr (N == 8) *(vf_at*)p = x;
  else __builtin_ia32_maskstoreps256((vf*)p, lanes_below<N>(), x);
}
template <int N> INLINE vh load_halves(const bf16* p) {
  vh x = {};
  if constexpr (N == 8) x = *(const vh_at*)p;
  else for (int i = 0; i < N; ++i) x[i] = p[i];
  return x;
}
template <int N> INLINE void store(bf16* p, vh x) {
  if constexpr (N == 8) *(vh_at*)p = x;
  else for (int i = 0; i < N; ++i) p[i] = x[i];
}
)";

constexpr const char* kWidened = R"(template <int N> INLINE vf load(const bf16* p) { return widen(load_halves<N>(p)); }
template <int N> INLINE void store(bf16* p, vf x) { store<N>(p, narrow(x)); }
)";

}  // namespace

std::string vector_vocabulary(const VectorIsa& isa) {
  std::string out = fmt::format(fmt::runtime(kTypes), isa.lanes * 4, isa.lanes * 2);
  if (!isa.native_bf16)
    out += kRoundByHand;
  else
    out += isa.lanes == 16 ? kRoundNatively512 : kRoundNatively256;
  out += kPastCache;
  if (!isa.masks) return out + kByHand256 + kWidened;
  std::string numbers = "0";
  for (int i = 1; i < isa.lanes; ++i) numbers += fmt::format(", {}", i);
  return out +
         fmt::format(fmt::runtime(kMasked), isa.lanes, isa.lanes * 32, isa.lanes * 16, numbers,
                     isa.lanes == 16 ? "float" : "vf") +
         kWidened;
}

std::string_view element_name(DType dtype) {
  if (dtype == DType::f32) return "float";
  if (dtype == DType::bf16) return "bf16";
  throw InternalError("kernels of the cube generators read and write f32 and bf16, got {}", dtype_name(dtype));
}

}  // namespace attune::cube
