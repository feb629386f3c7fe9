// Weights and biases of LSTM and GRU layers in the order in which the loops read them. T: float, or uint16_t for bf16.
#pragma once

#include "base/float_types.h"
#include "graph/tensor.h"
#include "providers/native/recurrent_shape.h"

#include <cstring>
#include <type_traits>

namespace attune::native {

// Elements as the loops take them: f32 as it is, bf16 as its bits.
inline float to_float(float value) { return value; }
inline float to_float(uint16_t bits) { return float_detail::bfloat16_to_float(bits); }
template <class T> T from_float(float value) {
  if constexpr (std::is_same_v<T, float>)
    return value;
  else
    return float_detail::float_to_bfloat16(value);
}

template <class T> inline constexpr DType kWeightsType = std::is_same_v<T, float> ? DType::f32 : DType::u32;

/// [directions, gates * hidden, depth] → [directions][panels][depth or pairs][4][lanes], padding units zero.
template <class T> Tensor packed_panels(const Tensor& weights, const RecurrentShape& shape,
                                        const std::array<int64_t, kGates>& places, int64_t depth) {
  constexpr int64_t kEach = CellWeights<T>::depth;
  const int64_t rows = (depth + kEach - 1) / kEach;
  Tensor result = Tensor::lasting(kWeightsType<T>, {shape.directions, shape.panels, rows, kGates, shape.lanes});
  const T* src = reinterpret_cast<const T*>(weights.bytes());
  T* dst = reinterpret_cast<T*>(result.mutable_bytes());
  std::memset(dst, 0, static_cast<size_t>(result.size_bytes()));
  for (int64_t d = 0; d < shape.directions; ++d)
    for (size_t gate = 0; gate < shape.places().gates; ++gate)
      for (int64_t unit = 0; unit < shape.hidden; ++unit, src += depth) {
        T* panel = dst + (d * shape.panels + unit / shape.lanes) * rows * kEach * kGates * shape.lanes;
        for (int64_t k = 0; k < depth; ++k)
          panel[((k / kEach * kGates + places[gate]) * shape.lanes + unit % shape.lanes) * kEach + k % kEach] = src[k];
      }
  return result;
}

/// ONNX's two biases, [directions, 2 * gates * hidden] → [directions][panels][4][lanes], added where they meet.
template <class T> Tensor packed_bias(const Tensor* bias, const RecurrentShape& shape) {
  Tensor result = Tensor::zeros(DType::f32, {shape.directions, shape.panels, kGates, shape.lanes});
  if (bias == nullptr) return result;
  const T* src = reinterpret_cast<const T*>(bias->bytes());
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < shape.directions; ++d)
    for (const auto* places : {&shape.places().of_input, &shape.places().of_state})
      for (size_t gate = 0; gate < shape.places().gates; ++gate)
        for (int64_t unit = 0; unit < shape.hidden; ++unit, ++src)
          dst[((d * shape.panels + unit / shape.lanes) * kGates + (*places)[gate]) * shape.lanes +
              unit % shape.lanes] += to_float(*src);
  return result;
}

}  // namespace attune::native
