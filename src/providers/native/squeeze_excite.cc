#include "providers/native/squeeze_excite.h"

#include "base/parallel.h"
#include "base/spin_barrier.h"
#include "ops/convert.h"
#include "ops/squeeze_excite.h"
#include "providers/native/gate_loops.h"

#include <algorithm>
#include <cstring>

namespace attune::native {
namespace {

using Kind = EpilogueStep::Kind;

/// The step as the loops have it; nothing for those that they lack. Operands are filled in once they are known.
std::optional<GateStep> gate_step(const EpilogueStep& step) {
  switch (step.kind) {
    case Kind::relu: return GateStep{GateFunction::relu};
    case Kind::leaky_relu: return GateStep{GateFunction::leaky_relu, step.alpha};
    case Kind::sigmoid: return GateStep{GateFunction::sigmoid};
    case Kind::swish: return GateStep{GateFunction::swish, step.alpha};
    case Kind::hard_sigmoid: return GateStep{GateFunction::hard_sigmoid, step.alpha, step.beta};
    case Kind::hard_swish: return GateStep{GateFunction::hard_swish};
    case Kind::clip: return GateStep{GateFunction::clip, step.alpha, step.beta};
    case Kind::add: return GateStep{GateFunction::shift};
    case Kind::mul: return GateStep{GateFunction::scale};
    default: return std::nullopt;
  }
}

/// How a map lies in memory: groups of channels, of each group all pixels, of each pixel the channels of the group.
struct MapShape {
  int64_t images = 0, channels = 0, pixels = 1;
  int64_t squeezed = 0;
  int64_t width = 1;       // channels side by side
  int64_t groups = 1;      // the last may be padded
  bool by_pixels = false;  // threads share out pixels, else groups
  int64_t padded_channels = 0, padded_squeezed = 0;

  MapShape(const Workload& workload, int64_t lanes) {
    const TensorSpec& map = workload.input(kExcitedMap);
    images = map.dims[0];
    channels = map.dims[1];
    for (size_t i = 2; i < map.dims.size(); ++i) pixels *= map.dims[i];
    squeezed = workload.input(kSqueezeWeights).dims[0];
    width = map.layout == Layout::nhwc      ? channels
            : map.layout == Layout::nchw16c ? 16
            : map.layout == Layout::nchw8c  ? 8
                                            : 1;
    groups = (channels + width - 1) / width;
    by_pixels = map.layout == Layout::nhwc;
    const auto padded = [&](int64_t n) { return (n + lanes - 1) / lanes * lanes; };
    // The gates of a group that is narrower than a vector are read by whole vectors too.
    padded_channels = padded(std::max(groups * width, (groups - 1) * width + lanes));
    padded_squeezed = padded(squeezed);
  }

  int64_t image_elements() const { return groups * pixels * width; }
};

enum Prepared : size_t { kRows, kColumns, kRowBias, kColumnBias, kOperands, kPreparedCount };

float number_of(const Tensor& constant) { return convert(constant, DType::f32).data<float>()[0]; }

Tensor padded_row(const Tensor* values, int64_t padded) {
  Tensor row = Tensor::zeros(DType::f32, {padded});
  if (values != nullptr) {
    const Tensor wide = convert(*values, DType::f32);
    std::copy_n(wide.data<float>(), wide.count(), row.mutable_data<float>());
  }
  return row;
}

/// Both weights as rows for what is squeezed, padded to whole vectors, and the operands of the gates' epilogue.
std::vector<Tensor> packed(std::span<const Tensor* const> constants, const MapShape& shape,
                           const std::vector<EpilogueStep>& gate) {
  const auto given = [&](size_t i) { return i < constants.size() ? constants[i] : nullptr; };
  std::vector<Tensor> prepared(kPreparedCount);
  const int64_t channels = shape.channels, squeezed = shape.squeezed, padded = shape.padded_channels;
  prepared[kRows] = Tensor::zeros(DType::f32, {squeezed, padded});
  prepared[kColumns] = Tensor::zeros(DType::f32, {squeezed, padded});
  const Tensor first = convert(*constants[kSqueezeWeights], DType::f32);
  const Tensor second = convert(*constants[kExciteWeights], DType::f32);
  float* rows = prepared[kRows].mutable_data<float>();
  float* columns = prepared[kColumns].mutable_data<float>();
  // The mean is a sum over pixels that nobody divides: the weights are.
  const float share = 1.0F / static_cast<float>(shape.pixels);
  for (int64_t s = 0; s < squeezed; ++s)
    for (int64_t c = 0; c < channels; ++c) {
      rows[s * padded + c] = first.data<float>()[s * channels + c] * share;
      columns[s * padded + c] = second.data<float>()[c * squeezed + s];
    }
  prepared[kRowBias] = padded_row(given(kSqueezeBias), shape.padded_squeezed);
  prepared[kColumnBias] = padded_row(given(kExciteBias), padded);
  prepared[kOperands] = Tensor::zeros(DType::f32, {std::max<int64_t>(1, static_cast<int64_t>(gate.size()))});
  for (size_t i = 0; i < gate.size(); ++i)
    if (gate[i].is_binary())
      prepared[kOperands].mutable_data<float>()[i] = number_of(*constants[static_cast<size_t>(gate[i].input)]);
  return prepared;
}

/// T: float, or uint16_t for bf16. Sums and gates are f32 in either case.
template <class T> class SqueezeExciteKernel final : public Kernel {
 public:
  explicit SqueezeExciteKernel(const Workload& workload)
      : loops_(gate_loops()), shape_(workload, loops_.lanes), threads_(thread_count()) {
    for (const EpilogueStep& step : squeeze_steps(workload.attributes)) squeeze_.push_back(*gate_step(step));
    gate_ = gate_steps(workload.attributes);
  }

  int64_t workspace_bytes() const override {
    return threads_ * (shape_.padded_channels + private_floats()) * static_cast<int64_t>(sizeof(float));
  }

  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override {
    return packed(constants, shape_, gate_);
  }
  bool takes_over(int i) const override { return i != static_cast<int>(kExcitedMap); }
  int in_place_input() const override { return static_cast<int>(kExcitedMap); }

  void run(const KernelArguments& arguments, int64_t, int64_t) const override {
    const std::vector<GateStep> gate = steps_with_operands(arguments.prepared[kOperands]);
    // Starting a thread costs as much as passing over so many elements.
    constexpr int64_t kWorthAThread = 16 << 10;
    const int64_t most = std::min(threads_, thread_count());
    const auto worth = [&](int64_t elements) { return std::clamp<int64_t>(elements / kWorthAThread, 1, most); };
    const int64_t all = worth(shape_.images * shape_.image_elements());
    if (shape_.images >= all) {
      run_team(static_cast<int>(all), [&](int rank, int size) { run_images(arguments, gate, rank, size); });
      return;
    }
    const auto members = static_cast<int>(worth(shape_.image_elements()));
    SpinBarrier barrier(members);
    run_team(members, [&](int rank, int size) {
      if (size != members)  // not all threads came
        return run_images(arguments, gate, rank, size);
      for (int64_t image = 0; image < shape_.images; ++image) {
        run_part({arguments, gate, image, rank, rank, size, &barrier});
        barrier.wait();  // nobody adds to sums that somebody still reads
      }
    });
  }

 private:
  std::vector<GateStep> steps_with_operands(const Tensor& operands) const {
    std::vector<GateStep> steps;
    for (size_t i = 0; i < gate_.size(); ++i) {
      steps.push_back(*gate_step(gate_[i]));
      if (gate_[i].is_binary()) steps.back().alpha = operands.data<float>()[i];
    }
    return steps;
  }

  /// Sums of all, what is squeezed, and the gates.
  int64_t private_floats() const { return 2 * shape_.padded_channels + shape_.padded_squeezed; }

  /// What one thread does of one image.
  struct Part {
    const KernelArguments& arguments;
    const std::vector<GateStep>& gate;
    int64_t image;
    int thread;        // whose memory is used
    int rank, size;    // of those that share the image
    SpinBarrier* met;  // by them; nullptr where it is one
  };

  void run_images(const KernelArguments& arguments, const std::vector<GateStep>& gate, int rank, int size) const {
    for (int64_t image = rank; image < shape_.images; image += size)
      run_part({arguments, gate, image, rank, 0, 1, nullptr});
  }

  void run_part(const Part& part) const {
    const MapLoops<T>& loops = loops_.map<T>();
    float* sums = reinterpret_cast<float*>(part.arguments.workspace);  // of each thread, or of all groups
    float* total = sums + threads_ * shape_.padded_channels + part.thread * private_floats();
    float* squeezed = total + shape_.padded_channels;
    float* gates = squeezed + shape_.padded_squeezed;
    const int64_t offset = part.image * shape_.image_elements();
    const T* x = reinterpret_cast<const T*>(part.arguments.inputs[kExcitedMap]) + offset;
    T* y = reinterpret_cast<T*>(part.arguments.outputs[0]) + offset;
    const int64_t units = shape_.by_pixels ? shape_.pixels : shape_.groups;
    const int64_t begin = units * part.rank / part.size, end = units * (part.rank + 1) / part.size;
    const int64_t group_elements = shape_.pixels * shape_.width, padded = shape_.padded_channels;

    if (shape_.by_pixels) {
      float* own = sums + part.thread * padded;
      std::fill_n(own, padded, 0.0F);
      if (begin < end) loops.add_rows(x + begin * shape_.width, end - begin, shape_.width, own);
      if (part.met != nullptr) part.met->wait();
      std::copy_n(sums + (part.size == 1 ? part.thread : 0) * padded, padded, total);
      for (int other = 1; other < part.size; ++other)
        for (int64_t c = 0; c < shape_.channels; ++c) total[c] += sums[other * padded + c];
    } else {
      float* shared = part.size == 1 ? sums + part.thread * padded : sums;
      for (int64_t group = begin; group < end; ++group) sum_group(loops, x + group * group_elements, shared, group);
      if (part.met != nullptr) part.met->wait();
      std::copy_n(shared, shape_.channels, total);
    }
    std::fill(total + shape_.channels, total + padded, 0.0F);

    compute_gates(part, total, squeezed, gates);

    if (shape_.by_pixels) {
      const int64_t first = begin * shape_.width;
      if (begin < end) loops.scale_rows(x + first, end - begin, shape_.width, gates, y + first);
      return;
    }
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * group_elements;
      if (shape_.width == 1)
        loops.scale(x + first, shape_.pixels, gates[group], y + first);
      else
        loops.scale_rows(x + first, shape_.pixels, shape_.width, gates + group * shape_.width, y + first);
    }
  }

  /// Writes no sums but the group's: others may be writing theirs.
  void sum_group(const MapLoops<T>& loops, const T* x, float* shared, int64_t group) const {
    if (shape_.width == 1) {
      shared[group] = loops.sum(x, shape_.pixels);
      return;
    }
    constexpr int64_t kWidest = 16;
    float own[kWidest] = {};
    loops.add_rows(x, shape_.pixels, shape_.width, own);
    std::copy_n(own, shape_.width, shared + group * shape_.width);
  }

  void compute_gates(const Part& part, const float* total, float* squeezed, float* gates) const {
    const std::span<const Tensor> prepared = part.arguments.prepared;
    const auto data = [&](Prepared which) { return prepared[which].data<float>(); };
    std::fill_n(squeezed, shape_.padded_squeezed, 0.0F);
    loops_.dot_rows(data(kRows), shape_.squeezed, shape_.padded_channels, total, data(kRowBias), squeezed);
    loops_.apply(squeeze_.data(), static_cast<int64_t>(squeeze_.size()), squeezed, shape_.padded_squeezed);
    loops_.combine_rows(data(kColumns), shape_.squeezed, shape_.padded_channels, squeezed, data(kColumnBias), gates);
    loops_.apply(part.gate.data(), static_cast<int64_t>(part.gate.size()), gates, shape_.padded_channels);
  }

  const GateLoops& loops_;
  MapShape shape_;
  int threads_;
  std::vector<GateStep> squeeze_;
  std::vector<EpilogueStep> gate_;
};

}  // namespace

bool is_squeeze_excite(const Workload& workload) {
  return workload.domain == "attune" && workload.op == "SqueezeExcite";
}

std::variant<Offer, Refusal> offer_squeeze_excite(const Workload& workload) {
  const TensorSpec& map = workload.input(kExcitedMap);
  if (map.dtype != DType::f32 && map.dtype != DType::bf16)
    return refuse("native squeeze-and-excite computes on f32 and bf16, got {}", dtype_name(map.dtype));
  if (map.dims.size() < 3) return refuse("a map of {} dims", map.dims.size());
  if (workload.output(0).layout != map.layout) return refuse("the output is in another layout than the map");
  if (element_count(map.dims) == 0 || workload.input(kSqueezeWeights).dims[0] == 0)
    return refuse("an operand is empty");
  for (size_t i = 1; i < workload.inputs.size(); ++i)
    if (workload.has_input(i) && !workload.input(i).constant)
      return refuse("native squeeze-and-excite packs its weights ahead of time, and input {} is not constant", i);
  for (const EpilogueStep& step : gate_steps(workload.attributes))
    if (step.is_binary() && element_count(workload.input(static_cast<size_t>(step.input)).dims) != 1)
      return refuse("the operand of '{}' is no single number", to_text(step));
  for (const auto& steps : {squeeze_steps(workload.attributes), gate_steps(workload.attributes)})
    for (const EpilogueStep& step : steps)
      if (!gate_step(step)) return refuse("native squeeze-and-excite does not have '{}'", to_text(step));
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> build_squeeze_excite(const Workload& workload) {
  if (workload.input(kExcitedMap).dtype == DType::f32) return std::make_unique<SqueezeExciteKernel<float>>(workload);
  return std::make_unique<SqueezeExciteKernel<uint16_t>>(workload);
}

}  // namespace attune::native
