#include "providers/onednn/primitive_kernel.h"

#include "base/parallel.h"
#include "device/cpu/amx_palette_scope.h"
#include "providers/onednn/thread_scope.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace attune::onednn {
namespace {

using Desc = dnnl::memory::desc;

constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t bytes_of(const Desc& desc) { return static_cast<int64_t>(desc.get_size()); }

/// The scratchpad of a primitive; a descriptor of no bytes when it needs none.
Desc scratchpad_desc(const dnnl::primitive& primitive) {
  if (!primitive) return {};
  const auto* desc = dnnl_primitive_desc_query_md(primitive.get_primitive_desc(), dnnl_query_scratchpad_md, 0);
  return desc == nullptr ? Desc() : Desc(*desc);
}

/// The same bytes without padding. Setting the handle of a memory with padding writes zeros there; what is only read
/// has them already, and may be read by others at the same time.
Desc without_padding(Desc desc) {
  for (int i = 0; i < desc.data.ndims; ++i) {
    desc.data.dims[i] = desc.data.padded_dims[i];
    desc.data.padded_offsets[i] = 0;
  }
  return desc;
}

std::string implementation_name(const dnnl::primitive& primitive) {
  const char* name = nullptr;
  dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_impl_info_str, 0, &name);
  return name == nullptr ? "" : name;
}

bool is_narrow(const Argument& argument) {
  using Type = dnnl::memory::data_type;
  const Type type = argument.desc.data_type();
  return type == Type::bf16 || type == Type::u8 || type == Type::s8;
}

/// Whether a step reads the AMX palette when it runs and not only when it is made, which batch-reduce kernels do not.
bool reads_palette_at_run_time(const PrimitiveStep& step) {
  const bool of_library = step.primitive.get(true) != nullptr;  // and not a function of ours
  if (!of_library || std::ranges::none_of(step.arguments, is_narrow)) return false;
  const std::string name = implementation_name(step.primitive);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return !has("brg") && (has("amx") || has("gemm") || has("rnn"));
}

/// One argument with its memory object; the handle is set again only when it changes.
struct Bound {
  dnnl::memory memory;
  Source source;
  size_t index;
  const void* handle = nullptr;
};

struct BoundStep {
  std::vector<Bound> arguments;
  std::optional<dnnl::memory> scratchpad;
  const void* scratchpad_handle = nullptr;
  std::vector<dnnl_exec_arg_t> exec;
  std::vector<std::byte*> own_memory;  // of a step that is no primitive
};

struct PrimitiveState final : KernelState {
  dnnl::stream stream{engine()};
  std::vector<BoundStep> steps;
};

void copy_in_parallel(const std::byte* src, int64_t bytes, std::byte* dst) {
  constexpr int64_t kGrainBytes = 64 << 10;
  parallel_for(bytes, kGrainBytes, [&](int64_t begin, int64_t end) {
    std::memcpy(dst + begin, src + begin, static_cast<size_t>(end - begin));
  });
}

/// What the dnnl::error of a call says, as an error of ours.
template <class Body> auto guarded(Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    throw InternalError("oneDNN: {}", error.what());
  }
}

}  // namespace

dnnl::primitive_attr base_attributes() {
  engine();  // caps the instruction set before anything else of the library is used
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Tensor reordered(const Tensor& tensor, const Desc& from, const Desc& to) {
  const ThreadScope threads(thread_count());
  return guarded([&] {
    Tensor result = Tensor::lasting(DType::u8, {bytes_of(to)});
    dnnl::memory src(from, engine(), const_cast<std::byte*>(tensor.bytes()));
    dnnl::memory dst(to, engine(), result.mutable_bytes());
    dnnl::stream stream(engine());
    dnnl::reorder(src, dst).execute(stream, src, dst);
    stream.wait();
    return result;
  });
}

Argument PrimitiveProgram::packed_input(int id, const Workload& workload, size_t input, const Desc& from,
                                        const Desc& to) {
  if (from == to) return {id, to, Source::input, input};
  if (workload.input(input).constant) {
    preparations.push_back({{static_cast<int>(input)}, [=](std::span<const Tensor* const> constants) {
                              return reordered(*constants[input], from, to);
                            }});
    return {id, to, Source::prepared, preparations.size() - 1};
  }
  temporaries.push_back(to);
  const size_t temporary = temporaries.size() - 1;
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, base_attributes());
  steps.push_back({dnnl::reorder(pd),
                   {{DNNL_ARG_FROM, from, Source::input, input}, {DNNL_ARG_TO, to, Source::temporary, temporary}}});
  return {id, to, Source::temporary, temporary};
}

Argument PrimitiveProgram::computed(int id, const Workload& workload, const std::vector<size_t>& inputs,
                                    const Desc& desc, Compute compute) {
  if (std::ranges::all_of(inputs, [&](size_t i) { return workload.input(i).constant; })) {
    preparations.push_back({{}, [=](std::span<const Tensor* const> constants) {
                              std::vector<const std::byte*> memory;
                              for (const size_t i : inputs) memory.push_back(constants[i]->bytes());
                              Tensor result = Tensor::lasting(DType::u8, {bytes_of(desc)});
                              compute(memory, result.mutable_bytes());
                              return result;
                            }});
    return {id, desc, Source::prepared, preparations.size() - 1};
  }
  temporaries.push_back(desc);
  PrimitiveStep step;
  for (const size_t i : inputs) step.arguments.push_back({0, {}, Source::input, i});
  step.arguments.push_back({id, desc, Source::temporary, temporaries.size() - 1});
  step.own = [compute = std::move(compute)](std::span<std::byte* const> memory) {
    compute(memory.first(memory.size() - 1), memory.back());
  };
  steps.push_back(std::move(step));
  return {id, desc, Source::temporary, temporaries.size() - 1};
}

PrimitiveKernel::PrimitiveKernel(PrimitiveProgram program) : program_(std::move(program)), threads_(thread_count()) {
  for (const Desc& desc : program_.temporaries) {
    temporary_offsets_.push_back(workspace_bytes_);
    workspace_bytes_ += aligned(bytes_of(desc));
  }
  scratchpad_offset_ = workspace_bytes_;
  int64_t scratchpad_bytes = 0;
  for (const PrimitiveStep& step : program_.steps)
    scratchpad_bytes = std::max(scratchpad_bytes, bytes_of(scratchpad_desc(step.primitive)));
  workspace_bytes_ += aligned(scratchpad_bytes);
  needs_palette_ = AmxPaletteScope::useful() && std::ranges::any_of(program_.steps, reads_palette_at_run_time);
}

std::vector<Tensor> PrimitiveKernel::prepare(std::span<const Tensor* const> constants) const {
  std::vector<Tensor> prepared;
  for (const Preparation& preparation : program_.preparations) {
    for (const int input : preparation.takes_over)
      if (constants[static_cast<size_t>(input)] == nullptr)
        throw InternalError("input {} was to be packed, but is not constant", input);
    prepared.push_back(preparation.make(constants));
  }
  return prepared;
}

bool PrimitiveKernel::takes_over(int i) const {
  for (const Preparation& preparation : program_.preparations)
    if (std::ranges::find(preparation.takes_over, i) != preparation.takes_over.end()) return true;
  return false;
}

std::unique_ptr<KernelState> PrimitiveKernel::make_state() const {
  return guarded([&] {
    auto state = std::make_unique<PrimitiveState>();
    for (const PrimitiveStep& step : program_.steps) {
      BoundStep bound;
      for (const Argument& argument : step.arguments) {
        if (step.own) {
          bound.arguments.push_back({dnnl::memory(), argument.source, argument.index});
          bound.own_memory.push_back(nullptr);
          continue;
        }
        const bool read_only = argument.source == Source::input || argument.source == Source::prepared;
        bound.arguments.push_back(
            {dnnl::memory(read_only ? without_padding(argument.desc) : argument.desc, engine(), DNNL_MEMORY_NONE),
             argument.source, argument.index});
        bound.exec.push_back({argument.id, bound.arguments.back().memory.get()});
      }
      if (const Desc scratchpad = scratchpad_desc(step.primitive); bytes_of(scratchpad) > 0) {
        bound.scratchpad = dnnl::memory(scratchpad, engine(), DNNL_MEMORY_NONE);
        bound.exec.push_back({DNNL_ARG_SCRATCHPAD, bound.scratchpad->get()});
      }
      state->steps.push_back(std::move(bound));
    }
    return state;
  });
}

void PrimitiveKernel::run(const KernelArguments& arguments, int64_t, int64_t) const {
  std::unique_ptr<KernelState> own;
  if (arguments.state == nullptr) own = make_state();
  auto& state = static_cast<PrimitiveState&>(own ? *own : *arguments.state);

  const auto buffer = [&](const Bound& bound) -> const std::byte* {
    switch (bound.source) {
      case Source::input: return arguments.inputs[bound.index];
      case Source::output: return arguments.outputs[bound.index];
      case Source::prepared: return arguments.prepared[bound.index].bytes();
      case Source::temporary: return arguments.workspace + temporary_offsets_[bound.index];
    }
    return nullptr;
  };
  const auto bind = [&](dnnl::memory& memory, const void*& handle, const std::byte* data) {
    if (data == handle) return;
    memory.set_data_handle(const_cast<std::byte*>(data), state.stream);
    handle = data;
  };
  if (program_.in_place_input >= 0) {
    const std::byte* start = arguments.inputs[static_cast<size_t>(program_.in_place_input)];
    if (start != arguments.outputs[0]) copy_in_parallel(start, program_.in_place_bytes, arguments.outputs[0]);
  }
  const ThreadScope threads(threads_);
  std::optional<AmxPaletteScope> palette;
  if (needs_palette_) palette.emplace();
  guarded([&] {
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      BoundStep& step = state.steps[i];
      if (const auto& own_work = program_.steps[i].own) {
        for (size_t j = 0; j < step.arguments.size(); ++j)
          step.own_memory[j] = const_cast<std::byte*>(buffer(step.arguments[j]));
        own_work(step.own_memory);
        continue;
      }
      for (Bound& bound : step.arguments) bind(bound.memory, bound.handle, buffer(bound));
      if (step.scratchpad) bind(*step.scratchpad, step.scratchpad_handle, arguments.workspace + scratchpad_offset_);
      // The C call: its C++ wrapper builds a new argument list on the heap each time.
      dnnl::error::wrap_c_api(dnnl_primitive_execute(program_.steps[i].primitive.get(), state.stream.get(),
                                                     static_cast<int>(step.exec.size()), step.exec.data()),
                              "could not execute a primitive");
    }
  });
}

}  // namespace attune::onednn
