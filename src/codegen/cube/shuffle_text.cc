#include "codegen/cube/shuffle_text.h"

#include <functional>

namespace attune::cube {
namespace {

/// Numbers of the lanes of two vectors, `lane(i)` for each place, as a list.
std::string lane_list(int lanes, const std::function<int(int)>& lane) {
  std::string list;
  for (int i = 0; i < lanes; ++i) list += fmt::format("{}{}", i ? ", " : "", lane(i));
  return list;
}

int64_t second_part(const ProductShape& shape) { return 2 * shape.columns - shape.shuffle->first_part; }

/// Pairs begin at multiples of a vector, so that the parts of a row meet in a vector at one lane alone, if in any.
int kept_lanes(const ProductShape& shape, int lanes) {
  return second_part(shape) == 0 ? 0 : static_cast<int>(shape.shuffle->first_part % lanes);
}

void write_place(Text& text, const ProductShape& shape, int lanes) {
  const int64_t first = shape.shuffle->first_part, second = second_part(shape);
  const int kept = kept_lanes(shape, lanes);
  text.open("template <int N, class V> INLINE void place(const Arguments& g, long row, long at, V x)");
  if (second == 0) {
    text.line("store<N>(g.dst + row * {} + at, x);", first);
    text.close();
    return;
  }
  if (kept > 0) {
    text.open("if constexpr (N > {})", kept);
    text.open("if (at == {})", first - kept);
    text.line("store<{}>(g.dst + row * {} + at, x);", kept, first);
    text.line("store<N - {0}>(g.rest + row * {1}, (V)__builtin_shufflevector(x, x, {2}));", kept, second,
              lane_list(lanes, [&](int i) { return (i + kept) % lanes; }));
    text.line("return;");
    text.close();
    text.close();
  }
  text.line("if (at < {0}) store<N>(g.dst + row * {0} + at, x);", first);
  text.line("else store<N>(g.rest + row * {} + at - {}, x);", second, first);
  text.close();
}

}  // namespace

void write_shuffle(Text& text, const ProductShape& shape, int lanes) {
  const bool narrow = shape.dst == DType::bf16;
  text.line("// A row of both maps in turn has {} places; {} of them are in the first output.", 2 * shape.columns,
            shape.shuffle->first_part);
  write_place(text, shape, lanes);
  text.open("template <int N> INLINE void place_both(const Arguments& g, long row, long at, long column, vf x)");
  text.line("const {} own = {}, other = {}<N>(g.beside + at);", narrow ? "vh" : "vf", narrow ? "narrow(x)" : "x",
            narrow ? "load_halves" : "load");
  const std::string_view pair = shape.shuffle->own == Turn::first ? "own, other" : "other, own";
  const auto half = [&](int from) {
    return fmt::format("__builtin_shufflevector({}, {})", pair,
                       lane_list(lanes, [&](int i) { return from + i / 2 + i % 2 * lanes; }));
  };
  text.line("place<2 * N < {0} ? 2 * N : {0}>(g, row, 2 * column, {1});", lanes, half(0));
  text.line("if constexpr (2 * N > {0}) place<2 * N - {0}>(g, row, 2 * column + {0}, {1});", lanes, half(lanes / 2));
  text.close();
  text.blank();
}

std::string shuffle_arguments(const ProductShape& shape) {
  const std::string_view type = element_name(shape.dst);
  return fmt::format(", (const {0}*)inputs[{1}], ({0}*)outputs[{2}]", type, shape.shuffle->input,
                     second_part(shape) == 0 ? 0 : 1);
}

}  // namespace attune::cube
