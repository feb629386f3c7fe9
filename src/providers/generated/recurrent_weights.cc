#include "providers/generated/recurrent_weights.h"

#include "base/float_types.h"
#include "providers/recurrent_layer.h"

#include <cstring>

namespace attune::generated {
namespace {

using codegen::RecurrentCell;
using codegen::RecurrentLayerText;
using codegen::RecurrentPlaces;
using codegen::RecurrentSchedule;
using recurrent::kB, recurrent::kR, recurrent::kW;

constexpr int64_t kNewState = 2;  // the third gate of a GRU

class Packer {
 public:
  Packer(const RecurrentLayerText& layer, const RecurrentSchedule& schedule)
      : layer_(layer), places_(layer, schedule) {}

  /// Gates [first, first + count) of [directions, gates * hidden, depth], by panels.
  template <class T> Tensor panels(const Tensor& weights, int64_t depth, int64_t first, int64_t count) const {
    Tensor result =
        Tensor::lasting(weights.dtype(), {layer_.directions, places_.panels(), depth, count, places_.panel_units()});
    return fill<T>(weights, std::move(result), depth, first, count, [&](int64_t gate, int64_t unit) {
      const int64_t panel = unit / places_.panel_units(), row = count * places_.panel_units();
      return Place{panel * depth * row + gate * places_.panel_units() + unit % places_.panel_units(), row};
    });
  }

  /// The weights of a GRU's new state, by groups of panels.
  template <class T> Tensor groups(const Tensor& weights) const {
    const int64_t depth = layer_.hidden, whole = RecurrentPlaces::kGroupPanels * places_.panel_units();
    Tensor result = Tensor::lasting(weights.dtype(), {layer_.directions, depth * places_.units()});
    return fill<T>(weights, std::move(result), depth, kNewState, 1, [&](int64_t, int64_t unit) {
      const int64_t group = unit / whole, row = places_.group_panels(group) * places_.panel_units();
      return Place{group * depth * whole + unit % whole, row};
    });
  }

  /// ONNX's two biases added up by panels, but for that of the new state's product with the old one where the reset
  /// gate is applied to it.
  Tensor bias(const Tensor* bias) const {
    Tensor result =
        Tensor::zeros(DType::f32, {layer_.directions, places_.panels(), layer_.gates(), places_.panel_units()});
    float* dst = result.mutable_data<float>();
    for_biases(bias, [&](int64_t d, bool of_state, int64_t gate, int64_t unit, float value) {
      if (of_state && is_apart(gate)) return;
      const int64_t panel = unit / places_.panel_units();
      dst[d * places_.gate_row() + (panel * layer_.gates() + gate) * places_.panel_units() +
          unit % places_.panel_units()] += value;
    });
    return result;
  }
  Tensor state_bias(const Tensor* bias) const {
    Tensor result = Tensor::zeros(DType::f32, {layer_.directions, places_.units()});
    float* dst = result.mutable_data<float>();
    for_biases(bias, [&](int64_t d, bool of_state, int64_t gate, int64_t unit, float value) {
      if (of_state && is_apart(gate)) dst[d * places_.units() + unit] = value;
    });
    return result;
  }

 private:
  struct Place {
    int64_t first, stride;  // of a unit's column
  };

  bool is_apart(int64_t gate) const { return layer_.cell == RecurrentCell::gru && gate == kNewState; }

  template <class T, class PlaceOf> Tensor fill(const Tensor& weights, Tensor result, int64_t depth, int64_t first,
                                                int64_t count, const PlaceOf& place_of) const {
    std::memset(result.mutable_bytes(), 0, static_cast<size_t>(result.size_bytes()));
    const int64_t packed = depth * count * places_.units();
    for (int64_t d = 0; d < layer_.directions; ++d)
      for (int64_t gate = 0; gate < count; ++gate)
        for (int64_t unit = 0; unit < layer_.hidden; ++unit) {
          const int64_t row = (d * layer_.gates() + first + gate) * layer_.hidden + unit;
          const T* src = reinterpret_cast<const T*>(weights.bytes()) + row * depth;
          const Place place = place_of(gate, unit);
          T* dst = reinterpret_cast<T*>(result.mutable_bytes()) + d * packed + place.first;
          for (int64_t k = 0; k < depth; ++k) dst[k * place.stride] = src[k];
        }
    return result;
  }

  template <class Call> void for_biases(const Tensor* bias, const Call& call) const {
    if (bias == nullptr) return;
    int64_t i = 0;
    for (int64_t d = 0; d < layer_.directions; ++d)
      for (const bool of_state : {false, true})
        for (int64_t gate = 0; gate < layer_.gates(); ++gate)
          for (int64_t unit = 0; unit < layer_.hidden; ++unit, ++i) call(d, of_state, gate, unit, number(*bias, i));
  }
  static float number(const Tensor& tensor, int64_t i) {
    if (tensor.dtype() == DType::f32) return tensor.data<float>()[i];
    return float_detail::bfloat16_to_float(reinterpret_cast<const uint16_t*>(tensor.bytes())[i]);
  }

  const RecurrentLayerText& layer_;
  RecurrentPlaces places_;
};

template <class T> std::vector<Tensor> pack(const RecurrentLayerText& layer, const RecurrentSchedule& schedule,
                                            std::span<const Tensor* const> constants) {
  const Packer packer(layer, schedule);
  const Tensor* bias = constants.size() > kB ? constants[kB] : nullptr;
  const bool reset_first = layer.cell == RecurrentCell::gru_reset_first;
  std::vector<Tensor> prepared;
  prepared.push_back(packer.panels<T>(*constants[kW], layer.inputs, 0, layer.gates()));
  prepared.push_back(packer.panels<T>(*constants[kR], layer.hidden, 0, reset_first ? kNewState : layer.gates()));
  prepared.push_back(packer.bias(bias));
  if (layer.cell == RecurrentCell::gru) prepared.push_back(packer.state_bias(bias));
  if (reset_first) prepared.push_back(packer.groups<T>(*constants[kR]));
  return prepared;
}

}  // namespace

std::vector<Tensor> packed_recurrent_weights(const RecurrentLayerText& layer, const RecurrentSchedule& schedule,
                                             std::span<const Tensor* const> constants) {
  return layer.element == codegen::Element::f32 ? pack<float>(layer, schedule, constants)
                                                : pack<uint16_t>(layer, schedule, constants);
}

}  // namespace attune::generated
