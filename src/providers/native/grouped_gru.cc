#include "providers/native/grouped_gru.h"

#include "providers/native/recurrent_kernel.h"

namespace attune::native {
namespace {

// ONNX's order of gates.
constexpr int64_t kUpdate = 0, kReset = 1, kNew = 2, kGruGates = 3;

/// A group is as many units as a panel of the loops has columns, so that each gate of it is a panel of its own and none
/// is multiplied with zeros. The reset gate may come before the product with the old state, which takes two halves of
/// a step, or after it.
class GroupedGru final : public RecurrentKernel<float> {
 public:
  GroupedGru(const RecurrentShape& sizes, bool has_bias, const ThreadShares& shares)
      : RecurrentKernel(sizes, shares), loops_(cell_loops()), has_bias_(has_bias) {}

  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override {
    std::vector<Tensor> prepared;
    prepared.push_back(packed_weights(*constants[kW], shape().inputs));
    prepared.push_back(packed_weights(*constants[kR], shape().hidden));
    const Tensor* bias = has_bias_ ? constants[kB] : nullptr;
    // What the new state adds to the product of the old one is inside of the reset gate's reach where that comes after.
    prepared.push_back(packed_bias(bias, {true, shape().reset_first}));
    prepared.push_back(packed_bias(bias, {false, !shape().reset_first}));
    return prepared;
  }

 private:
  int64_t groups() const { return shape().groups(); }
  int64_t group_units() const { return shape().group_units(); }
  /// Numbers of a row of all gates: those of a group after each other.
  int64_t gate_row() const { return groups() * kGruGates * group_units(); }
  int64_t place(int64_t group, int64_t gate) const { return (group * kGruGates + gate) * group_units(); }
  int64_t projected_floats() const { return shape().chunk_steps() * shape().batch * gate_row(); }
  int64_t sums_floats() const { return shape().batch * gate_row(); }

  /// The projected chunk, the sums of a step, and states times their reset gates, up to a line of the cache.
  int64_t scratch_floats() const override { return projected_floats() + sums_floats() + (state_size() + 15) / 16 * 16; }
  int64_t cell_width() const override { return groups() * group_units(); }

  /// [directions, 3 * hidden, depth] → [directions][groups][3][depth][units of a group], padding units zero.
  Tensor packed_weights(const Tensor& weights, int64_t depth) const {
    Tensor result = Tensor::lasting(DType::f32, {shape().directions, groups(), kGruGates, depth, group_units()});
    std::memset(result.mutable_bytes(), 0, static_cast<size_t>(result.size_bytes()));
    const float* src = weights.data<float>();
    float* dst = result.mutable_data<float>();
    for (int64_t d = 0; d < shape().directions; ++d)
      for (int64_t gate = 0; gate < kGruGates; ++gate)
        for (int64_t unit = 0; unit < shape().hidden; ++unit, src += depth) {
          float* panel = dst + (d * gate_row() + place(unit / group_units(), gate)) * depth;
          for (int64_t k = 0; k < depth; ++k) panel[k * group_units() + unit % group_units()] = src[k];
        }
    return result;
  }

  /// Which of ONNX's biases are added up: all but that of the new state's product with the old one; and that one.
  struct BiasParts {
    bool most, last;
  };
  Tensor packed_bias(const Tensor* bias, BiasParts parts) const {
    Tensor result = Tensor::zeros(DType::f32, {shape().directions, gate_row()});
    if (bias == nullptr) return result;
    const float* src = bias->data<float>();
    float* dst = result.mutable_data<float>();
    for (int64_t d = 0; d < shape().directions; ++d)
      for (const bool of_state : {false, true})
        for (int64_t gate = 0; gate < kGruGates; ++gate)
          for (int64_t unit = 0; unit < shape().hidden; ++unit, ++src) {
            const bool wanted = gate == kNew && of_state ? parts.last : parts.most;
            if (wanted) dst[d * gate_row() + place(unit / group_units(), gate) + unit % group_units()] += *src;
          }
    return result;
  }

  const float* panel(const Tensor& weights, int64_t d, int64_t group, int64_t gate, int64_t depth) const {
    return weights.data<float>() + (d * gate_row() + place(group, gate)) * depth;
  }

  void project(const Direction& direction, int64_t first_row, int64_t rows, const Member& member) const override {
    const KernelArguments& arguments = direction.arguments;
    const float* x = reinterpret_cast<const float*>(arguments.inputs[kX]) + first_row * shape().inputs;
    const float* bias = arguments.prepared[2].data<float>() + direction.index * gate_row();
    for (int64_t group = member.begin(groups()); group < member.end(groups()); ++group)
      for (int64_t gate = 0; gate < kGruGates; ++gate)
        loops_.f32.project(x, rows, shape().inputs,
                           panel(arguments.prepared[0], direction.index, group, gate, shape().inputs),
                           bias + place(group, gate), 0, direction.scratch + place(group, gate), gate_row());
  }

  void step(const Direction& direction, const TimeStep& at, const Member& member) const override {
    const float* projected = direction.scratch + at.projected_row * gate_row();
    float* sums = direction.scratch + projected_floats();
    float* reset = sums + sums_floats();
    const int64_t begin = member.begin(groups()), end = member.end(groups());
    const auto for_groups = [&](const auto& call) {
      for (int64_t i = begin; i < end; ++i) call(at.downwards ? begin + end - 1 - i : i);
    };
    const auto multiply = [&](const float* h, int64_t group, int64_t gate, const float* start, int64_t stride) {
      loops_.f32.project(h, shape().batch, shape().hidden,
                         panel(direction.arguments.prepared[1], direction.index, group, gate, shape().hidden), start,
                         stride, sums + place(group, gate), gate_row());
    };
    const auto multiply_gates = [&](int64_t group) {
      for (const int64_t gate : {kUpdate, kReset})
        multiply(at.h, group, gate, projected + place(group, gate), gate_row());
    };
    if (shape().reset_first) {
      for_groups([&](int64_t group) {
        multiply_gates(group);
        for (int64_t row = 0; row < shape().batch; ++row)
          loops_.gru.reset(sums + row * gate_row() + place(group, kReset), cell_at(direction, row, group),
                           reset + row * shape().hidden + group * group_units(), valid(group));
      });
      member.barrier.wait();  // the products below read what all members reset
      for_groups([&](int64_t group) {
        multiply(reset, group, kNew, projected + place(group, kNew), gate_row());
        update(direction, at, sums, group);
      });
      return;
    }
    const float* bias = direction.arguments.prepared[3].data<float>() + direction.index * gate_row();
    for_groups([&](int64_t group) {
      multiply_gates(group);
      multiply(at.h, group, kNew, bias + place(group, kNew), 0);
      for (int64_t row = 0; row < shape().batch; ++row)
        loops_.gru.gate(sums + row * gate_row() + place(group, kReset),
                        projected + row * gate_row() + place(group, kNew),
                        sums + row * gate_row() + place(group, kNew));
      update(direction, at, sums, group);
    });
  }

  int64_t valid(int64_t group) const { return std::min(group_units(), shape().hidden - group * group_units()); }
  float* cell_at(const Direction& direction, int64_t row, int64_t group) const {
    return direction.cell + row * cell_width() + group * group_units();
  }

  void update(const Direction& direction, const TimeStep& at, const float* sums, int64_t group) const {
    for (int64_t row = 0; row < shape().batch; ++row)
      loops_.gru.update(sums + row * gate_row() + place(group, kUpdate), sums + row * gate_row() + place(group, kNew),
                        cell_at(direction, row, group), at.out + row * shape().hidden + group * group_units(),
                        valid(group));
  }

  const CellLoops& loops_;
  bool has_bias_;
};

}  // namespace

std::unique_ptr<Kernel> build_grouped_gru(const RecurrentShape& shape, bool has_bias, const ThreadShares& shares) {
  return std::make_unique<GroupedGru>(shape, has_bias, shares);
}

}  // namespace attune::native
