// The loops themselves, for a vector of LANES floats. Included by one file for each instruction set, which is compiled
// for it alone; so nothing here may be shared with other files: no standard library, everything in this namespace.
#include "providers/native/lstm_loops.h"
#include "providers/native/vector_math.h"

namespace attune::native {
namespace {

inline Vector sigmoid(Vector x) {
  const Vector bounded = larger(smaller(x, Vector{} + 30.0F), Vector{} - 80.0F);
  return 1.0F / (1.0F + exponential(-bounded));
}

inline Vector hyperbolic_tangent(Vector x) {
  const Vector bounded = larger(smaller(x, Vector{} + 20.0F), Vector{} - 20.0F);
  return 1.0F - 2.0F / (exponential(2.0F * bounded) + 1.0F);
}

/// The gates of one row.
struct Row {
  Vector i, o, f, c;
  void start(const float* at) {
    i = load(at), o = load(at + LANES), f = load(at + 2 * LANES), c = load(at + 3 * LANES);
  }
  void add(float x, Vector wi, Vector wo, Vector wf, Vector wc) { i += x * wi, o += x * wo, f += x * wf, c += x * wc; }
  void write(float* at) const {
    store(at, i), store(at + LANES, o), store(at + 2 * LANES, f), store(at + 3 * LANES, c);
  }
};

// Named rows, since compilers keep an array of vectors in memory.
struct Tile {
  Row a, b, c, d, e, f;
};

template <int kRows>
inline void accumulate(Tile& t, const float* x, int64_t stride, int64_t depth, const float* panel) {
  for (int64_t k = 0; k < depth; ++k, panel += kGates * LANES) {
    const Vector wi = load(panel), wo = load(panel + LANES), wf = load(panel + 2 * LANES), wc = load(panel + 3 * LANES);
    t.a.add(x[k], wi, wo, wf, wc);
    if constexpr (kRows > 1) t.b.add(x[stride + k], wi, wo, wf, wc);
    if constexpr (kRows > 2) t.c.add(x[2 * stride + k], wi, wo, wf, wc);
    if constexpr (kRows > 3) t.d.add(x[3 * stride + k], wi, wo, wf, wc);
    if constexpr (kRows > 4) t.e.add(x[4 * stride + k], wi, wo, wf, wc);
    if constexpr (kRows > 5) t.f.add(x[5 * stride + k], wi, wo, wf, wc);
  }
}

template <int kRows> inline void start(Tile& t, const float* at, int64_t stride) {
  t.a.start(at);
  if constexpr (kRows > 1) t.b.start(at + stride);
  if constexpr (kRows > 2) t.c.start(at + 2 * stride);
  if constexpr (kRows > 3) t.d.start(at + 3 * stride);
  if constexpr (kRows > 4) t.e.start(at + 4 * stride);
  if constexpr (kRows > 5) t.f.start(at + 5 * stride);
}

template <int kRows> void project_tile(const float* x, int64_t depth, const float* panel, const float* bias, float* out,
                                       int64_t out_stride) {
  Tile t;
  start<kRows>(t, bias, 0);
  accumulate<kRows>(t, x, depth, depth, panel);
  t.a.write(out);
  if constexpr (kRows > 1) t.b.write(out + out_stride);
  if constexpr (kRows > 2) t.c.write(out + 2 * out_stride);
  if constexpr (kRows > 3) t.d.write(out + 3 * out_stride);
  if constexpr (kRows > 4) t.e.write(out + 4 * out_stride);
  if constexpr (kRows > 5) t.f.write(out + 5 * out_stride);
}

inline void finish(const Row& gates, float* cell, float* h_out, int64_t valid) {
  const Vector state = sigmoid(gates.f) * load(cell) + sigmoid(gates.i) * hyperbolic_tangent(gates.c);
  const Vector h = sigmoid(gates.o) * hyperbolic_tangent(state);
  store(cell, state);
  if (valid == LANES) {
    store(h_out, h);
    return;
  }
  float units[LANES];
  store(units, h);
  for (int64_t i = 0; i < valid; ++i) h_out[i] = units[i];
}

struct Step {
  const float* h;
  int64_t depth;
  const float* panel;
  const float* projected;
  int64_t projected_stride;
  float* cell;
  int64_t cell_stride;
  float* h_out;
  int64_t valid;
};

template <int kRows> void step_tile(const Step& s, int64_t row) {
  Tile t;
  start<kRows>(t, s.projected + row * s.projected_stride, s.projected_stride);
  accumulate<kRows>(t, s.h + row * s.depth, s.depth, s.depth, s.panel);
  float* cell = s.cell + row * s.cell_stride;
  float* out = s.h_out + row * s.depth;
  finish(t.a, cell, out, s.valid);
  if constexpr (kRows > 1) finish(t.b, cell + s.cell_stride, out + s.depth, s.valid);
  if constexpr (kRows > 2) finish(t.c, cell + 2 * s.cell_stride, out + 2 * s.depth, s.valid);
  if constexpr (kRows > 3) finish(t.d, cell + 3 * s.cell_stride, out + 3 * s.depth, s.valid);
  if constexpr (kRows > 4) finish(t.e, cell + 4 * s.cell_stride, out + 4 * s.depth, s.valid);
  if constexpr (kRows > 5) finish(t.f, cell + 5 * s.cell_stride, out + 5 * s.depth, s.valid);
}

/// Calls body<n>(first row) with as many rows at a time as the registers hold, then with those left.
#define ATTUNE_FOR_ROWS(rows, call)                                      \
  do {                                                                   \
    int64_t row = 0;                                                     \
    for (; row + TILE_ROWS <= (rows); row += TILE_ROWS) call(TILE_ROWS); \
    switch ((rows)-row) {                                                \
      case 5: call(5); break;                                            \
      case 4: call(4); break;                                            \
      case 3: call(3); break;                                            \
      case 2: call(2); break;                                            \
      case 1: call(1); break;                                            \
      default: break;                                                    \
    }                                                                    \
  } while (false)

void project(const float* x, int64_t rows, int64_t depth, const float* panel, const float* bias, float* out,
             int64_t out_stride) {
#define ATTUNE_PROJECT(n) project_tile<n>(x + row * depth, depth, panel, bias, out + row * out_stride, out_stride)
  ATTUNE_FOR_ROWS(rows, ATTUNE_PROJECT);
#undef ATTUNE_PROJECT
}

void step(const float* h, int64_t rows, int64_t depth, const float* panel, const float* projected,
          int64_t projected_stride, float* cell, int64_t cell_stride, float* h_out, int64_t valid) {
  const Step s{h, depth, panel, projected, projected_stride, cell, cell_stride, h_out, valid};
#define ATTUNE_STEP(n) step_tile<n>(s, row)
  ATTUNE_FOR_ROWS(rows, ATTUNE_STEP);
#undef ATTUNE_STEP
}

}  // namespace
}  // namespace attune::native
