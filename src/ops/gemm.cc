#include "ops/gemm.h"

#include "base/parallel.h"
#include "ops/gemm_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace attune {
namespace {

// A panel of b (kDepth x 16 doubles: 24 KB) stays in the first cache level; the packed blocks of a (192 KB) and b
// (384 KB) in the second.
constexpr int64_t kDepth = 192;
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 256;
// Products thinner than this read every element of the other matrix too few times to be worth packing it.
constexpr int64_t kThin = 4;
constexpr int64_t kThinColumns = 512;  // partial sums of one thin range: 4 x 4 KB
constexpr int64_t kGrain = 1 << 16;    // multiplications that pay for a thread

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Memory that a thread keeps for its packed blocks.
class Scratch {
 public:
  double* get(size_t count) {
    if (count > capacity_) {
      storage_.reset(static_cast<double*>(::operator new (count * sizeof(double), std::align_val_t{64})));
      capacity_ = count;
    }
    return storage_.get();
  }

 private:
  struct Free {
    void operator()(double* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<double, Free> storage_;
  size_t capacity_ = 0;
};

double* scratch(size_t count) {
  thread_local Scratch memory;
  return memory.get(count);
}

template <class T> struct Product {
  int64_t m, n, k;
  MatrixView<T> a, b;
  T* dst;
  int64_t dst_row_stride;
  int64_t dst_column_stride;

  Product transposed() const {
    return {n,
            m,
            k,
            {b.data, b.column_stride, b.row_stride},
            {a.data, a.column_stride, a.row_stride},
            dst,
            dst_column_stride,
            dst_row_stride};
  }
};

template <class T> void store_tile(const Product<T>& product, const double* tile, int64_t tile_columns, int64_t row,
                                   int64_t rows, int64_t column, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    T* out = product.dst + (row + i) * product.dst_row_stride + column * product.dst_column_stride;
    const double* sums = tile + i * tile_columns;
    if (product.dst_column_stride == 1)
      for (int64_t j = 0; j < columns; ++j) out[j] = static_cast<T>(sums[j]);
    else
      for (int64_t j = 0; j < columns; ++j) out[j * product.dst_column_stride] = static_cast<T>(sums[j]);
  }
}

/// One block of dst, [row, row + rows) x [column, column + columns): independent of every other block.
template <class T> void multiply_block(const GemmKernels<T>& kernels, const Product<T>& product, int64_t row,
                                       int64_t rows, int64_t column, int64_t columns) {
  const int64_t tile_rows = kernels.tile_rows, tile_columns = kernels.tile_columns;
  const int64_t row_tiles = ceil_div(rows, tile_rows), column_tiles = ceil_div(columns, tile_columns);
  const int64_t tile_size = tile_rows * tile_columns;
  const int64_t depth_block = std::min(kDepth, product.k);
  const bool one_depth = depth_block == product.k;
  // With one depth block every tile is complete at once and one suffices.
  const int64_t tiles = one_depth ? 1 : row_tiles * column_tiles;
  const int64_t a_size = row_tiles * tile_rows * depth_block, b_size = column_tiles * tile_columns * depth_block;
  double* packed_b = scratch(static_cast<size_t>(a_size + b_size + tiles * tile_size));
  double* packed_a = packed_b + b_size;
  double* sums = packed_a + a_size;
  for (int64_t p = 0; p < product.k; p += depth_block) {
    const int64_t depth = std::min(depth_block, product.k - p);
    const MatrixView<T>&a = product.a, &b = product.b;
    for (int64_t i = 0; i < row_tiles; ++i)
      kernels.pack_a(a.data + (row + i * tile_rows) * a.row_stride + p * a.column_stride, a.row_stride, a.column_stride,
                     std::min(tile_rows, rows - i * tile_rows), depth, packed_a + i * tile_rows * depth);
    for (int64_t j = 0; j < column_tiles; ++j)
      kernels.pack_b(b.data + p * b.row_stride + (column + j * tile_columns) * b.column_stride, b.column_stride,
                     b.row_stride, std::min(tile_columns, columns - j * tile_columns), depth,
                     packed_b + j * tile_columns * depth);
    const bool last = p + depth == product.k;
    for (int64_t j = 0; j < column_tiles; ++j) {
      for (int64_t i = 0; i < row_tiles; ++i) {
        double* tile = sums + (one_depth ? 0 : (j * row_tiles + i) * tile_size);
        kernels.multiply_tile(depth, packed_a + i * tile_rows * depth, packed_b + j * tile_columns * depth, tile,
                              p == 0 ? TileStart::zero : TileStart::accumulate);
        if (last)
          store_tile(product, tile, tile_columns, row + i * tile_rows, std::min(tile_rows, rows - i * tile_rows),
                     column + j * tile_columns, std::min(tile_columns, columns - j * tile_columns));
      }
    }
  }
}

template <class T> void multiply_blocked(const GemmKernels<T>& kernels, const Product<T>& product) {
  const int64_t m = product.m, n = product.n;
  int64_t block_rows = std::min(kBlockRows, ceil_div(m, kernels.tile_rows) * kernels.tile_rows);
  int64_t block_columns = std::min(kBlockColumns, ceil_div(n, kernels.tile_columns) * kernels.tile_columns);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(product.k);
  const int64_t wanted =
      std::min<int64_t>(thread_count() == 1 ? 1 : 4 * int64_t{thread_count()}, static_cast<int64_t>(work / kGrain));
  // Smaller blocks until there are some for every thread, halving the longer side.
  while (ceil_div(m, block_rows) * ceil_div(n, block_columns) < wanted) {
    const int64_t half_rows = ceil_div(ceil_div(block_rows, 2), kernels.tile_rows) * kernels.tile_rows;
    const int64_t half_columns = ceil_div(ceil_div(block_columns, 2), kernels.tile_columns) * kernels.tile_columns;
    const bool halve_columns = half_columns < block_columns && (block_columns >= block_rows || half_rows == block_rows);
    if (halve_columns)
      block_columns = half_columns;
    else if (half_rows < block_rows)
      block_rows = half_rows;
    else
      break;
  }
  const int64_t column_blocks = ceil_div(n, block_columns);
  const double block_work = work / static_cast<double>(ceil_div(m, block_rows) * column_blocks);
  const auto grain = static_cast<int64_t>(std::max(1.0, static_cast<double>(kGrain) / std::max(block_work, 1.0)));
  parallel_for(ceil_div(m, block_rows) * column_blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t row = block / column_blocks * block_rows, column = block % column_blocks * block_columns;
      multiply_block(kernels, product, row, std::min(block_rows, m - row), column, std::min(block_columns, n - column));
    }
  });
}

/// At most kThin rows times a b whose rows are contiguous: b streams once through rows of partial sums.
template <class T> void multiply_thin_rows(const GemmKernels<T>& kernels, const Product<T>& product) {
  const int64_t grain = std::max<int64_t>(16, kGrain / std::max<int64_t>(1, product.k * product.m));
  parallel_for(product.n, grain, [&](int64_t begin, int64_t end) {
    double* sums = scratch(static_cast<size_t>(kThin * kThinColumns));
    for (int64_t column = begin; column < end; column += kThinColumns) {
      const int64_t columns = std::min(kThinColumns, end - column);
      std::fill_n(sums, product.m * kThinColumns, 0.0);
      for (int64_t p = 0; p < product.k; ++p)
        for (int64_t i = 0; i < product.m; ++i)
          kernels.add_scaled(
              columns, static_cast<double>(product.a.data[i * product.a.row_stride + p * product.a.column_stride]),
              product.b.data + p * product.b.row_stride + column, sums + i * kThinColumns);
      for (int64_t i = 0; i < product.m; ++i)
        store_tile(product, sums + i * kThinColumns, kThinColumns, i, 1, column, columns);
    }
  });
}

/// At most kThin rows times a b whose columns are contiguous: dot products.
template <class T> void multiply_thin_dots(const GemmKernels<T>& kernels, const Product<T>& product) {
  std::unique_ptr<T[]> copy;  // rows of a that are not contiguous
  const T* rows = product.a.data;
  int64_t row_stride = product.a.row_stride;
  if (product.a.column_stride != 1) {
    copy = std::make_unique<T[]>(static_cast<size_t>(product.m * product.k));
    for (int64_t i = 0; i < product.m; ++i)
      for (int64_t p = 0; p < product.k; ++p)
        copy[static_cast<size_t>(i * product.k + p)] =
            product.a.data[i * product.a.row_stride + p * product.a.column_stride];
    rows = copy.get();
    row_stride = product.k;
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, product.k * product.m));
  parallel_for(product.n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t i = 0; i < product.m; ++i)
        product.dst[i * product.dst_row_stride + j * product.dst_column_stride] =
            static_cast<T>(kernels.dot(product.k, rows + i * row_stride, product.b.data + j * product.b.column_stride));
  });
}

template <class T> void multiply(Product<T> product) {
  if (product.m <= 0 || product.n <= 0) return;
  if (product.k <= 0) {
    for (int64_t i = 0; i < product.m; ++i) std::fill_n(product.dst + i * product.dst_row_stride, product.n, T{});
    return;
  }
  const GemmKernels<T>& kernels = gemm_kernels<T>().front();
  if (product.n < product.m && product.n <= kThin) product = product.transposed();
  if (product.m <= kThin && product.b.column_stride == 1 && product.n >= kernels.tile_columns)
    multiply_thin_rows(kernels, product);
  else if (product.m <= kThin && product.b.row_stride == 1)
    multiply_thin_dots(kernels, product);
  else
    multiply_blocked(kernels, product);
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* dst,
          int64_t dst_row_stride) {
  multiply<float>({m, n, k, a, b, dst, dst_row_stride, 1});
}
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b, double* dst,
          int64_t dst_row_stride) {
  multiply<double>({m, n, k, a, b, dst, dst_row_stride, 1});
}

}  // namespace attune
