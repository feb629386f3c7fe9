// The loops themselves, for a vector of LANES floats. Included by one file for each instruction set, which is compiled
// for it alone; so nothing here may be shared with other files: no standard library, everything in this namespace.
#include "providers/native/cell_loops.h"
#include "providers/native/vector_math.h"

namespace attune::native {
namespace {

inline Vector hyperbolic_tangent(Vector x) {
  const Vector bounded = larger(smaller(x, Vector{} + 20.0F), Vector{} - 20.0F);
  return 1.0F - 2.0F / (exponential(2.0F * bounded) + 1.0F);
}

/// Adds the products of two pairs of bf16 to each lane.
ALWAYS_INLINE Vector dot(Vector sum, int32_t x, IntVector w) {
  constexpr int32_t kUpper = -65536;
  const Vector first = (Vector)(IntVector{} + (x << 16)), second = (Vector)(IntVector{} + (x & kUpper));
  return sum + first * (Vector)(w << 16) + second * (Vector)(w & kUpper);
}

ALWAYS_INLINE IntVector load(const uint32_t* p) { return *reinterpret_cast<const IntVector*>(p); }

/// What the weights of one depth are multiplied with: a number, or a pair.
ALWAYS_INLINE float factor(const float* x) { return *x; }
ALWAYS_INLINE int32_t factor(const uint16_t* x) {
  int32_t pair;
  __builtin_memcpy(&pair, x, sizeof pair);
  return pair;
}

/// The gates of one row.
struct Row {
  Vector i, o, f, c;
  ALWAYS_INLINE void start(const float* at) {
    i = load(at), o = load(at + LANES), f = load(at + 2 * LANES), c = load(at + 3 * LANES);
  }
  ALWAYS_INLINE void add(const float* at) {
    i += load(at), o += load(at + LANES), f += load(at + 2 * LANES), c += load(at + 3 * LANES);
  }
  ALWAYS_INLINE void add(float x, Vector wi, Vector wo, Vector wf, Vector wc) {
    i += x * wi, o += x * wo, f += x * wf, c += x * wc;
  }
  ALWAYS_INLINE void add(int32_t x, IntVector wi, IntVector wo, IntVector wf, IntVector wc) {
    i = dot(i, x, wi), o = dot(o, x, wo), f = dot(f, x, wf), c = dot(c, x, wc);
  }
  ALWAYS_INLINE void write(float* at) const {
    store(at, i), store(at + LANES, o), store(at + 2 * LANES, f), store(at + 3 * LANES, c);
  }
};

// Named rows, since compilers keep an array of vectors in memory.
struct Tile {
  Row a, b, c, d, e, f;
};

/// One element of the depth of the weights; factor_of(row) is what it is multiplied with.
template <int kRows, class Weights, class FactorOf>
ALWAYS_INLINE void add_products(Tile& t, const Weights* panel, FactorOf&& factor_of) {
  const auto wi = load(panel), wo = load(panel + LANES), wf = load(panel + 2 * LANES), wc = load(panel + 3 * LANES);
  t.a.add(factor_of(0), wi, wo, wf, wc);
  if constexpr (kRows > 1) t.b.add(factor_of(1), wi, wo, wf, wc);
  if constexpr (kRows > 2) t.c.add(factor_of(2), wi, wo, wf, wc);
  if constexpr (kRows > 3) t.d.add(factor_of(3), wi, wo, wf, wc);
  if constexpr (kRows > 4) t.e.add(factor_of(4), wi, wo, wf, wc);
  if constexpr (kRows > 5) t.f.add(factor_of(5), wi, wo, wf, wc);
}

template <int kRows, class T> ALWAYS_INLINE void accumulate(Tile& t, const T* x, int64_t stride, int64_t depth,
                                                            const typename CellWeights<T>::type* panel) {
  constexpr int64_t kStep = CellWeights<T>::depth;
  int64_t k = 0;
  for (; k + kStep <= depth; k += kStep, panel += kGates * LANES)
    add_products<kRows>(
        t, panel, [&](int64_t row) __attribute__((always_inline)) { return factor(x + row * stride + k); });
  if constexpr (kStep > 1)
    if (k < depth)  // an odd depth: the last number alone, its partner zero
      add_products<kRows>(
          t,
          panel, [&](int64_t row) __attribute__((always_inline)) { return static_cast<int32_t>(x[row * stride + k]); });
}

template <int kRows> ALWAYS_INLINE void start(Tile& t, const float* at, int64_t stride) {
  t.a.start(at);
  if constexpr (kRows > 1) t.b.start(at + stride);
  if constexpr (kRows > 2) t.c.start(at + 2 * stride);
  if constexpr (kRows > 3) t.d.start(at + 3 * stride);
  if constexpr (kRows > 4) t.e.start(at + 4 * stride);
  if constexpr (kRows > 5) t.f.start(at + 5 * stride);
}

template <int kRows, class T> void project_tile(const T* x, int64_t depth, const typename CellWeights<T>::type* panel,
                                                const float* from, int64_t from_stride, float* out,
                                                int64_t out_stride) {
  Tile t;
  start<kRows>(t, from, from_stride);
  accumulate<kRows>(t, x, depth, depth, panel);
  t.a.write(out);
  if constexpr (kRows > 1) t.b.write(out + out_stride);
  if constexpr (kRows > 2) t.c.write(out + 2 * out_stride);
  if constexpr (kRows > 3) t.d.write(out + 3 * out_stride);
  if constexpr (kRows > 4) t.e.write(out + 4 * out_stride);
  if constexpr (kRows > 5) t.f.write(out + 5 * out_stride);
}

struct LstmCell {
  template <class T> ALWAYS_INLINE static void finish(const Row& gates, float* cell, T* h_out, int64_t valid) {
    const Vector state = sigmoid(gates.f) * load(cell) + sigmoid(gates.i) * hyperbolic_tangent(gates.c);
    store(cell, state);
    store_some(h_out, sigmoid(gates.o) * hyperbolic_tangent(state), valid);
  }
};

struct GruCell {
  template <class T> ALWAYS_INLINE static void finish(const Row& gates, float* cell, T* h_out, int64_t valid) {
    const Vector fresh = hyperbolic_tangent(gates.f + sigmoid(gates.o) * gates.c);
    const Vector state = fresh + sigmoid(gates.i) * (load(cell) - fresh);
    store(cell, state);
    store_some(h_out, state, valid);
  }
};

template <class T> struct Step {
  const T* h;
  int64_t depth;
  const typename CellWeights<T>::type* panel;
  const float* projected;
  int64_t projected_stride;
  float* cell;
  int64_t cell_stride;
  T* h_out;
  int64_t valid;
};

template <int kRows, class Cell, class T> void step_tile(const Step<T>& s, int64_t row) {
  Tile t;
  start<kRows>(t, s.projected + row * s.projected_stride, s.projected_stride);
  accumulate<kRows>(t, s.h + row * s.depth, s.depth, s.depth, s.panel);
  float* cell = s.cell + row * s.cell_stride;
  T* out = s.h_out + row * s.depth;
  Cell::finish(t.a, cell, out, s.valid);
  if constexpr (kRows > 1) Cell::finish(t.b, cell + s.cell_stride, out + s.depth, s.valid);
  if constexpr (kRows > 2) Cell::finish(t.c, cell + 2 * s.cell_stride, out + 2 * s.depth, s.valid);
  if constexpr (kRows > 3) Cell::finish(t.d, cell + 3 * s.cell_stride, out + 3 * s.depth, s.valid);
  if constexpr (kRows > 4) Cell::finish(t.e, cell + 4 * s.cell_stride, out + 4 * s.depth, s.valid);
  if constexpr (kRows > 5) Cell::finish(t.f, cell + 5 * s.cell_stride, out + 5 * s.depth, s.valid);
}

/// Calls call(n) with `row` at the first of n rows, as many at a time as the registers hold. Tiles are of about the
/// same height, since each reads all weights of the panel: 4 + 4 is better than 6 + 2.
#define ATTUNE_FOR_ROWS(rows, call)                             \
  do {                                                          \
    const int64_t tiles = ((rows) + TILE_ROWS - 1) / TILE_ROWS; \
    for (int64_t tile = 0, row = 0; tile < tiles; ++tile) {     \
      const int64_t next = (rows) * (tile + 1) / tiles;         \
      switch (next - row) {                                     \
        case 6: call(6); break;                                 \
        case 5: call(5); break;                                 \
        case 4: call(4); break;                                 \
        case 3: call(3); break;                                 \
        case 2: call(2); break;                                 \
        default: call(1); break;                                \
      }                                                         \
      row = next;                                               \
    }                                                           \
  } while (false)

template <class T> void project(const T* x, int64_t rows, int64_t depth, const typename CellWeights<T>::type* panel,
                                const float* from, int64_t from_stride, float* out, int64_t out_stride) {
#define ATTUNE_PROJECT(n)                                                                                       \
  project_tile<n>(x + row * depth, depth, panel, from + row * from_stride, from_stride, out + row * out_stride, \
                  out_stride)
  ATTUNE_FOR_ROWS(rows, ATTUNE_PROJECT);
#undef ATTUNE_PROJECT
}

template <class Cell, class T>
void step(const T* h, int64_t rows, int64_t depth, const typename CellWeights<T>::type* panel, const float* projected,
          int64_t projected_stride, float* cell, int64_t cell_stride, T* h_out, int64_t valid) {
  const Step<T> s{h, depth, panel, projected, projected_stride, cell, cell_stride, h_out, valid};
#define ATTUNE_STEP(n) step_tile<n, Cell>(s, row)
  ATTUNE_FOR_ROWS(rows, ATTUNE_STEP);
#undef ATTUNE_STEP
}

void reset_state(const float* reset, const float* state, float* out, int64_t valid) {
  for (int64_t i = 0; i < kGates * LANES; i += LANES)
    store_some(out + i, sigmoid(load(reset + i)) * load(state + i), valid - i);
}

void gate_fresh(const float* reset, const float* projected, float* fresh) {
  for (int64_t i = 0; i < kGates * LANES; i += LANES)
    store(fresh + i, load(projected + i) + sigmoid(load(reset + i)) * load(fresh + i));
}

void update_state(const float* update, const float* fresh, float* state, float* h_out, int64_t valid) {
  for (int64_t i = 0; i < kGates * LANES; i += LANES) {
    const Vector bounded = hyperbolic_tangent(load(fresh + i));
    const Vector next = bounded + sigmoid(load(update + i)) * (load(state + i) - bounded);
    store(state + i, next);
    store_some(h_out + i, next, valid - i);
  }
}

}  // namespace
}  // namespace attune::native
