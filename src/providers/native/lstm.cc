#include "providers/native/lstm.h"

#include "base/parallel.h"
#include "base/spin_barrier.h"
#include "ops/context.h"
#include "providers/native/lstm_loops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace attune::native {
namespace {

// Positions among the operator's inputs and outputs.
constexpr size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;
constexpr size_t kY = 0, kLastH = 1, kLastC = 2;

/// Rows of input that are projected at a time: enough to reuse a panel, few enough to stay in the cache.
constexpr int64_t kChunkRows = 96;

struct Shape {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  int64_t lanes = 0, panels = 0;
  bool reverse = false;  // the first direction

  int64_t padded() const { return panels * lanes; }
  int64_t gate_row() const { return kGates * padded(); }
  int64_t chunk_steps() const { return std::clamp<int64_t>(kChunkRows / batch, 1, steps); }
};

bool has_default_activations(const OpContext& context) {
  if (!context.has_attr("activations")) return true;
  constexpr std::string_view kDefault[] = {"Sigmoid", "Tanh", "Tanh"};
  const auto& given = context.attr_strings("activations");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != kDefault[i % 3]) return false;
  return true;
}

std::variant<Shape, Refusal> shape_of(const Workload& workload) {
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec && (spec->dtype != DType::f32 || spec->layout != Layout::plain))
        return refuse("the native LSTM takes plain f32 operands, got {}", to_text(spec));
  for (const size_t i : {kW, kR, kB})
    if (workload.has_input(i) && !workload.input(i).constant)
      return refuse("the native LSTM packs its weights ahead of time, and input {} is not constant", i);
  if (workload.has_input(kLengths)) return refuse("the native LSTM has no sequence lengths");
  if (workload.has_input(kPeepholes)) return refuse("the native LSTM has no peepholes");
  const Node node = workload.node();
  const OpContext context(node);
  for (const char* name : {"clip", "activation_alpha", "activation_beta"})
    if (context.has_attr(name)) return refuse("the native LSTM does not have attribute '{}'", name);
  if (context.attr_int("input_forget", 0) != 0 || context.attr_int("layout", 0) != 0)
    return refuse("the native LSTM does not have input_forget or the batch-first layout");
  if (!has_default_activations(context)) return refuse("the native LSTM has the default activations alone");
  const Dims &x = workload.input(kX).dims, &r = workload.input(kR).dims;
  if (x.size() != 3 || r.size() != 3) return refuse("an LSTM of ranks {} and {}", x.size(), r.size());
  Shape shape{.steps = x[0], .batch = x[1], .inputs = x[2], .hidden = r[2], .directions = r[0]};
  if (std::min({shape.steps, shape.batch, shape.hidden, shape.inputs}) == 0) return refuse("an operand is empty");
  shape.lanes = lstm_loops().lanes;
  shape.panels = (shape.hidden + shape.lanes - 1) / shape.lanes;
  shape.reverse = context.attr_string("direction", "forward") == "reverse";
  return shape;
}

/// [directions, 4 * hidden, depth] → [directions][panels][depth][4][lanes], padding units zero.
Tensor packed_panels(const Tensor& weights, const Shape& shape, int64_t depth) {
  Tensor result = Tensor::lasting(DType::f32, {shape.directions, shape.panels, depth, kGates, shape.lanes});
  const float* src = weights.data<float>();
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < shape.directions; ++d)
    for (int64_t gate = 0; gate < kGates; ++gate)
      for (int64_t unit = 0; unit < shape.hidden; ++unit) {
        const float* row = src + ((d * kGates + gate) * shape.hidden + unit) * depth;
        float* panel = dst + (d * shape.panels + unit / shape.lanes) * depth * kGates * shape.lanes;
        for (int64_t k = 0; k < depth; ++k) panel[(k * kGates + gate) * shape.lanes + unit % shape.lanes] = row[k];
      }
  return result;
}

/// The sum of ONNX's two biases, [directions, 8 * hidden] → [directions][panels][4][lanes].
Tensor packed_bias(const Tensor* bias, const Shape& shape) {
  Tensor result = Tensor::zeros(DType::f32, {shape.directions, shape.panels, kGates, shape.lanes});
  if (bias == nullptr) return result;
  const float* src = bias->data<float>();
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < shape.directions; ++d)
    for (int64_t gate = 0; gate < kGates; ++gate)
      for (int64_t unit = 0; unit < shape.hidden; ++unit) {
        const int64_t from = (d * 2 * kGates + gate) * shape.hidden + unit;
        dst[((d * shape.panels + unit / shape.lanes) * kGates + gate) * shape.lanes + unit % shape.lanes] =
            src[from] + src[from + kGates * shape.hidden];
      }
  return result;
}

const float* floats(const std::byte* bytes) { return reinterpret_cast<const float*>(bytes); }
float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }

class LstmKernel final : public Kernel {
 public:
  LstmKernel(const Workload& workload, const Shape& shape, int threads)
      : shape_(shape), loops_(lstm_loops()), threads_(threads), has_bias_(workload.has_input(kB)) {}

  int64_t workspace_bytes() const override {
    return shape_.directions * direction_floats() * static_cast<int64_t>(sizeof(float));
  }

  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override {
    std::vector<Tensor> prepared;
    prepared.push_back(packed_panels(*constants[kW], shape_, shape_.inputs));
    prepared.push_back(packed_panels(*constants[kR], shape_, shape_.hidden));
    prepared.push_back(packed_bias(has_bias_ ? constants[kB] : nullptr, shape_));
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
  int64_t state_floats() const { return shape_.batch * shape_.hidden; }
  int64_t projected_floats() const { return shape_.chunk_steps() * shape_.batch * shape_.gate_row(); }
  /// The projected chunk, the padded cell, and two states for those steps whose state has no place in an output.
  int64_t direction_floats() const {
    const int64_t used = projected_floats() + shape_.batch * shape_.padded() + 2 * state_floats();
    return (used + 15) / 16 * 16;
  }

  void load_cell(const float* initial, float* cell) const {
    std::memset(cell, 0, static_cast<size_t>(shape_.batch * shape_.padded()) * sizeof(float));
    for (int64_t b = 0; initial != nullptr && b < shape_.batch; ++b)
      std::memcpy(cell + b * shape_.padded(), initial + b * shape_.hidden,
                  static_cast<size_t>(shape_.hidden) * sizeof(float));
  }

  /// The part of one direction that a member of its group does: a range of the units, in all steps.
  void run_direction(const KernelArguments& arguments, int64_t d, int member, int members, SpinBarrier& barrier) const {
    const int64_t begin = shape_.panels * member / members, end = shape_.panels * (member + 1) / members;
    float* projected = floats(arguments.workspace) + d * direction_floats();
    float* cell = projected + projected_floats();
    float* spare[2] = {cell + shape_.batch * shape_.padded(), cell + shape_.batch * shape_.padded() + state_floats()};
    const auto input = [&](size_t i) {
      return i < arguments.inputs.size() && arguments.inputs[i] ? floats(arguments.inputs[i]) : nullptr;
    };
    const auto output = [&](size_t i) {
      return i < arguments.outputs.size() && arguments.outputs[i] ? floats(arguments.outputs[i]) : nullptr;
    };
    const float* initial_h = input(kInitialH);
    const float* initial_c = input(kInitialC);
    if (member == 0) {
      load_cell(initial_c == nullptr ? nullptr : initial_c + d * state_floats(), cell);
      if (initial_h == nullptr) std::memset(spare[1], 0, static_cast<size_t>(state_floats()) * sizeof(float));
    }
    barrier.wait();

    const bool backwards = shape_.reverse || d == 1;
    const float* h = initial_h == nullptr ? spare[1] : initial_h + d * state_floats();
    for (int64_t first = 0; first < shape_.steps; first += shape_.chunk_steps()) {
      const int64_t count = std::min(shape_.chunk_steps(), shape_.steps - first);
      // Steps lie in memory in the order of time, whichever way they are walked.
      const int64_t oldest = backwards ? shape_.steps - first - count : first;
      project(arguments, d, oldest * shape_.batch, count * shape_.batch, begin, end, projected);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t within = backwards ? count - 1 - i : i;
        float* out = output(kY) != nullptr ? output(kY) + ((oldest + within) * shape_.directions + d) * state_floats()
                                           : spare[(first + i) % 2];
        step(arguments, d, h, projected + within * shape_.batch * shape_.gate_row(), cell, out, begin, end);
        barrier.wait();
        h = out;
      }
    }
    if (member == 0) store_last(h, cell, d, output(kLastH), output(kLastC));
  }

  void project(const KernelArguments& arguments, int64_t d, int64_t first_row, int64_t rows, int64_t begin, int64_t end,
               float* projected) const {
    const int64_t panel_floats = shape_.inputs * kGates * shape_.lanes;
    for (int64_t panel = begin; panel < end; ++panel)
      loops_.project(floats(arguments.inputs[kX]) + first_row * shape_.inputs, rows, shape_.inputs,
                     arguments.prepared[0].data<float>() + (d * shape_.panels + panel) * panel_floats,
                     arguments.prepared[2].data<float>() + (d * shape_.panels + panel) * kGates * shape_.lanes,
                     projected + panel * kGates * shape_.lanes, shape_.gate_row());
  }

  void step(const KernelArguments& arguments, int64_t d, const float* h, const float* projected, float* cell,
            float* out, int64_t begin, int64_t end) const {
    const int64_t panel_floats = shape_.hidden * kGates * shape_.lanes;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t unit = panel * shape_.lanes;
      loops_.step(h, shape_.batch, shape_.hidden,
                  arguments.prepared[1].data<float>() + (d * shape_.panels + panel) * panel_floats,
                  projected + panel * kGates * shape_.lanes, shape_.gate_row(), cell + unit, shape_.padded(),
                  out + unit, std::min(shape_.lanes, shape_.hidden - unit));
    }
  }

  void store_last(const float* h, const float* cell, int64_t d, float* last_h, float* last_c) const {
    if (last_h != nullptr)
      std::memcpy(last_h + d * state_floats(), h, static_cast<size_t>(state_floats()) * sizeof(float));
    for (int64_t b = 0; last_c != nullptr && b < shape_.batch; ++b)
      std::memcpy(last_c + d * state_floats() + b * shape_.hidden, cell + b * shape_.padded(),
                  static_cast<size_t>(shape_.hidden) * sizeof(float));
  }

  Shape shape_;
  const LstmLoops& loops_;
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
    throw UserError("'{}' does not configure an LSTM; expected threads=1 to {}, for each direction", to_text(config),
                    most_threads(shape));
  return threads;
}

}  // namespace

std::variant<Offer, Refusal> offer_lstm(const Workload& workload) {
  const auto shape = shape_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) return *refusal;
  const Shape& known = std::get<Shape>(shape);
  // Threads that share a direction meet after each step, which costs a good part of a microsecond: worth it when a step
  // reads at least this much of the weights.
  constexpr int64_t kWorthSharing = 256 << 10;
  const int64_t weights = known.hidden * known.gate_row() * static_cast<int64_t>(sizeof(float));
  Offer offer{{{{"threads", "1"}}}};
  if (const int most = most_threads(known); most > 1) {
    offer.configs.push_back({{"threads", std::to_string(most)}});
    if (weights >= kWorthSharing) std::swap(offer.configs[0], offer.configs[1]);
  }
  return offer;
}

std::unique_ptr<Kernel> build_lstm(const Workload& workload, const Config& config) {
  const auto shape = shape_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) throw UserError("{}", refusal->reason);
  const Shape& known = std::get<Shape>(shape);
  return std::make_unique<LstmKernel>(workload, known, threads_of(config, known));
}

}  // namespace attune::native
