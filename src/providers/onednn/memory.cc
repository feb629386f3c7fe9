#include "providers/onednn/memory.h"

namespace attune::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

void check_rank(const Dims& dims) {
  if (dims.size() > DNNL_MAX_NDIMS)
    throw UnsupportedError("rank {} is more than the {} that oneDNN takes", dims.size(), DNNL_MAX_NDIMS);
}

Desc channels_last(DType dtype, const Dims& dims) {
  Dims strides(dims.size(), 1);
  int64_t next = dims.at(1);
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = next;
    next *= dims[i];
  }
  strides[0] = next;
  return {dims, data_type(dtype), strides};
}

Desc blocked(DType dtype, const Dims& dims, Layout layout) {
  constexpr Tag kTags[2][3] = {{Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b}, {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b}};
  if (dims.size() < 3 || dims.size() > 5)
    throw UnsupportedError("layout {} of rank {} is not one of oneDNN's", layout_name(layout), dims.size());
  return {dims, data_type(dtype), kTags[layout == Layout::nchw16c ? 1 : 0][dims.size() - 3]};
}

}  // namespace

dnnl::memory::data_type data_type(DType dtype) {
  using Type = dnnl::memory::data_type;
  switch (dtype) {
    case DType::f32: return Type::f32;
    case DType::bf16: return Type::bf16;
    case DType::f16: return Type::f16;
    case DType::i32: return Type::s32;
    case DType::i8: return Type::s8;
    case DType::u8: return Type::u8;
    default: throw UnsupportedError("oneDNN has no element type {}", dtype_name(dtype));
  }
}

Desc describe_plain(DType dtype, const Dims& dims) {
  check_rank(dims);
  if (dims.empty()) return {{1}, data_type(dtype), Dims{1}};
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return {dims, data_type(dtype), strides};
}

Desc describe_any(DType dtype, const Dims& dims) {
  check_rank(dims);
  return {dims, data_type(dtype), Tag::any};
}

Desc describe(const TensorSpec& spec) {
  check_rank(spec.dims);
  if (spec.layout == Layout::plain || spec.dims.size() < 2) return describe_plain(spec.dtype, spec.dims);
  if (spec.layout == Layout::nhwc) return channels_last(spec.dtype, spec.dims);
  return blocked(spec.dtype, spec.dims, spec.layout);
}

Desc describe_broadcast(const TensorSpec& spec, size_t rank) {
  if (spec.dims.size() > rank)
    throw UnsupportedError("an operand of rank {} does not broadcast to rank {}", spec.dims.size(), rank);
  if (spec.layout != Layout::plain) {
    if (spec.dims.size() != rank)
      throw UnsupportedError("an operand in layout {} has rank {} instead of {}", layout_name(spec.layout),
                             spec.dims.size(), rank);
    return describe(spec);
  }
  Dims dims(rank - spec.dims.size(), 1);
  dims.insert(dims.end(), spec.dims.begin(), spec.dims.end());
  return describe_plain(spec.dtype, dims);
}

}  // namespace attune::onednn
