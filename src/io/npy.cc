#include "io/npy.h"

#include "base/atomic_file.h"
#include "io/npy_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace attune {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written in the machine's byte order");

constexpr size_t kMaxHeaderBytes = size_t{1} << 20;

template <class Word> Word swapped(Word value) {
  Word result = 0;
  for (size_t i = 0; i < sizeof(Word); ++i)
    result = static_cast<Word>(result | (((value >> (8 * i)) & 0xFF) << (8 * (sizeof(Word) - 1 - i))));
  return result;
}

// Through memcpy: the elements are floats as often as integers.
template <class Word> Word load(const std::byte* bytes, int64_t index) {
  Word word;
  std::memcpy(&word, bytes + index * static_cast<int64_t>(sizeof word), sizeof word);
  return word;
}

template <class Word> void store(std::byte* bytes, int64_t index, Word word) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof word), &word, sizeof word);
}

template <class Word> void swap_bytes(std::byte* bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) store(bytes, i, swapped(load<Word>(bytes, i)));
}

/// Copies a column-major array into a row-major one of the same dims.
template <class Word> void to_row_major(const Dims& dims, int64_t count, const std::byte* src, std::byte* dst) {
  Dims strides(dims.size(), 1), index(dims.size(), 0);
  for (size_t axis = 1; axis < dims.size(); ++axis) strides[axis] = strides[axis - 1] * dims[axis - 1];
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    store(dst, i, load<Word>(src, offset));
    for (size_t axis = dims.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

/// Calls visit with a zero of the unsigned type as wide as the elements.
template <class Visit> void with_word(DType dtype, const Visit& visit) {
  switch (bit_width(dtype)) {
    case 8: return visit(uint8_t{0});
    case 16: return visit(uint16_t{0});
    case 32: return visit(uint32_t{0});
    default: return visit(uint64_t{0});
  }
}

NpyHeader read_header(ByteSource& source, std::string_view what, DType void_as, int64_t* header_bytes) {
  const auto truncated = [&]() -> UserError { return UserError("{} is truncated; write it again", what); };
  std::array<uint8_t, 12> prefix{};
  const auto prefix_bytes = std::as_writable_bytes(std::span(prefix));
  if (source.size_bytes() < 10) throw UserError("{} is no .npy file: it is too short; write it with numpy.save", what);
  source.read(prefix_bytes.first(10));
  if (std::memcmp(prefix.data(), "\x93NUMPY", 6) != 0)
    throw UserError("{} is no .npy file: its first bytes are wrong; write it with numpy.save", what);
  const int version = prefix[6];
  if (version < 1 || version > 3)
    throw UserError("{} has version {} of the .npy format; versions 1 to 3 are known", what, version);
  size_t length = prefix[8] | static_cast<size_t>(prefix[9]) << 8;
  size_t prefix_length = 10;
  if (version >= 2) {
    if (source.size_bytes() < 12) throw truncated();
    source.read(prefix_bytes.subspan(10));
    length |= static_cast<size_t>(prefix[10]) << 16 | static_cast<size_t>(prefix[11]) << 24;
    prefix_length = 12;
  }
  if (length > kMaxHeaderBytes)
    throw UserError("{} has a header of {} bytes; no array of numbers needs that", what, length);
  if (source.size_bytes() < static_cast<int64_t>(prefix_length + length)) throw truncated();
  std::string text(length, '\0');
  source.read(std::as_writable_bytes(std::span(text)));
  *header_bytes = static_cast<int64_t>(prefix_length + length);
  return parse_npy_header(text, what, void_as);
}

/// Checks that the source holds exactly what the header declares, so that nothing is allocated for a lie.
void check_size(const NpyHeader& header, int64_t present_bytes, std::string_view what) {
  const auto count = checked_count(header.dims);
  const auto bytes = count ? byte_size(header.dtype, *count) : std::nullopt;
  if (!bytes) throw UserError("{} declares {} elements, which overflows; write it again", what, to_text(header.dims));
  if (*bytes == present_bytes) return;
  throw UserError("{} declares {} {} ({} bytes) but holds {} bytes of data; it is {}, write it again", what,
                  dtype_name(header.dtype), to_text(header.dims), *bytes, present_bytes,
                  present_bytes < *bytes ? "truncated" : "damaged or holds more than one array");
}

/// Packed elements widened to one byte each: numbers as int8 or uint8, 4-bit floats as their bits.
Tensor unpacked(const Tensor& tensor) {
  const int bits = bit_width(tensor.dtype());
  const bool extend_sign = is_integer(tensor.dtype()) && is_signed(tensor.dtype());
  Tensor wide = Tensor::allocate(extend_sign ? DType::i8 : DType::u8, tensor.dims());
  const auto* src = reinterpret_cast<const uint8_t*>(tensor.bytes());
  auto* dst = reinterpret_cast<uint8_t*>(wide.mutable_bytes());
  const int per_byte = 8 / bits;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const int value = src[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
    const int sign = extend_sign && (value >> (bits - 1)) != 0 ? 1 << bits : 0;
    dst[i] = static_cast<uint8_t>(value - sign);
  }
  return wide;
}

}  // namespace

Tensor read_npy(ByteSource& source, std::string_view what, NpyOptions options) {
  int64_t header_bytes = 0;
  const NpyHeader header = read_header(source, what, options.void_as, &header_bytes);
  check_size(header, source.size_bytes() - header_bytes, what);
  if (options.accept) options.accept(options.name, header.dtype, header.dims);
  Tensor tensor = Tensor::allocate(header.dtype, header.dims);
  const auto storage = std::span(tensor.mutable_bytes(), static_cast<size_t>(tensor.size_bytes()));
  source.read(storage);
  if (header.dtype == DType::boolean)  // any other byte in a bool is undefined behaviour
    for (std::byte& byte : storage) byte = std::byte{byte != std::byte{0}};
  with_word(header.dtype, [&](auto zero) {
    using Word = decltype(zero);
    if (header.byte_order == ByteOrder::big) swap_bytes<Word>(tensor.mutable_bytes(), tensor.count());
    if (header.element_order == ElementOrder::row_major || header.dims.size() < 2) return;
    Tensor row_major = Tensor::allocate(header.dtype, header.dims);
    to_row_major<Word>(header.dims, tensor.count(), tensor.bytes(), row_major.mutable_bytes());
    tensor = std::move(row_major);
  });
  return tensor;
}

Tensor read_npy(const std::filesystem::path& path, NpyOptions options) {
  const InputFile file(path);
  FileSource source(file);
  return read_npy(source, fmt::format("'{}'", file.name()), options);
}

Tensor parse_npy(std::span<const std::byte> bytes, std::string_view what, NpyOptions options) {
  MemorySource source(bytes, what);
  return read_npy(source, what, options);
}

void emit_npy(const Tensor& tensor, const std::function<void(std::span<const std::byte>)>& emit) {
  if (tensor.dtype() == DType::undefined) throw InternalError("writing a tensor without a dtype");
  const Tensor wide = is_packed(tensor.dtype()) ? unpacked(tensor) : tensor;
  // A 4-bit float has no NumPy type of any width: one untyped byte each, as its ml_dtypes array is saved.
  const DType written = tensor.dtype() == DType::f4e2m1 ? DType::f8e4m3fn : wide.dtype();
  const std::string header = npy_header(written, wide.dims());
  emit(std::as_bytes(std::span(header)));
  emit(std::span(wide.bytes(), static_cast<size_t>(wide.size_bytes())));
}

std::vector<std::byte> to_npy(const Tensor& tensor) {
  std::vector<std::byte> bytes;
  emit_npy(tensor, [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  AtomicFile file(path);
  emit_npy(tensor, [&](std::span<const std::byte> piece) { file.append(piece); });
  file.commit();
}

}  // namespace attune
