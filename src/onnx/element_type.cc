#include "onnx/element_type.h"

#include "base/error.h"

#include <utility>

namespace attune::onnx_io {
namespace {

// Numbers of TensorProto.DataType, written out so that an older onnx-ml.proto still compiles.
constexpr std::pair<int32_t, DType> kTypes[] = {
    {1, DType::f32},     {2, DType::u8},          {3, DType::i8},      {4, DType::u16},       {5, DType::i16},
    {6, DType::i32},     {7, DType::i64},         {9, DType::boolean}, {10, DType::f16},      {11, DType::f64},
    {12, DType::u32},    {13, DType::u64},        {16, DType::bf16},   {17, DType::f8e4m3fn}, {18, DType::f8e4m3fnuz},
    {19, DType::f8e5m2}, {20, DType::f8e5m2fnuz}, {21, DType::u4},     {22, DType::i4},       {23, DType::f4e2m1},
    {24, DType::f8e8m0}, {25, DType::u2},         {26, DType::i2},
};

}  // namespace

DType from_onnx_type(int32_t type, const std::string& what) {
  for (const auto& [number, dtype] : kTypes)
    if (number == type) return dtype;
  switch (type) {
    case 8: throw UnsupportedError("{} holds strings; attune runs numeric tensors only", what);
    case 14:
    case 15: throw UnsupportedError("{} holds complex numbers; attune runs real tensors only", what);
    case 27:
    case 28: throw UnsupportedError("{} holds 6-bit floats, which attune does not support", what);
    case 0: throw UserError("{} has no element type", what);
    default: throw UserError("{} has element type {}, which ONNX does not define", what, type);
  }
}

int32_t to_onnx_type(DType dtype) {
  for (const auto& [number, ours] : kTypes)
    if (ours == dtype) return number;
  throw InternalError("dtype {} has no ONNX number", dtype_name(dtype));
}

}  // namespace attune::onnx_io
