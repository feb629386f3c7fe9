#include "providers/native/recurrent.h"

#include "base/parallel.h"
#include "base/spin_barrier.h"
#include "providers/native/recurrent_packing.h"
#include "providers/native/widened_kernel.h"

#include <charconv>

namespace attune::native {
namespace {

/// T: float, or uint16_t for bf16. Cells and projected inputs are f32 in either case.
template <class T> class CellKernel final : public Kernel {
 public:
  CellKernel(const Workload& workload, const RecurrentShape& shape, int threads)
      : shape_(shape),
        project_(cell_loops().steps<T>().project),
        step_(shape.gru ? cell_loops().steps<T>().gru : cell_loops().steps<T>().lstm),
        threads_(threads),
        has_bias_(workload.has_input(kB)) {}

  int64_t workspace_bytes() const override { return shape_.directions * direction_bytes(); }

  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override {
    std::vector<Tensor> prepared;
    prepared.push_back(packed_panels<T>(*constants[kW], shape_, shape_.places().of_input, shape_.inputs));
    prepared.push_back(packed_panels<T>(*constants[kR], shape_, shape_.places().of_state, shape_.hidden));
    prepared.push_back(packed_bias<T>(has_bias_ ? constants[kB] : nullptr, shape_));
    return prepared;
  }
  bool takes_over(int i) const override {
    const auto input = static_cast<size_t>(i);
    return input == kW || input == kR || input == kB;
  }

  void run(const KernelArguments& arguments, int64_t, int64_t) const override {
    const int wanted = static_cast<int>(shape_.directions) * threads_;
    std::array<SpinBarrier, 2> barriers = {SpinBarrier(threads_), SpinBarrier(threads_)};
    run_team(std::min(wanted, thread_count()), [&](int rank, int size) {
      if (size == wanted) {
        const int direction = rank / threads_;
        run_direction(arguments, direction, rank % threads_, threads_, barriers[static_cast<size_t>(direction)]);
        return;
      }
      // Not all threads came: whole directions, each by one of them.
      SpinBarrier alone(1);
      for (int64_t d = rank; d < shape_.directions; d += size) run_direction(arguments, d, 0, 1, alone);
    });
  }

 private:
  using Weights = typename CellWeights<T>::type;

  int64_t state_size() const { return shape_.batch * shape_.hidden; }
  int64_t projected_floats() const { return shape_.chunk_steps() * shape_.batch * shape_.gate_row(); }
  int64_t cell_floats() const { return shape_.batch * shape_.padded(); }
  /// The projected chunk, the padded cell, and two states for those steps whose state has no place in an output.
  int64_t direction_bytes() const {
    const int64_t used = (projected_floats() + cell_floats()) * static_cast<int64_t>(sizeof(float)) +
                         2 * state_size() * static_cast<int64_t>(sizeof(T));
    return (used + 63) / 64 * 64;
  }

  void load_cell(const T* initial, float* cell) const {
    std::memset(cell, 0, static_cast<size_t>(cell_floats()) * sizeof(float));
    for (int64_t b = 0; initial != nullptr && b < shape_.batch; ++b)
      for (int64_t unit = 0; unit < shape_.hidden; ++unit)
        cell[b * shape_.padded() + unit] = to_float(initial[b * shape_.hidden + unit]);
  }

  /// The part of one direction that a member of its group does: a range of the units, in all steps.
  void run_direction(const KernelArguments& arguments, int64_t d, int member, int members, SpinBarrier& barrier) const {
    const int64_t begin = shape_.panels * member / members, end = shape_.panels * (member + 1) / members;
    float* projected = reinterpret_cast<float*>(arguments.workspace + d * direction_bytes());
    float* cell = projected + projected_floats();
    T* first_spare = reinterpret_cast<T*>(cell + cell_floats());
    T* spare[2] = {first_spare, first_spare + state_size()};
    const auto input = [&](size_t i) {
      return i < arguments.inputs.size() ? reinterpret_cast<const T*>(arguments.inputs[i]) : nullptr;
    };
    const auto output = [&](size_t i) {
      return i < arguments.outputs.size() ? reinterpret_cast<T*>(arguments.outputs[i]) : nullptr;
    };
    const T* initial_h = input(kInitialH);
    const T* initial_cell = shape_.gru ? initial_h : input(kInitialC);
    if (member == 0) {
      load_cell(initial_cell == nullptr ? nullptr : initial_cell + d * state_size(), cell);
      if (initial_h == nullptr) std::memset(spare[1], 0, static_cast<size_t>(state_size()) * sizeof(T));
    }
    barrier.wait();

    const bool backwards = shape_.reverse || d == 1;
    const T* h = initial_h == nullptr ? spare[1] : initial_h + d * state_size();
    for (int64_t first = 0; first < shape_.steps; first += shape_.chunk_steps()) {
      const int64_t count = std::min(shape_.chunk_steps(), shape_.steps - first);
      // Steps lie in memory in the order of time, whichever way they are walked.
      const int64_t oldest = backwards ? shape_.steps - first - count : first;
      project(arguments, d, oldest * shape_.batch, count * shape_.batch, begin, end, projected);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t within = backwards ? count - 1 - i : i;
        T* out = output(kY) != nullptr ? output(kY) + ((oldest + within) * shape_.directions + d) * state_size()
                                       : spare[(first + i) % 2];
        // Up and down in turn: where the cache is too small for all weights, what was read last is still there.
        step({arguments, d, h, projected + within * shape_.batch * shape_.gate_row(), cell, out}, begin, end,
             (first + i) % 2 == 1);
        barrier.wait();
        h = out;
      }
    }
    if (member == 0) store_last(h, cell, d, output(kLastH), output(kLastC));
  }

  /// Panel `panel` of direction `d` among the prepared weights of that depth.
  const Weights* panel_of(const Tensor& weights, int64_t d, int64_t panel, int64_t depth) const {
    constexpr int64_t kEach = CellWeights<T>::depth;
    return weights.data<Weights>() +
           (d * shape_.panels + panel) * ((depth + kEach - 1) / kEach) * kGates * shape_.lanes;
  }

  void project(const KernelArguments& arguments, int64_t d, int64_t first_row, int64_t rows, int64_t begin, int64_t end,
               float* projected) const {
    const T* x = reinterpret_cast<const T*>(arguments.inputs[kX]) + first_row * shape_.inputs;
    for (int64_t panel = begin; panel < end; ++panel)
      project_(x, rows, shape_.inputs, panel_of(arguments.prepared[0], d, panel, shape_.inputs),
               arguments.prepared[2].data<float>() + (d * shape_.panels + panel) * kGates * shape_.lanes,
               projected + panel * kGates * shape_.lanes, shape_.gate_row());
  }

  /// A time step of one direction.
  struct TimeStep {
    const KernelArguments& arguments;
    int64_t direction;
    const T* h;
    const float* projected;
    float* cell;
    T* out;
  };

  void step(const TimeStep& at, int64_t begin, int64_t end, bool downwards) const {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = downwards ? begin + end - 1 - i : i, unit = panel * shape_.lanes;
      step_(at.h, shape_.batch, shape_.hidden, panel_of(at.arguments.prepared[1], at.direction, panel, shape_.hidden),
            at.projected + panel * kGates * shape_.lanes, shape_.gate_row(), at.cell + unit, shape_.padded(),
            at.out + unit, std::min(shape_.lanes, shape_.hidden - unit));
    }
  }

  void store_last(const T* h, const float* cell, int64_t d, T* last_h, T* last_c) const {
    if (last_h != nullptr) std::memcpy(last_h + d * state_size(), h, static_cast<size_t>(state_size()) * sizeof(T));
    for (int64_t b = 0; last_c != nullptr && b < shape_.batch; ++b)
      for (int64_t unit = 0; unit < shape_.hidden; ++unit)
        last_c[d * state_size() + b * shape_.hidden + unit] = from_float<T>(cell[b * shape_.padded() + unit]);
  }

  RecurrentShape shape_;
  decltype(CellSteps<T>::project) project_;
  typename CellSteps<T>::Step step_;
  int threads_;  // for each direction
  bool has_bias_;
};

/// Threads for one direction when there are enough of them.
int most_threads(const RecurrentShape& shape) {
  return static_cast<int>(std::clamp<int64_t>(thread_count() / shape.directions, 1, shape.panels));
}

int threads_of(const Config& config, const RecurrentShape& shape) {
  const auto found = config.find("threads");
  int threads = 0;
  if (found != config.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), threads);
  if (threads < 1 || threads > std::max<int64_t>(1, shape.panels))
    throw UserError("'{}' does not configure a recurrent layer; expected threads=1 to {}, for each direction",
                    to_text(config), most_threads(shape));
  return threads;
}

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

bool is_recurrent(const Workload& workload) {
  return workload.domain.empty() && (workload.op == "LSTM" || workload.op == "GRU");
}

std::variant<Offer, Refusal> offer_recurrent(const Workload& workload) {
  const auto shape = recurrent_shape(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) return *refusal;
  const RecurrentShape& known = std::get<RecurrentShape>(shape);
  // Threads that share a direction meet after each step, which costs a good part of a microsecond: worth it when a step
  // reads at least this much of the weights.
  constexpr int64_t kWorthSharing = 256 << 10;
  const int64_t weights = known.hidden * known.gate_row() * (bit_width(workload.input(kX).dtype) / 8);
  Offer offer{{{{"threads", "1"}}}};
  if (const int most = most_threads(known); most > 1) {
    offer.configs.push_back({{"threads", std::to_string(most)}});
    if (weights >= kWorthSharing) std::swap(offer.configs[0], offer.configs[1]);
  }
  if (workload.input(kX).dtype == DType::bf16) offer.configs = with_multiply(offer.configs, known);
  return offer;
}

std::unique_ptr<Kernel> build_recurrent(const Workload& workload, const Config& config) {
  const auto shape = recurrent_shape(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) throw UserError("{}", refusal->reason);
  const RecurrentShape& known = std::get<RecurrentShape>(shape);
  const int threads = threads_of(config, known);
  if (workload.input(kX).dtype == DType::f32) return std::make_unique<CellKernel<float>>(workload, known, threads);
  if (multiplies_bf16(config, known)) return std::make_unique<CellKernel<uint16_t>>(workload, known, threads);
  return widen_kernel(workload, std::make_unique<CellKernel<float>>(widened_workload(workload), known, threads));
}

}  // namespace attune::native
