#include "providers/native/recurrent.h"

#include "base/float_types.h"
#include "base/parallel.h"
#include "base/spin_barrier.h"
#include "ops/context.h"
#include "providers/native/cell_loops.h"
#include "providers/native/widened_kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace attune::native {
namespace {

// Positions among the operator's inputs and outputs.
constexpr size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;
constexpr size_t kY = 0, kLastH = 1, kLastC = 2;

/// Which of the loops' gates each gate of ONNX's weights goes to.
struct Places {
  std::array<int64_t, kGates> of_input, of_state;
  size_t gates;  // of the operator
};
constexpr Places kLstmPlaces{{0, 1, 2, 3}, {0, 1, 2, 3}, 4};
constexpr Places kGruPlaces{{0, 1, 2}, {0, 1, 3}, 3};  // what is nobody's place is zero

/// Rows of input that are projected at a time: enough to reuse a panel, few enough to stay in the cache.
constexpr int64_t kChunkRows = 96;

struct Shape {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  int64_t lanes = 0, panels = 0;
  bool reverse = false;  // the first direction
  bool gru = false;

  const Places& places() const { return gru ? kGruPlaces : kLstmPlaces; }

  int64_t padded() const { return panels * lanes; }
  int64_t gate_row() const { return kGates * padded(); }
  int64_t chunk_steps() const { return std::clamp<int64_t>(kChunkRows / batch, 1, steps); }
};

/// `functions` of each direction: Sigmoid, then Tanh.
bool has_default_activations(const OpContext& context, size_t functions) {
  if (!context.has_attr("activations")) return true;
  const auto& given = context.attr_strings("activations");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != (i % functions == 0 ? "Sigmoid" : "Tanh")) return false;
  return true;
}

std::variant<Shape, Refusal> shape_of(const Workload& workload) {
  const std::string& op = workload.op;
  const DType dtype = workload.input(kX).dtype;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec &&
          (spec->dtype != dtype || (dtype != DType::f32 && dtype != DType::bf16) || spec->layout != Layout::plain))
        return refuse("the native {} takes plain operands, all f32 or all bf16, got {}", op, to_text(spec));
  for (const size_t i : {kW, kR, kB})
    if (workload.has_input(i) && !workload.input(i).constant)
      return refuse("the native {} packs its weights ahead of time, and input {} is not constant", op, i);
  if (workload.has_input(kLengths)) return refuse("the native {} has no sequence lengths", op);
  if (workload.has_input(kPeepholes)) return refuse("the native {} has no peepholes", op);
  const Node node = workload.node();
  const OpContext context(node);
  for (const char* name : {"clip", "activation_alpha", "activation_beta"})
    if (context.has_attr(name)) return refuse("the native {} does not have attribute '{}'", op, name);
  if (context.attr_int("input_forget", 0) != 0 || context.attr_int("layout", 0) != 0)
    return refuse("the native {} does not have input_forget or the batch-first layout", op);
  const bool gru = op == "GRU";
  if (gru && context.attr_int("linear_before_reset", 0) == 0)
    return refuse("the native GRU has linear_before_reset=1 alone: otherwise a step takes two products in a row");
  if (!has_default_activations(context, gru ? 2 : 3))
    return refuse("the native {} has the default activations alone", op);
  const Dims &x = workload.input(kX).dims, &r = workload.input(kR).dims;
  if (x.size() != 3 || r.size() != 3) return refuse("a {} of ranks {} and {}", op, x.size(), r.size());
  constexpr int64_t kMostGruRows = 8;
  if (gru && x[1] > kMostGruRows)
    return refuse("the native GRU multiplies with a fourth gate of zeros, which pays for up to {} rows, got {}",
                  kMostGruRows, x[1]);
  Shape shape{.steps = x[0], .batch = x[1], .inputs = x[2], .hidden = r[2], .directions = r[0]};
  if (std::min({shape.steps, shape.batch, shape.hidden, shape.inputs}) == 0) return refuse("an operand is empty");
  shape.lanes = cell_loops().lanes;
  shape.panels = (shape.hidden + shape.lanes - 1) / shape.lanes;
  shape.reverse = context.attr_string("direction", "forward") == "reverse";
  shape.gru = gru;
  return shape;
}

// Elements as the loops take them: f32 as it is, bf16 as its bits.
float to_float(float value) { return value; }
float to_float(uint16_t bits) { return float_detail::bfloat16_to_float(bits); }
template <class T> T from_float(float value) {
  if constexpr (std::is_same_v<T, float>)
    return value;
  else
    return float_detail::float_to_bfloat16(value);
}

template <class T> constexpr DType kWeightsType = std::is_same_v<T, float> ? DType::f32 : DType::u32;

/// [directions, gates * hidden, depth] → [directions][panels][depth or pairs][4][lanes], padding units zero.
template <class T> Tensor packed_panels(const Tensor& weights, const Shape& shape,
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
template <class T> Tensor packed_bias(const Tensor* bias, const Shape& shape) {
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

/// T: float, or uint16_t for bf16. Cells and projected inputs are f32 in either case.
template <class T> class CellKernel final : public Kernel {
 public:
  CellKernel(const Workload& workload, const Shape& shape, int threads)
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
        step(arguments, d, h, projected + within * shape_.batch * shape_.gate_row(), cell, out, begin, end);
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

  void step(const KernelArguments& arguments, int64_t d, const T* h, const float* projected, float* cell, T* out,
            int64_t begin, int64_t end) const {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t unit = panel * shape_.lanes;
      step_(h, shape_.batch, shape_.hidden, panel_of(arguments.prepared[1], d, panel, shape_.hidden),
            projected + panel * kGates * shape_.lanes, shape_.gate_row(), cell + unit, shape_.padded(), out + unit,
            std::min(shape_.lanes, shape_.hidden - unit));
    }
  }

  void store_last(const T* h, const float* cell, int64_t d, T* last_h, T* last_c) const {
    if (last_h != nullptr) std::memcpy(last_h + d * state_size(), h, static_cast<size_t>(state_size()) * sizeof(T));
    for (int64_t b = 0; last_c != nullptr && b < shape_.batch; ++b)
      for (int64_t unit = 0; unit < shape_.hidden; ++unit)
        last_c[d * state_size() + b * shape_.hidden + unit] = from_float<T>(cell[b * shape_.padded() + unit]);
  }

  Shape shape_;
  decltype(CellSteps<T>::project) project_;
  typename CellSteps<T>::Step step_;
  int threads_;  // for each direction
  bool has_bias_;
};

/// Threads for one direction when there are enough of them.
int most_threads(const Shape& shape) {
  return static_cast<int>(std::clamp<int64_t>(thread_count() / shape.directions, 1, shape.panels));
}

int threads_of(const Config& config, const Shape& shape) {
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
bool multiplies_bf16(const Config& config, const Shape& shape) {
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
std::vector<Config> with_multiply(const std::vector<Config>& configs, const Shape& shape) {
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
  const auto shape = shape_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) return *refusal;
  const Shape& known = std::get<Shape>(shape);
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
  const auto shape = shape_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) throw UserError("{}", refusal->reason);
  const Shape& known = std::get<Shape>(shape);
  const int threads = threads_of(config, known);
  if (workload.input(kX).dtype == DType::f32) return std::make_unique<CellKernel<float>>(workload, known, threads);
  if (multiplies_bf16(config, known)) return std::make_unique<CellKernel<uint16_t>>(workload, known, threads);
  return widen_kernel(workload, std::make_unique<CellKernel<float>>(widened_workload(workload), known, threads));
}

}  // namespace attune::native
