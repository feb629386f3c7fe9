#include "io/npy_header.h"

#include <charconv>
#include <optional>

namespace attune {
namespace {

struct Descr {
  std::string_view code;  // without the byte order
  DType dtype;
};

// NumPy names no bf16 and no fp8: ml_dtypes arrays are saved as untyped bytes ('<V2'), except f8e5m2, which it calls
// '<f1' and NumPy alone cannot read back. We write untyped bytes for all of them.
constexpr Descr kDescrs[] = {
    {"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16},     {"f1", DType::f8e5m2}, {"i8", DType::i64},
    {"i4", DType::i32}, {"i2", DType::i16}, {"i1", DType::i8},      {"u8", DType::u64},    {"u4", DType::u32},
    {"u2", DType::u16}, {"u1", DType::u8},  {"b1", DType::boolean},
};

constexpr size_t kMaxRank = 64;  // as in NumPy

/// A cursor over the dict text.
class Literal {
 public:
  Literal(std::string_view text, std::string_view what) : rest_(text), what_(what) {}

  [[noreturn]] void fail(std::string_view problem) const {
    throw UserError("{} has a damaged .npy header: {}; write it again with numpy.save", what_, problem);
  }

  char peek() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_[0];
  }

  bool accept(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }

  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a quoted word");
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail("a quoted word does not end");
    const std::string_view word = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return word;
  }

  bool truth() {
    peek();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("'fortran_order' is neither True nor False");
  }

  int64_t integer() {
    peek();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a dimension does not fit into 64 bits");
    if (error != std::errc()) fail("'shape' is not a tuple of integers");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // written by Python 2
    if (value < 0) fail("a dimension is negative");
    return value;
  }

  Dims tuple() {
    Dims dims;
    expect('(');
    while (!accept(')')) {
      if (dims.size() == kMaxRank) fail("the shape has more than 64 dimensions");
      dims.push_back(integer());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return dims;
  }

 private:
  std::string_view rest_;
  std::string_view what_;
};

void set_element_type(std::string_view descr, std::string_view what, DType void_as, NpyHeader& header) {
  if (descr.find('O') != std::string_view::npos)
    throw UserError("{} holds Python objects (dtype '{}'), which are never unpickled; save a numeric array", what,
                    descr);
  std::string_view code = descr;
  const std::string_view orders = "<>|=";
  const char order = !code.empty() && orders.find(code[0]) != std::string_view::npos ? code[0] : '=';
  if (!code.empty() && code[0] == order) code.remove_prefix(1);
  header.byte_order = order == '>' ? ByteOrder::big : ByteOrder::little;
  for (const Descr& known : kDescrs)
    if (code == known.code) header.dtype = known.dtype;
  if (header.dtype != DType::undefined) return;
  if (!code.empty() && code[0] == 'V') {
    if (void_as != DType::undefined && code == fmt::format("V{}", bit_width(void_as) / 8) && !is_packed(void_as)) {
      header.dtype = void_as;
      return;
    }
    throw UserError(
        "{} holds untyped elements (dtype '{}'), as NumPy saves bfloat16, fp8 and structured arrays; save it as "
        "float32 with numpy.save(path, array.astype('float32'))",
        what, descr);
  }
  throw UserError("{} has the dtype '{}', which no tensor can have; convert it with array.astype('float32')", what,
                  descr);
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view what, DType void_as) {
  Literal literal(text, what);
  NpyHeader header;
  std::optional<std::string_view> descr;
  std::optional<bool> column_major;
  std::optional<Dims> dims;
  literal.expect('{');
  while (!literal.accept('}')) {
    const std::string_view key = literal.quoted();
    literal.expect(':');
    if (key == "descr") {
      if (literal.peek() == '[' || literal.peek() == '(')
        throw UserError("{} is a structured array; save each field as an array of its own", what);
      descr = literal.quoted();
    } else if (key == "fortran_order") {
      column_major = literal.truth();
    } else if (key == "shape") {
      dims = literal.tuple();
    } else {
      literal.fail(fmt::format("unknown key '{}'", key));
    }
    if (literal.accept(',')) continue;
    literal.expect('}');
    break;
  }
  if (literal.peek() != '\0') literal.fail("text after the closing brace");
  if (!descr || !column_major || !dims) literal.fail("one of 'descr', 'fortran_order' and 'shape' is missing");
  header.element_order = *column_major ? ElementOrder::column_major : ElementOrder::row_major;
  header.dims = std::move(*dims);
  set_element_type(*descr, what, void_as, header);
  return header;
}

std::string npy_header(DType dtype, const Dims& dims) {
  std::string descr = fmt::format("<V{}", bit_width(dtype) / 8);
  for (const Descr& known : kDescrs)
    if (known.dtype == dtype && dtype != DType::f8e5m2)
      descr = fmt::format("{}{}", bit_width(dtype) == 8 ? '|' : '<', known.code);
  std::string shape;
  for (const int64_t dim : dims) shape += fmt::format("{},{}", dim, dims.size() == 1 ? "" : " ");
  if (dims.size() > 1) shape.resize(shape.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr size_t kPrefix = 10, kAlignment = 64;  // the data then starts at a multiple of 64, so it can be mapped
  text.append(kAlignment - 1 - (kPrefix + text.size()) % kAlignment, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace attune
