// Softmax over rows: passes over the data, accumulators, rows at once, block of columns, the exponential's polynomial.
#include "family.h"

#include <algorithm>
#include <cstring>

namespace attune::bench {
namespace {

using Vec = float __attribute__((vector_size(64), aligned(4), may_alias));
using IntVec = int __attribute__((vector_size(64), may_alias));
constexpr int64_t kLanes = 16;

Vec load(const float* from) { return *reinterpret_cast<const Vec*>(from); }
void store(float* to, Vec value) { *reinterpret_cast<Vec*>(to) = value; }
Vec larger(Vec a, Vec b) { return a > b ? a : b; }

template <class Fold> float fold_lanes(Vec value, const Fold& fold) {
  float result = value[0];
  for (int i = 1; i < kLanes; ++i) result = fold(result, value[i]);
  return result;
}

/// exp by 2^n times a polynomial of the rest.
template <int Degree> Vec exponential(Vec x) {
  constexpr float coefficients[] = {1.0f, 1.0f, 0.5f, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  x = larger(x, -80.0f - Vec{});
  const Vec scaled = x * 1.44269504f;
  const IntVec whole = __builtin_convertvector(scaled + (scaled < 0 ? -0.5f - Vec{} : 0.5f - Vec{}), IntVec);
  const Vec rest = x - __builtin_convertvector(whole, Vec) * 0.69314718f;
  Vec result = coefficients[Degree] - Vec{};
  for (int i = Degree - 1; i >= 0; --i) result = result * rest + coefficients[i];
  const IntVec power = (whole + 127) << 23;
  Vec factor;
  std::memcpy(&factor, &power, sizeof(factor));
  return result * factor;
}

struct Shape {
  int64_t columns, block;
};

template <int Sums> float max_of(const float* row, int64_t count) {
  Vec best[Sums];
  for (auto& b : best) b = -3e38f - Vec{};
  for (int64_t x = 0; x < count; x += kLanes * Sums)
    for (int s = 0; s < Sums; ++s) best[s] = larger(best[s], load(row + x + s * kLanes));
  for (int s = 1; s < Sums; ++s) best[0] = larger(best[0], best[s]);
  return fold_lanes(best[0], [](float a, float b) { return std::max(a, b); });
}

/// Sum of exponentials; writes them too when `out` is there.
template <int Sums, int Degree> float sum_of(const float* row, float* out, int64_t count, float highest) {
  Vec sum[Sums] = {};
  for (int64_t x = 0; x < count; x += kLanes * Sums)
    for (int s = 0; s < Sums; ++s) {
      const Vec value = exponential<Degree>(load(row + x + s * kLanes) - highest);
      if (out != nullptr) store(out + x + s * kLanes, value);
      sum[s] += value;
    }
  for (int s = 1; s < Sums; ++s) sum[0] += sum[s];
  return fold_lanes(sum[0], [](float a, float b) { return a + b; });
}

template <int Sums, int Degree>
void softmax_row(const float* row, float* out, const Shape& shape, const std::string& passes, bool divide) {
  float highest = 0, sum = 0;
  if (passes == "online") {  // maximum and sum in one pass over blocks
    highest = -3e38f;
    for (int64_t x = 0; x < shape.columns; x += shape.block) {
      const float block_highest = std::max(highest, max_of<Sums>(row + x, shape.block));
      sum = sum * exponential<Degree>(highest - block_highest - Vec{})[0] +
            sum_of<Sums, Degree>(row + x, nullptr, shape.block, block_highest);
      highest = block_highest;
    }
  } else {
    highest = max_of<Sums>(row, shape.columns);
    sum = sum_of<Sums, Degree>(row, passes == "keep" ? out : nullptr, shape.columns, highest);
  }
  const float scale = 1 / sum;
  for (int64_t x = 0; x < shape.columns; x += kLanes) {
    const Vec value = passes == "keep" ? load(out + x) : exponential<Degree>(load(row + x) - highest);
    store(out + x, divide ? value / sum : value * scale);
  }
}

struct Softmax {
  int64_t rows, columns;
  std::vector<float> in, out;

  void run(const Config& config) {
    const int64_t sums = number(config, "sums"), degree = number(config, "degree");
    const auto pick = [&]<int Sums>() {
      return degree == 5 ? softmax_row<Sums, 5> : degree == 6 ? softmax_row<Sums, 6> : softmax_row<Sums, 7>;
    };
    const auto row_function = sums == 1   ? pick.operator()<1>()
                              : sums == 2 ? pick.operator()<2>()
                              : sums == 4 ? pick.operator()<4>()
                                          : pick.operator()<8>();
    const std::string& passes = config.at("passes");
    const Shape shape{columns, passes == "online" ? number(config, "block") : columns};
    const int64_t ahead = number(config, "prefetch");
    const bool divide = number(config, "divide") != 0;
    for (int64_t y = 0; y < rows; ++y) {
      if (ahead > 0)
        for (int64_t x = 0; x < columns; x += 16 * ahead) __builtin_prefetch(in.data() + (y + 1) * columns + x);
      row_function(in.data() + y * columns, out.data() + y * columns, shape, passes, divide);
    }
  }
};

Problem make_problem(const std::string& name, int64_t rows, int64_t columns) {
  const auto count = static_cast<size_t>(rows * columns);
  auto softmax = std::make_shared<Softmax>(
      Softmax{rows, columns, random_floats(count + static_cast<size_t>(columns), 4), std::vector<float>(count)});
  Space space;
  const Param sums = space.power_of_two("sums", 1, 8);
  space.ordinal("degree", {5, 6, 7});
  const Param passes = space.categorical("passes", {"recompute", "keep", "online"});
  const Param block = space.power_of_two("block", 128, 2048);
  space.boolean("divide");
  space.ordinal("prefetch", {0, 1, 2, 4, 8});
  space.only_if(block, passes == "online");
  space.require(block <= columns && block % (sums * kLanes) == 0, "accumulators fill blocks");
  space.set_default({{"sums", "1"}, {"degree", "7"}, {"passes", "recompute"}, {"divide", "1"}, {"prefetch", "0"}});
  space.build();
  return {name, fmt::format("softmax of {} rows of {} floats, one thread", rows, columns), std::move(space),
          [softmax](const Config& config) { softmax->run(config); },
          [softmax]() -> std::vector<float>& { return softmax->out; }};
}

}  // namespace

std::vector<Problem> softmax_problems() {
  return {make_problem("softmax_128x1024", 128, 1024), make_problem("softmax_32x8192", 32, 8192)};
}

}  // namespace attune::bench
