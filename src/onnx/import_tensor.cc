#include "onnx/import_tensor.h"

#include "base/memory.h"
#include "onnx/element_type.h"
#include "onnx/lift_raw_data.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <charconv>
#include <cstring>

namespace attune::onnx_io {
namespace {

using Bytes = std::span<const std::byte>;

int64_t parse_number(const std::string& text, const std::string& key, const std::string& what) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw UserError("{} has external data with {} '{}', expected a non-negative number", what, key, text);
  return number;
}

ExternalReference external_reference(const onnx::TensorProto& proto, const std::string& what) {
  ExternalReference reference;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location")
      reference.location = entry.value();
    else if (entry.key() == "offset")
      reference.offset = parse_number(entry.value(), "offset", what);
    else if (entry.key() == "length")
      reference.length = parse_number(entry.value(), "length", what);
  }
  return reference;
}

/// The lite runtime keeps fields it does not know as bytes; ours is among them.
std::optional<size_t> blob_index(const onnx::TensorProto& proto) {
  using google::protobuf::internal::WireFormatLite;
  const std::string& unknown = proto.unknown_fields();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(unknown.data()),
                                            static_cast<int>(unknown.size()));
  while (const uint32_t tag = in.ReadTag()) {
    uint64_t index = 0;
    if (WireFormatLite::GetTagFieldNumber(tag) == kBlobField && in.ReadVarint64(&index)) return index;
    if (!WireFormatLite::SkipField(&in, tag)) break;
  }
  return std::nullopt;
}

bool is_aligned(Bytes bytes, DType dtype) {
  const auto size = static_cast<uintptr_t>(std::max(1, bit_width(dtype) / 8));
  return reinterpret_cast<uintptr_t>(bytes.data()) % size == 0;
}

Tensor copy_bytes(DType dtype, Dims dims, Bytes bytes) {
  Tensor tensor = Tensor::allocate(dtype, std::move(dims));
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes(), bytes.data(), bytes.size());
  return tensor;
}

Tensor borrow_or_copy(DType dtype, Dims dims, Bytes bytes, std::shared_ptr<const void> owner, const FileMap* file) {
  if (!bytes.empty() && is_aligned(bytes, dtype))
    return Tensor::borrow(dtype, std::move(dims), bytes.data(), std::move(owner), file);
  constexpr size_t kSmallest = 64 << 10;  // below, a copy that stays costs less than its bookkeeping
  if (bytes.size() >= kSmallest) return Tensor::borrow_unaligned(dtype, std::move(dims), bytes, std::move(owner), file);
  return copy_bytes(dtype, std::move(dims), bytes);
}

void check_size(size_t actual, int64_t expected, const char* unit, const Dims& dims, const std::string& what) {
  if (static_cast<int64_t>(actual) != expected)
    throw UserError("{} of shape {} needs {} {} but holds {}", what, to_text(dims), expected, unit, actual);
}

template <class T, class Field> Tensor from_field(DType dtype, Dims dims, const Field& field, const std::string& what) {
  const int64_t expected = *checked_count(dims);
  check_size(static_cast<size_t>(field.size()), expected, "values", dims, what);
  Tensor tensor = Tensor::allocate(dtype, std::move(dims));
  auto* out = reinterpret_cast<T*>(tensor.mutable_bytes());
  for (int i = 0; i < field.size(); ++i) out[i] = static_cast<T>(field[i]);
  return tensor;
}

/// Values in the typed fields; int32_data also carries the 8- and 16-bit types and, packed, the narrower ones.
Tensor from_typed_fields(DType dtype, Dims dims, const onnx::TensorProto& proto, const std::string& what) {
  switch (dtype) {
    case DType::f32: return from_field<float>(dtype, std::move(dims), proto.float_data(), what);
    case DType::f64: return from_field<double>(dtype, std::move(dims), proto.double_data(), what);
    case DType::i64: return from_field<int64_t>(dtype, std::move(dims), proto.int64_data(), what);
    case DType::u64: return from_field<uint64_t>(dtype, std::move(dims), proto.uint64_data(), what);
    case DType::u32: return from_field<uint32_t>(dtype, std::move(dims), proto.uint64_data(), what);
    case DType::i32: return from_field<int32_t>(dtype, std::move(dims), proto.int32_data(), what);
    default: break;
  }
  if (bit_width(dtype) == 16) return from_field<uint16_t>(dtype, std::move(dims), proto.int32_data(), what);
  if (bit_width(dtype) == 8) return from_field<uint8_t>(dtype, std::move(dims), proto.int32_data(), what);
  const int64_t packed = *byte_size(dtype, *checked_count(dims));
  check_size(static_cast<size_t>(proto.int32_data_size()), packed, "packed bytes", dims, what);
  Tensor tensor = Tensor::allocate(dtype, std::move(dims));
  for (int i = 0; i < proto.int32_data_size(); ++i)
    tensor.mutable_bytes()[i] = static_cast<std::byte>(proto.int32_data(i));
  return tensor;
}

/// Bool storage must hold 0 or 1: any other byte read as bool is undefined behaviour.
Tensor normalized_bools(Tensor tensor) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.bytes());
  const bool clean = std::all_of(bytes, bytes + tensor.count(), [](uint8_t byte) { return byte <= 1; });
  if (clean) return tensor;
  Tensor result = tensor.clone();
  for (int64_t i = 0; i < result.count(); ++i) result.mutable_bytes()[i] = static_cast<std::byte>(bytes[i] != 0);
  return result;
}

}  // namespace

Tensor import_tensor(const onnx::TensorProto& proto, TensorSources& sources, const std::string& what) {
  const DType dtype = from_onnx_type(proto.data_type(), what);
  if (proto.has_segment()) throw UnsupportedError("{} is stored in segments, which attune does not read", what);
  Dims dims(proto.dims().begin(), proto.dims().end());
  const auto count = checked_count(dims);
  const auto bytes = count ? byte_size(dtype, *count) : std::nullopt;
  if (!bytes) throw UserError("{} has shape {}, whose size is negative or overflows", what, to_text(dims));

  Tensor tensor;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    std::shared_ptr<const FileMap> owner;
    const Bytes contents = sources.external.resolve(external_reference(proto, what), *bytes, what, &owner);
    const FileMap* file = owner.get();
    tensor = borrow_or_copy(dtype, std::move(dims), contents, std::move(owner), file);
  } else if (const auto index = blob_index(proto)) {
    const Bytes blob = sources.blobs.at(*index);
    check_size(blob.size(), *bytes, "bytes", dims, what);
    tensor = borrow_or_copy(dtype, std::move(dims), blob, sources.blob_owner, sources.blob_file);
  } else if (proto.has_raw_data()) {
    const Bytes raw = std::as_bytes(std::span(proto.raw_data()));
    check_size(raw.size(), *bytes, "bytes", dims, what);
    tensor = copy_bytes(dtype, std::move(dims), raw);
  } else {
    tensor = from_typed_fields(dtype, std::move(dims), proto, what);
  }
  return dtype == DType::boolean ? normalized_bools(std::move(tensor)) : tensor;
}

Tensor import_sparse_tensor(const onnx::SparseTensorProto& proto, TensorSources& sources, const std::string& what) {
  const Tensor values = import_tensor(proto.values(), sources, what + " (values)");
  const Tensor indices = import_tensor(proto.indices(), sources, what + " (indices)");
  const Dims dims(proto.dims().begin(), proto.dims().end());
  const auto dense_bytes = checked_count(dims) ? byte_size(values.dtype(), *checked_count(dims)) : std::nullopt;
  if (!dense_bytes) throw UserError("{} has shape {}, whose size is negative or overflows", what, to_text(dims));
  check_memory(*dense_bytes, [&] { return what + " of shape " + to_text(dims); });
  const auto rank = static_cast<int64_t>(dims.size());
  const bool linear = indices.rank() == 1;
  if (indices.dtype() != DType::i64 || values.rank() != 1 || indices.rank() < 1 || indices.rank() > 2 ||
      indices.dim(0) != values.dim(0) || (!linear && indices.dim(1) != rank))
    throw UserError("{} is a sparse tensor whose indices do not fit its values", what);
  if (is_packed(values.dtype()))
    throw UnsupportedError("{} is a sparse tensor of {}", what, dtype_name(values.dtype()));
  Tensor dense = Tensor::zeros(values.dtype(), dims);
  const Dims strides = row_major_strides(dims);
  const auto element = static_cast<size_t>(bit_width(values.dtype()) / 8);
  for (int64_t i = 0; i < values.count(); ++i) {
    int64_t position = linear ? indices.data<int64_t>()[i] : 0;
    bool inside = position >= 0 && position < dense.count();
    for (int64_t axis = 0; !linear && axis < rank && inside; ++axis) {
      const int64_t index = indices.data<int64_t>()[i * rank + axis];
      inside = index >= 0 && index < dims[static_cast<size_t>(axis)];
      if (inside) position += index * strides[static_cast<size_t>(axis)];
    }
    if (!inside) throw UserError("{} is a sparse tensor with an index outside of {}", what, to_text(dims));
    std::memcpy(dense.mutable_bytes() + static_cast<size_t>(position) * element,
                values.bytes() + static_cast<size_t>(i) * element, element);
  }
  return dense;
}

}  // namespace attune::onnx_io
