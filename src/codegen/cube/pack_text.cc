#include "codegen/cube/pack_text.h"

#include "codegen/cube/task_grid.h"

namespace attune::cube {
namespace {

/// The network of a square transposition: step s swaps, between rows i and i + s, the blocks of s lanes off the
/// diagonal.
void write_turn(Text& text, int lanes) {
  text.line("typedef int vt __attribute__((vector_size({})));", lanes * 4);
  text.line("typedef int vt_at __attribute__((vector_size({}), aligned(4), may_alias));", lanes * 4);
  text.line("// `r` holds rows; it becomes columns.");
  text.open("INLINE void turn(vt (&r)[{}])", lanes);
  char from = 'a';
  for (int i = 0; i < lanes; ++i) text.line("const vt a{0} = r[{0}];", i);
  for (int step = 1; step < lanes; step *= 2, ++from)
    for (int i = 0; i < lanes; ++i) {
      const int low = i & ~step, high = i | step;
      std::string order;
      for (int k = 0; k < lanes; ++k) {
        const bool own = ((k & step) != 0) == (i == high);
        const int lane = own ? k : (k ^ step);
        order += fmt::format(", {}", (k & step) != 0 ? lane + lanes : lane);
      }
      text.line("const vt {0}{1} = __builtin_shufflevector({2}{3}, {2}{4}{5});", static_cast<char>(from + 1), i, from,
                low, high, order);
    }
  for (int i = 0; i < lanes; ++i) text.line("r[{0}] = {1}{0};", i, from);
  text.close();
}

class Writer {
 public:
  Writer(Text& text, const ProductShape& shape, const PackingOptions& options)
      : text_(text), shape_(shape), open_(shape.open.value()), options_(options) {}

  void write() {
    const bool turned = open_.row_stride == 1 && open_.column_stride != 1;
    if (turned && pairs()) text_.line("typedef short v32s __attribute__((vector_size(64)));");
    if (turned) write_turn(text_, options_.lanes);
    text_.line("template <int columns>");
    text_.open("static void pack_columns(const {}* from, float* to, long width, long block)", element_name(shape_.src));
    if (turned)
      write_by_columns();
    else
      write_by_rows();
    write_zeros();
    text_.close();
    text_.blank();
  }

 private:
  bool pairs() const { return shape_.src == DType::bf16; }
  int64_t steps() const { return packed_steps(shape_); }

  /// Weights whose columns lie side by side: a vector is a load. Others at any distance: element by element.
  void write_by_rows() {
    const int lanes = options_.lanes;
    text_.open("for (long s = 0; s < {}; ++s)", steps());
    text_.line("float* at = to + s / {0} * block + s % {0} * width;", lanes);
    const bool side_by_side = open_.column_stride == 1;
    const std::string k = pairs() ? "2 * s" : "s";
    const auto row = [&](const std::string& index) { return fmt::format("from + ({}) * {}", index, open_.row_stride); };
    if (!pairs() && side_by_side) {
      text_.line("store<{}>(at, load<columns>({}));", lanes, row(k));
    } else if (side_by_side) {
      text_.line("const vu low = (vu)load<columns>({}) >> 16;", row(k));
      text_.line("vu high = {{}};");
      text_.line("{}high = (vu)load<columns>({});", odd_guard(), row(k + " + 1"));
      text_.line("*(vf*)at = (vf)(low | high);");
    } else {
      text_.open("for (int n = 0; n < {}; ++n)", lanes);
      text_.line("const {}* one = {} + n * {};", element_name(shape_.src), row(k), open_.column_stride);
      if (pairs()) {
        text_.line("unsigned both = n < columns ? one[0] : 0;");
        text_.line("if (n < columns{}) both |= (unsigned)one[{}] << 16;",
                   shape_.depth % 2 ? fmt::format(" && s < {}", shape_.depth / 2) : "", open_.row_stride);
        text_.line("at[n] = __builtin_bit_cast(float, both);");
      } else {
        text_.line("at[n] = n < columns ? *one : 0.f;");
      }
      text_.close();
    }
    text_.close();
  }
  /// The partner of an odd depth's last element is zero.
  std::string odd_guard() const { return shape_.depth % 2 ? fmt::format("if (s < {}) ", shape_.depth / 2) : ""; }

  /// Weights whose rows lie side by side: squares are turned.
  void write_by_columns() {
    const int lanes = options_.lanes;
    const int64_t step_elements = pairs() ? 2 : 1, whole = shape_.depth / step_elements / lanes;
    const int64_t rest = shape_.depth - whole * lanes * step_elements;
    const auto square = [&](int64_t elements) {
      text_.line("vt r[{}] = {{}};", lanes);
      text_.line("_Pragma(\"clang loop unroll(full)\")");
      text_.open("for (int n = 0; n < columns; ++n)");
      text_.line("const {}* at = from + n * {} + s * {};", element_name(shape_.src), open_.column_stride,
                 step_elements);
      if (!pairs())
        text_.line("r[n] = (vt)load<{}>(at);", elements);
      else
        text_.line("r[n] = (vt)__builtin_ia32_loaddquhi512_mask((const v32s*)at, (v32s){{}}, {:#x}u);",
                   static_cast<uint32_t>((uint64_t{1} << elements) - 1));
      text_.close();
      text_.line("turn(r);");
      text_.line("float* out = to + s / {} * block;", lanes);
      text_.line("_Pragma(\"clang loop unroll(full)\")");
      text_.line("for (int i = 0; i < {}; ++i) *(vt_at*)(out + i * width) = r[i];", divide_up(elements, step_elements));
    };
    if (whole > 0) {
      text_.open("for (long s = 0; s < {}; s += {})", whole * lanes, lanes);
      square(lanes * step_elements);
      text_.close();
    }
    if (rest > 0) {
      text_.open("");
      text_.line("const long s = {};", whole * lanes);
      square(rest);
      text_.close();
    }
  }

  void write_zeros() {
    const int64_t lanes = options_.lanes, filled = divide_up(steps(), lanes) * lanes;
    if (!options_.whole_blocks || filled == steps()) return;
    text_.line("for (long s = {0}; s < {1}; ++s) *(vf*)(to + s / {2} * block + s % {2} * width) = (vf){{}};", steps(),
               filled, lanes);
  }

  Text& text_;
  const ProductShape& shape_;
  const OpenWeights& open_;
  const PackingOptions& options_;
};

}  // namespace

int64_t packed_steps(const ProductShape& shape) {
  return shape.src == DType::bf16 ? divide_up(shape.depth, 2) : shape.depth;
}

std::string batch_offset(const ProductShape& shape, int64_t BatchAxis::*stride) {
  std::string out;
  int64_t inside = 1;
  for (size_t i = shape.batch.size(); i-- > 0;) {
    const BatchAxis& axis = shape.batch[i];
    if (axis.*stride != 0)
      out += fmt::format("{}group / {} % {} * {}", out.empty() ? "" : " + ", inside, axis.count, axis.*stride);
    inside *= axis.count;
  }
  return out.empty() ? "0" : out;
}

void write_packing(Text& text, const ProductShape& shape, const PackingOptions& options) {
  Writer(text, shape, options).write();
}

}  // namespace attune::cube
