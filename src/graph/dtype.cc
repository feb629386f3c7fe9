#include "graph/dtype.h"

#include "base/checked.h"

#include <array>

namespace attune {
namespace {

enum class Kind : uint8_t { none, floating, integer, truth };

struct Traits {
  DType dtype;
  std::string_view name;
  int bits;
  Kind kind;
  bool is_signed;
};

constexpr std::array<Traits, 24> kTraits{{
    {DType::undefined, "undefined", 0, Kind::none, false},
    {DType::f64, "f64", 64, Kind::floating, true},
    {DType::f32, "f32", 32, Kind::floating, true},
    {DType::f16, "f16", 16, Kind::floating, true},
    {DType::bf16, "bf16", 16, Kind::floating, true},
    {DType::f8e4m3fn, "f8e4m3fn", 8, Kind::floating, true},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", 8, Kind::floating, true},
    {DType::f8e5m2, "f8e5m2", 8, Kind::floating, true},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", 8, Kind::floating, true},
    {DType::f8e8m0, "f8e8m0", 8, Kind::floating, false},
    {DType::f4e2m1, "f4e2m1", 4, Kind::floating, true},
    {DType::i64, "i64", 64, Kind::integer, true},
    {DType::i32, "i32", 32, Kind::integer, true},
    {DType::i16, "i16", 16, Kind::integer, true},
    {DType::i8, "i8", 8, Kind::integer, true},
    {DType::i4, "i4", 4, Kind::integer, true},
    {DType::i2, "i2", 2, Kind::integer, true},
    {DType::u64, "u64", 64, Kind::integer, false},
    {DType::u32, "u32", 32, Kind::integer, false},
    {DType::u16, "u16", 16, Kind::integer, false},
    {DType::u8, "u8", 8, Kind::integer, false},
    {DType::u4, "u4", 4, Kind::integer, false},
    {DType::u2, "u2", 2, Kind::integer, false},
    {DType::boolean, "bool", 8, Kind::truth, false},
}};

constexpr bool in_enum_order() {
  for (size_t i = 0; i < kTraits.size(); ++i)
    if (static_cast<size_t>(kTraits[i].dtype) != i) return false;
  return true;
}
static_assert(in_enum_order());

const Traits& traits(DType dtype) { return kTraits[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view dtype_name(DType dtype) { return traits(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Traits& t : kTraits)
    if (t.name == name && t.dtype != DType::undefined) return t.dtype;
  return std::nullopt;
}

int bit_width(DType dtype) { return traits(dtype).bits; }
bool is_float(DType dtype) { return traits(dtype).kind == Kind::floating; }
bool is_integer(DType dtype) { return traits(dtype).kind == Kind::integer; }
bool is_signed(DType dtype) { return traits(dtype).is_signed; }

std::optional<int64_t> byte_size(DType dtype, int64_t count) {
  const auto bits = checked_mul(count, bit_width(dtype));
  if (!bits) return std::nullopt;
  return *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
}

}  // namespace attune
