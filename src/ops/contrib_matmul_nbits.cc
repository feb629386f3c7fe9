// MatMulNBits: weights of 2, 4 or 8 bits in blocks with a scale each, expanded a few rows at a time.
#include "base/parallel.h"
#include "ops/contrib_transformer.h"
#include "ops/gemm.h"
#include "ops/widen.h"

namespace attune::contrib {
namespace {

enum Input { kA, kWeights, kScales, kZeroPoints, kGroups, kBias };

struct Blocks {
  int64_t n = 0, k = 0, bits = 4, size = 0;
  int64_t count() const { return (k + size - 1) / size; }                // in a row
  int64_t row_bytes() const { return count() * (size * bits / 8); }      // of weights
  int64_t zero_point_bytes() const { return (count() * bits + 7) / 8; }  // of packed zero points in a row
};

Blocks blocks_of(const OpContext& context) {
  const Blocks blocks{context.attr_int("N"), context.attr_int("K"), context.attr_int("bits", 4),
                      context.attr_int("block_size")};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (blocks.bits != 2 && blocks.bits != 4 && blocks.bits != 8) context.unsupported("weights of {} bits", blocks.bits);
  const bool power_of_two = blocks.size >= 16 && blocks.size < kMost && (blocks.size & (blocks.size - 1)) == 0;
  if (!power_of_two) context.fail("block_size is {}, expected a power of two from 16 on", blocks.size);
  if (blocks.n < 1 || blocks.k < 1 || blocks.n >= kMost || blocks.k >= kMost)
    context.fail("N is {} and K is {}", blocks.n, blocks.k);
  if (context.attr_int("weight_prepacked", 0) != 0) context.unsupported("prepacked weights");
  return blocks;
}

void expect_count(const KernelContext& context, int i, int64_t count, std::string_view what) {
  if (context.input(i).count() != count)
    context.fail("{} has {} elements, expected {}", what, context.input(i).count(), count);
}

/// One value of a row whose values are packed low bits first.
int64_t unpack(const uint8_t* row, int64_t index, int64_t bits) {
  const int64_t bit = index * bits;
  return (row[bit / 8] >> (bit % 8)) & ((1 << bits) - 1);
}

}  // namespace

void infer_matmul_nbits(InferContext& context) {
  const Blocks blocks = blocks_of(context);
  std::optional<Shape> shape = context.shape(kA);
  if (shape) {
    if (shape->empty()) context.fail("A is a scalar");
    attention::expect_equal(shape->back(), blocks.k, context, "K and the last dim of A");
    shape->back() = blocks.n;
  }
  context.set_output(0, context.dtype(kA), std::move(shape));
}

namespace {

template <class C> class NBitsRun {
 public:
  NBitsRun(KernelContext& context, const Blocks& blocks)
      : blocks_(blocks), scales_(widened<C>(context.input(kScales), context)), weights_(context.input(kWeights)) {
    if (weights_.dtype() != DType::u8) context.fail("weights are {}, expected u8", dtype_name(weights_.dtype()));
    expect_count(context, kWeights, blocks.n * blocks.row_bytes(), "B");
    expect_count(context, kScales, blocks.n * blocks.count(), "scales");
    if (context.has_input(kZeroPoints)) {
      zero_points_ = context.input(kZeroPoints);
      packed_zero_points_ = zero_points_.dtype() == DType::u8;
      expect_count(context, kZeroPoints, blocks.n * (packed_zero_points_ ? blocks.zero_point_bytes() : blocks.count()),
                   "zero_points");
      if (!packed_zero_points_) zero_points_ = widened<C>(zero_points_, context);
    }
    if (context.has_input(kGroups)) {
      groups_ = context.ints(kGroups);
      if (groups_.size() < static_cast<size_t>(blocks.k)) context.fail("g_idx has {} elements", groups_.size());
      for (const int64_t group : groups_)
        if (group < 0 || group >= blocks.count())
          context.fail("g_idx holds {}, beyond {} blocks", group, blocks.count());
    }
  }

  /// Row `n` of the weights as numbers.
  void expand(int64_t n, C* dst) const {
    const uint8_t* row = weights_.data<uint8_t>() + n * blocks_.row_bytes();
    const C* scales = scales_.template data<C>() + n * blocks_.count();
    for (int64_t k = 0; k < blocks_.k; ++k) {
      const int64_t block = groups_.empty() ? k / blocks_.size : groups_[static_cast<size_t>(k)];
      dst[k] = (static_cast<C>(unpack(row, k, blocks_.bits)) - zero_point(n, block)) * scales[block];
    }
  }

 private:
  C zero_point(int64_t n, int64_t block) const {
    if (zero_points_.empty()) return static_cast<C>(int64_t{1} << (blocks_.bits - 1));
    if (!packed_zero_points_) return zero_points_.template data<C>()[n * blocks_.count() + block];
    return static_cast<C>(unpack(zero_points_.data<uint8_t>() + n * blocks_.zero_point_bytes(), block, blocks_.bits));
  }

  Blocks blocks_;
  Tensor scales_, weights_, zero_points_;
  bool packed_zero_points_ = false;
  std::vector<int64_t> groups_;
};

}  // namespace

void run_matmul_nbits(KernelContext& context) {
  const Blocks blocks = blocks_of(context);
  Tensor& dst = context.output(0);
  dispatch_compute(dst.dtype(), context, [&]<class C>() {
    const NBitsRun<C> weights(context, blocks);
    const Tensor a = widened<C>(context.input(kA), context);
    const int64_t rows = a.count() / blocks.k;
    Tensor bias;
    if (context.has_input(kBias)) {
      expect_count(context, kBias, blocks.n, "bias");
      bias = widened<C>(context.input(kBias), context);
    }
    RoundedOutput<C> place(dst);
    C* out = place.data();
    constexpr int64_t kTile = 32;  // output features expanded at a time
    parallel_for((blocks.n + kTile - 1) / kTile, 1, [&](int64_t first, int64_t last) {
      std::vector<C> tile(static_cast<size_t>(kTile * blocks.k));
      for (int64_t begin = first * kTile; begin < std::min(last * kTile, blocks.n); begin += kTile) {
        const int64_t width = std::min(kTile, blocks.n - begin);
        for (int64_t j = 0; j < width; ++j) weights.expand(begin + j, tile.data() + j * blocks.k);
        gemm(rows, width, blocks.k, MatrixView<C>{a.data<C>(), blocks.k, 1}, MatrixView<C>{tile.data(), 1, blocks.k},
             out + begin, blocks.n);
      }
    });
    if (!bias.empty())
      for (int64_t i = 0; i < rows * blocks.n; ++i) out[i] += bias.data<C>()[i % blocks.n];
    place.store();
  });
}

double matmul_nbits_flops(const CostContext& context) {
  return 2 * context.output_elements(0) * static_cast<double>(context.attr_int("K", 0));
}

}  // namespace attune::contrib
