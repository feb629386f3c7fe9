#include "api/guarded.h"
#include "api/tensor_access.h"
#include "base/parallel.h"
#include "base/suggest.h"

#include <attune/session.h>
#include <attune/version.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#define ATTUNE_TEXT_OF(x) #x
#define ATTUNE_TEXT(x) ATTUNE_TEXT_OF(x)

namespace attune {
inline namespace v1 {
namespace {

constexpr uintptr_t kAlignment = 64;  // what kernels may rely on

bool is_aligned(const void* address) { return reinterpret_cast<uintptr_t>(address) % kAlignment == 0; }

ValueInfo describe(const inner::Value& value) {
  ValueInfo info;
  info.name = value.name;
  info.dtype = from_inner(value.dtype);
  info.has_rank = value.shape.has_value();
  if (!value.shape) return info;
  for (const Dim& dim : *value.shape)
    info.shape.push_back(dim.is_known() ? Dimension{dim.value(), ""} : Dimension{-1, dim.text()});
  return info;
}

std::string known_names(const std::vector<ValueInfo>& values) {
  std::string text;
  for (const ValueInfo& value : values) text += (text.empty() ? "'" : ", '") + value.name + "'";
  return text;
}

/// The names of a map must be among those of the model.
template <class Map> void check_names(const Map& given, const std::vector<ValueInfo>& values, const char* what) {
  for (const auto& entry : given) {
    const auto same = [&](const ValueInfo& value) { return value.name == entry.first; };
    if (std::none_of(values.begin(), values.end(), same))
      throw UserError(fmt::format("'{}' is no {} of the model; it has {}", entry.first, what, known_names(values)));
  }
}

/// A view that names memory for its size.
template <class View> void check_view(const View& view, const std::string& name) {
  if (view.dtype == DType::undefined) throw UserError(fmt::format("the tensor for '{}' has no dtype", name));
  if (view.data == nullptr && tensor_bytes(view.dtype, view.shape) > 0)
    throw UserError(fmt::format("the tensor for '{}' has no memory", name));
}

inner::SessionOptions to_inner(const SessionOptions& options) {
  if (options.compute_dtype != DType::undefined && options.compute_dtype != DType::bf16)
    throw UnsupportedError(fmt::format("computing in {} is not supported; give bf16, or leave compute_dtype undefined",
                                       dtype_name(options.compute_dtype)));
  if (options.threads < 0 || options.threads > 4096)
    throw UserError(fmt::format("{} threads; give 1 to 4096, or 0 for the usable cores", options.threads));
  if (options.memory_limit_bytes < 0)
    throw UserError(fmt::format("a memory limit of {} bytes; give 0 for none", options.memory_limit_bytes));
  inner::SessionOptions result;
  result.threads = options.threads;
  result.providers = options.providers;
  result.mode = options.numeric_mode == NumericMode::high_precision ? inner::NumericMode::high_precision
                                                                    : inner::NumericMode::high_performance;
  result.mode_operators = options.numeric_mode_operators;
  if (options.compute_dtype == DType::bf16) result.dtype = inner::DType::bf16;
  result.pin_workers = options.pinning == Pinning::workers;
  result.memory_limit_bytes = options.memory_limit_bytes;
  return result;
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a), b_begin = reinterpret_cast<uintptr_t>(b);
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

void check_overlap(const Inputs& inputs, const OutputBuffers& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const size_t bytes = tensor_bytes(output->second.dtype, output->second.shape);
    const auto refuse = [&](const std::string& other) {
      throw UserError(fmt::format("the memory for output '{}' overlaps that of '{}'", output->first, other));
    };
    for (const auto& [name, view] : inputs)
      if (overlap(output->second.data, bytes, view.data, tensor_bytes(view.dtype, view.shape))) refuse(name);
    for (auto other = std::next(output); other != outputs.end(); ++other)
      if (overlap(output->second.data, bytes, other->second.data,
                  tensor_bytes(other->second.dtype, other->second.shape)))
        refuse(other->first);
  }
}

}  // namespace

struct Session::State {
  inner::Session session;
  std::vector<ValueInfo> inputs, outputs;

  // What ENABLE_TUNE_DUMP asks for: each plan once.
  std::string model;
  int threads;
  std::optional<std::filesystem::path> dump_folder = requested_dump_folder();
  mutable std::mutex dump_mutex;
  mutable std::set<const Plan*> dumped;

  State(inner::Session opened, std::string name, int thread_limit)
      : session(std::move(opened)), model(std::move(name)), threads(thread_limit) {
    for (const auto id : session.graph().inputs) inputs.push_back(describe(session.graph().value(id)));
    for (const auto id : session.graph().outputs) outputs.push_back(describe(session.graph().value(id)));
  }

  void dump_on_request(const std::vector<inner::Tensor>& given) const {
    if (!dump_folder) return;
    const std::shared_ptr<const Plan> plan = session.plan(given);
    const std::lock_guard lock(dump_mutex);
    if (dumped.insert(plan.get()).second)
      write_operator_dump(dump_operators(*plan, model, threads > 0 ? threads : thread_count()), *dump_folder);
  }

  /// In the order of the graph.
  std::vector<inner::Tensor> bind(const Inputs& given) const {
    check_names(given, inputs, "input");
    std::vector<inner::Tensor> result;
    for (const ValueInfo& input : inputs) {
      const auto found = given.find(input.name);
      if (found == given.end()) throw UserError(fmt::format("input '{}' is missing", input.name));
      const TensorView& view = found->second;
      check_view(view, input.name);
      auto tensor = inner::Tensor::borrow(v1::to_inner(view.dtype), view.shape,
                                          static_cast<const std::byte*>(view.data), nullptr);
      // Nothing at all is not an empty tensor.
      const bool in_place = is_aligned(view.data) && view.data != nullptr;
      result.push_back(in_place ? std::move(tensor) : copy_of(tensor));
    }
    return result;
  }

  static inner::Tensor copy_of(const inner::Tensor& tensor) {
    auto copy = inner::Tensor::allocate(tensor.dtype(), tensor.dims());
    if (tensor.size_bytes() > 0)
      std::memcpy(copy.mutable_bytes(), tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
    return copy;
  }
};

Session::Session(const std::string& model, const SessionOptions& options)
    : state_(guarded(
          [&] { return std::make_unique<State>(load_session(model, to_inner(options)), model, options.threads); })) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::vector<ValueInfo>& Session::inputs() const { return state_->inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return state_->outputs; }

Outputs Session::run(const Inputs& inputs) const {
  return guarded([&] {
    const std::vector<inner::Tensor> given = state_->bind(inputs);
    state_->dump_on_request(given);
    std::vector<inner::Tensor> results = state_->session.run(given);
    Outputs outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      // A value that is an output twice shares its storage; the caller gets two tensors.
      const bool shared =
          std::any_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const inner::Tensor& earlier) { return earlier.bytes() == results[i].bytes(); });
      outputs[state_->outputs[i].name] = TensorAccess::from_inner(shared ? results[i].clone() : results[i]);
    }
    return outputs;
  });
}

void Session::run(const Inputs& inputs, const OutputBuffers& outputs) const {
  guarded([&] {
    check_names(outputs, state_->outputs, "output");
    for (const auto& [name, view] : outputs) check_view(view, name);
    const std::vector<inner::Tensor> given = state_->bind(inputs);
    check_overlap(inputs, outputs);
    state_->dump_on_request(given);
    std::vector<inner::Tensor> results(state_->outputs.size());
    std::vector<std::pair<size_t, const MutableTensorView*>> copies;
    for (size_t i = 0; i < results.size(); ++i) {
      const auto found = outputs.find(state_->outputs[i].name);
      if (found == outputs.end()) continue;
      const MutableTensorView& view = found->second;
      const auto dtype = v1::to_inner(view.dtype);
      if (is_aligned(view.data) && view.data != nullptr) {
        results[i] = inner::Tensor::wrap(dtype, view.shape, static_cast<std::byte*>(view.data));
      } else {
        results[i] = inner::Tensor::allocate(dtype, view.shape);
        copies.emplace_back(i, &view);
      }
    }
    state_->session.run_into(given, results);
    for (const auto& [i, view] : copies)
      if (results[i].size_bytes() > 0)
        std::memcpy(view->data, results[i].bytes(), static_cast<size_t>(results[i].size_bytes()));
  });
}

void Session::prepare(const Inputs& inputs) const {
  guarded([&] {
    const std::vector<inner::Tensor> given = state_->bind(inputs);
    state_->session.plan(given);
    state_->dump_on_request(given);
  });
}

void Session::save_plan(const Inputs& inputs, const std::string& path) const {
  guarded([&] { attune::save_plan(state_->session, state_->bind(inputs), path); });
}

SessionStats Session::stats() const {
  const inner::SessionMemory memory = state_->session.memory();
  return {memory.plans, memory.constant_bytes, memory.largest_arena_bytes, memory.held_arena_bytes};
}

const char* library_version() {
  return ATTUNE_TEXT(ATTUNE_VERSION_MAJOR) "." ATTUNE_TEXT(ATTUNE_VERSION_MINOR) "." ATTUNE_TEXT(ATTUNE_VERSION_PATCH);
}

}  // namespace v1
}  // namespace attune
