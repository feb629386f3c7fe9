#include "providers/native/recurrent.h"

#include "providers/native/grouped_gru.h"
#include "providers/native/recurrent_kernel.h"
#include "providers/native/widened_kernel.h"

namespace attune::native {
namespace {

/// A panel holds all gates of a vector of units, so that a step is one product and the cell follows at once.
template <class T> class CellKernel final : public RecurrentKernel<T> {
 public:
  CellKernel(const Workload& workload, const RecurrentShape& sizes, const ThreadShares& shares)
      : RecurrentKernel<T>(sizes, shares),
        project_(cell_loops().steps<T>().project),
        step_(sizes.gru ? cell_loops().steps<T>().gru : cell_loops().steps<T>().lstm),
        has_bias_(workload.has_input(kB)) {}

  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override {
    std::vector<Tensor> prepared;
    prepared.push_back(packed_panels<T>(*constants[kW], shape(), shape().places().of_input, shape().inputs));
    prepared.push_back(packed_panels<T>(*constants[kR], shape(), shape().places().of_state, shape().hidden));
    prepared.push_back(packed_bias<T>(has_bias_ ? constants[kB] : nullptr, shape()));
    return prepared;
  }

 private:
  using typename RecurrentKernel<T>::Direction;
  using typename RecurrentKernel<T>::Member;
  using typename RecurrentKernel<T>::TimeStep;
  using RecurrentKernel<T>::shape;
  using Weights = typename CellWeights<T>::type;

  int64_t scratch_floats() const override { return shape().chunk_steps() * shape().batch * shape().gate_row(); }
  int64_t cell_width() const override { return shape().padded(); }

  /// Panel `panel` of direction `d` among the prepared weights of that depth.
  const Weights* panel_of(const Tensor& weights, int64_t d, int64_t panel, int64_t depth) const {
    constexpr int64_t kEach = CellWeights<T>::depth;
    return weights.data<Weights>() +
           (d * shape().panels + panel) * ((depth + kEach - 1) / kEach) * kGates * shape().lanes;
  }

  void project(const Direction& direction, int64_t first_row, int64_t rows, const Member& member) const override {
    const KernelArguments& arguments = direction.arguments;
    const T* x = reinterpret_cast<const T*>(arguments.inputs[kX]) + first_row * shape().inputs;
    for (int64_t panel = member.begin(shape().panels); panel < member.end(shape().panels); ++panel)
      project_(
          x, rows, shape().inputs, panel_of(arguments.prepared[0], direction.index, panel, shape().inputs),
          arguments.prepared[2].data<float>() + (direction.index * shape().panels + panel) * kGates * shape().lanes, 0,
          direction.scratch + panel * kGates * shape().lanes, shape().gate_row());
  }

  void step(const Direction& direction, const TimeStep& at, const Member& member) const override {
    const float* projected = direction.scratch + at.projected_row * shape().gate_row();
    const int64_t begin = member.begin(shape().panels), end = member.end(shape().panels);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = at.downwards ? begin + end - 1 - i : i, unit = panel * shape().lanes;
      step_(at.h, shape().batch, shape().hidden,
            panel_of(direction.arguments.prepared[1], direction.index, panel, shape().hidden),
            projected + panel * kGates * shape().lanes, shape().gate_row(), direction.cell + unit, shape().padded(),
            at.out + unit, std::min(shape().lanes, shape().hidden - unit));
    }
  }

  decltype(CellSteps<T>::project) project_;
  typename CellSteps<T>::Step step_;
  bool has_bias_;
};

/// Whether operands of bf16 are multiplied as such; else they are widened.
bool multiplies_bf16(const Config& config, const RecurrentShape& shape) {
  const auto found = config.find("multiply");
  const std::string_view how = found == config.end() ? "" : std::string_view(found->second);
  if (how == "f32") return false;
  if (how != "bf16")
    throw UserError("'{}' does not configure a recurrent layer of bf16; expected multiply=bf16 or f32",
                    to_text(config));
  if (shape.gru) throw UserError("multiply=bf16 is for LSTM: what a GRU remembers would be rounded in every step");
  if (cell_loops().bf16.lstm == nullptr) throw UserError("multiply=bf16 needs AMX tiles, which this machine lacks");
  return true;
}

/// Each config once for each way to multiply that there is, the better by rule first.
std::vector<Config> with_multiply(const std::vector<Config>& configs, const RecurrentShape& shape) {
  // A tile of weights takes as long to load for one row as for sixteen.
  constexpr int64_t kEnoughRows = 4;
  std::vector<const char*> ways = {"f32"};
  if (cell_loops().bf16.lstm != nullptr && !shape.gru)
    ways.insert(shape.batch >= kEnoughRows ? ways.begin() : ways.end(), "bf16");
  std::vector<Config> result;
  for (const char* way : ways)
    for (Config config : configs) {
      config["multiply"] = way;
      result.push_back(std::move(config));
    }
  return result;
}

}  // namespace

std::variant<Offer, Refusal> offer_recurrent(const Workload& workload) {
  const auto shape = recurrent_shape(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) return *refusal;
  const RecurrentShape& known = std::get<RecurrentShape>(shape);
  const auto gates = known.grouped() ? static_cast<int64_t>(known.places().gates) : kGates;
  const int64_t weight_bytes = known.hidden * gates * known.padded() * (bit_width(workload.input(kX).dtype) / 8);
  Offer offer{share_configs(known, weight_bytes)};
  if (workload.input(kX).dtype == DType::bf16) offer.configs = with_multiply(offer.configs, known);
  return offer;
}

std::unique_ptr<Kernel> build_recurrent(const Workload& workload, const Config& config) {
  const auto shape = recurrent_shape(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) throw UserError("{}", refusal->reason);
  const RecurrentShape& known = std::get<RecurrentShape>(shape);
  const ThreadShares shares = thread_shares(config, known);
  const bool is_wide = workload.input(kX).dtype == DType::f32;
  if (!is_wide && multiplies_bf16(config, known))
    return std::make_unique<CellKernel<uint16_t>>(workload, known, shares);
  auto kernel = known.grouped() ? build_grouped_gru(known, workload.has_input(kB), shares)
                                : std::make_unique<CellKernel<float>>(workload, known, shares);
  return is_wide ? std::move(kernel) : widen_kernel(workload, std::move(kernel));
}

}  // namespace attune::native
