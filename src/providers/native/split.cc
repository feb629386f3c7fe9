#include "providers/native/split.h"

#include "ops/node_traits.h"

#include <algorithm>
#include <cstring>

namespace attune::native {
namespace {

size_t split_axis(const Workload& workload) {
  const int64_t axis = attribute_or<int64_t>(workload.attributes, "axis", 0);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(workload.input(0).dims.size()) : axis);
}

/// Rows that are cut into parts: what lies from the axis inwards, in the order of the memory.
struct Rows {
  int64_t count = 1, inner_bytes = 1;

  explicit Rows(const Workload& workload) {
    const TensorSpec& src = workload.input(0);
    const size_t axis = split_axis(workload);
    inner_bytes = bit_width(src.dtype) / 8;
    // Channels-last maps are cut along the channels, which nothing lies inside of.
    for (size_t i = 0; i < src.dims.size(); ++i)
      if (i != axis) (src.layout == Layout::nhwc || i < axis ? count : inner_bytes) *= src.dims[i];
  }
};

/// Few bytes are copied by an instruction or two, not by a call.
void copy_piece(std::byte* to, const std::byte* from, size_t bytes) {
  switch (bytes) {
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, bytes); break;
  }
}

class SplitKernel final : public Kernel {
 public:
  explicit SplitKernel(const Workload& workload) : rows_(workload) {
    const size_t axis = split_axis(workload);
    for (const auto& output : workload.outputs) parts_.push_back(output->dims[axis] * rows_.inner_bytes);
    row_bytes_ = workload.input(0).dims[axis] * rows_.inner_bytes;
    grain_ = std::max<int64_t>(1, (32 << 10) / row_bytes_);  // enough bytes that starting a task does not show
  }

  int64_t task_count() const override { return (rows_.count + grain_ - 1) / grain_; }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task * grain_, last = std::min(rows_.count, first + grain_);
      const std::byte* part = arguments.inputs[0];
      for (size_t i = 0; i < parts_.size(); ++i) {
        for (int64_t row = first; row < last; ++row)
          copy_piece(arguments.outputs[i] + row * parts_[i], part + row * row_bytes_, static_cast<size_t>(parts_[i]));
        part += parts_[i];
      }
    }
  }

 private:
  Rows rows_;
  std::vector<int64_t> parts_;  // of a row, in bytes
  int64_t row_bytes_ = 0, grain_ = 1;
};

}  // namespace

bool is_split(const Workload& workload) { return workload.domain.empty() && workload.op == "Split"; }

std::variant<Offer, Refusal> offer_split(const Workload& workload) {
  constexpr int64_t kFewestRows = 64;
  const TensorSpec& src = workload.input(0);
  const bool by_channel = src.layout == Layout::nhwc && src.dims.size() >= 3 && split_axis(workload) == 1;
  if (src.layout != Layout::plain && !by_channel)
    return refuse("native Split is for plain tensors, and along the channels for maps in channels-last order, got {}",
                  to_text(workload.inputs[0]));
  for (const auto& output : workload.outputs) {
    if (!output) return refuse("an output is omitted");
    if (output->layout != src.layout) return refuse("an output is in another layout than the input");
    if (element_count(output->dims) == 0) return refuse("an output is empty");
  }
  if (bit_width(src.dtype) < 8) return refuse("{} takes less than a byte", dtype_name(src.dtype));
  if (const Rows rows(workload); src.layout == Layout::plain && rows.count < kFewestRows)
    return refuse("{} rows are too few to share among threads; the reference shares out parts of rows", rows.count);
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> build_split(const Workload& workload) { return std::make_unique<SplitKernel>(workload); }

}  // namespace attune::native
