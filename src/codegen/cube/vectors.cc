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

constexpr const char* kRoundNatively = R"(typedef __bf16 vb __attribute__((vector_size(32)));
INLINE vh narrow(vf x) { return (vh)__builtin_ia32_cvtneps2bf16_512_mask(x, (vb){}, 0xffff); }
)";

// To nearest, ties to even; what is not a number stays one.
constexpr const char* kRoundByHand = R"(INLINE vh narrow(vf x) {
  const vu bits = (vu)x;
  const vu rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const vu quiet = (bits >> 16) | 0x40;
  return __builtin_convertvector((vu)(x == x ? (vi)rounded : (vi)quiet), vh);
}
)";

constexpr const char* kMasked512 = R"(template <int N> INLINE vf load(const float* p) {
  if constexpr (N == 16) return *(const vf_at*)p;
  return __builtin_ia32_loadups512_mask((const float*)p, (vf){}, (1u << N) - 1);
}
template <int N> INLINE void store(float* p, vf x) {
  if constexpr (N == 16) *(vf_at*)p = x;
  else __builtin_ia32_storeups512_mask((float*)p, x, (1u << N) - 1);
}
typedef short v16s __attribute__((vector_size(32)));
template <int N> INLINE vf first_lanes(vf x) {
  if constexpr (N == 16) return x;
  return (vi){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} < N ? x : (vf){};
}
template <int N> INLINE vf load(const bf16* p) {
  if constexpr (N == 16) return widen(*(const vh_at*)p);
  return widen((vh)__builtin_ia32_loaddquhi256_mask((const v16s*)p, (v16s){}, (1u << N) - 1));
}
template <int N> INLINE void store(bf16* p, vf x) {
  if constexpr (N == 16) *(vh_at*)p = narrow(x);
  else __builtin_ia32_storedquhi256_mask((v16s*)p, (v16s)narrow(x), (1u << N) - 1);
}
)";

constexpr const char* kMasked256 =
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
template <int N> INLINE vf load(const bf16* p) {
  vh x = {};
  if constexpr (N == 8) x = *(const vh_at*)p;
  else for (int i = 0; i < N; ++i) x[i] = p[i];
  return widen(x);
}
template <int N> INLINE void store(bf16* p, vf x) {
  const vh y = narrow(x);
  if constexpr (N == 8) *(vh_at*)p = y;
  else for (int i = 0; i < N; ++i) p[i] = y[i];
}
)";

}  // namespace

std::string vector_vocabulary(const VectorIsa& isa) {
  std::string out = fmt::format(fmt::runtime(kTypes), isa.lanes * 4, isa.lanes * 2);
  out += isa.native_bf16 && isa.lanes == 16 ? kRoundNatively : kRoundByHand;
  out += isa.lanes == 16 ? kMasked512 : kMasked256;
  return out;
}

std::string_view element_name(DType dtype) {
  if (dtype == DType::f32) return "float";
  if (dtype == DType::bf16) return "bf16";
  throw InternalError("kernels of the cube generators read and write f32 and bf16, got {}", dtype_name(dtype));
}

}  // namespace attune::cube
