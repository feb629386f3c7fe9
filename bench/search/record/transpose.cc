// Transpose of a matrix: two levels of blocks, their order, the shape that is moved at once, prefetch.
#include "family.h"

namespace attune::bench {
namespace {

struct Transpose {
  int64_t height, width;
  std::vector<float> in, out;

  /// Reads rows of RX numbers, writes columns of RY: short trip counts that the compiler turns into shuffles.
  template <int RY, int RX> void move(int64_t y, int64_t x) {
    float kept[RY][RX];
    for (int i = 0; i < RY; ++i)
      for (int j = 0; j < RX; ++j) kept[i][j] = in[static_cast<size_t>((y + i) * width + x + j)];
    for (int j = 0; j < RX; ++j)
      for (int i = 0; i < RY; ++i) out[static_cast<size_t>((x + j) * height + y + i)] = kept[i][j];
  }

  template <int RY, int RX> void run_with(const Config& config) {
    const int64_t by = number(config, "by"), bx = number(config, "bx"), ahead = number(config, "prefetch");
    const bool outer_y = config.at("outer") == "y", inner_y = config.at("inner") == "y";
    const int64_t outer = outer_y ? height : width, inner = outer_y ? width : height;
    const int64_t outer_step = outer_y ? by : bx, inner_step = outer_y ? bx : by;
    for (int64_t i = 0; i < outer; i += outer_step)
      for (int64_t j = 0; j < inner; j += inner_step) {
        const int64_t y0 = outer_y ? i : j, x0 = outer_y ? j : i;
        if (ahead > 0)
          for (int64_t y = y0; y < y0 + by; ++y)
            __builtin_prefetch(in.data() + (y * width + x0 + ahead * bx) % (height * width));
        if (inner_y) {
          for (int64_t y = y0; y < y0 + by; y += RY)
            for (int64_t x = x0; x < x0 + bx; x += RX) move<RY, RX>(y, x);
        } else {
          for (int64_t x = x0; x < x0 + bx; x += RX)
            for (int64_t y = y0; y < y0 + by; y += RY) move<RY, RX>(y, x);
        }
      }
  }

  void run(const Config& config) {
    const int64_t ry = number(config, "ry"), rx = number(config, "rx");
    const auto call = [&]<int RY>() {
      if (rx == 1) return run_with<RY, 1>(config);
      if (rx == 4) return run_with<RY, 4>(config);
      if (rx == 8) return run_with<RY, 8>(config);
      run_with<RY, 16>(config);
    };
    if (ry == 1) return call.operator()<1>();
    if (ry == 4) return call.operator()<4>();
    if (ry == 8) return call.operator()<8>();
    call.operator()<16>();
  }
};

Problem make_problem(const std::string& name, int64_t height, int64_t width) {
  const auto count = static_cast<size_t>(height * width);
  auto transpose =
      std::make_shared<Transpose>(Transpose{height, width, random_floats(count, 5), std::vector<float>(count)});
  Space space;
  const Param by = space.power_of_two("by", 8, 128), bx = space.power_of_two("bx", 8, 256);
  const Param ry = space.ordinal("ry", {1, 4, 8, 16}), rx = space.ordinal("rx", {1, 4, 8, 16});
  space.categorical("outer", {"y", "x"});
  space.categorical("inner", {"y", "x"});
  space.ordinal("prefetch", {0, 1});
  space.require(by % ry == 0 && bx % rx == 0, "what moves at once fills blocks");
  space.require(height % by == 0 && width % bx == 0 && by * bx >= 256, "blocks fill the matrix");
  space.set_default(
      {{"by", "32"}, {"bx", "32"}, {"ry", "1"}, {"rx", "1"}, {"outer", "y"}, {"inner", "y"}, {"prefetch", "0"}});
  space.build();
  return {name, fmt::format("transpose of {}x{} floats, one thread", height, width), std::move(space),
          [transpose](const Config& config) { transpose->run(config); },
          [transpose]() -> std::vector<float>& { return transpose->out; }};
}

}  // namespace

std::vector<Problem> transpose_problems() {
  return {make_problem("transpose_512x768", 512, 768), make_problem("transpose_1024x256", 1024, 256)};
}

}  // namespace attune::bench
