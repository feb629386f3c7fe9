#include "ops/content.h"

namespace attune {
namespace {

template <class T> std::vector<Dim> elements(const Tensor& tensor) {
  std::vector<Dim> out;
  out.reserve(static_cast<size_t>(tensor.count()));
  const T* data = tensor.data<T>();
  for (int64_t i = 0; i < tensor.count(); ++i) out.emplace_back(static_cast<int64_t>(data[i]));
  return out;
}

}  // namespace

std::optional<std::vector<Dim>> content_of(const Tensor& tensor) {
  if (tensor.rank() > 1 || tensor.count() > kMostContentElements) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::i64: return elements<int64_t>(tensor);
    case DType::i32: return elements<int32_t>(tensor);
    case DType::boolean: return elements<bool>(tensor);
    default: return std::nullopt;
  }
}

}  // namespace attune
