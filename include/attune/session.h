// Runs models: load once, run as often and from as many threads as you like.
#pragma once

#include <attune/error.h>
#include <attune/export.h>
#include <attune/tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace attune {
inline namespace v1 {

/// How much error the chosen kernels may have; docs/cli.md says what it measures under --mode.
enum class NumericMode : uint8_t { high_precision = 0, high_performance = 1 };

/// Whether the threads that the session's runs use are each kept on a core of their own.
enum class Pinning : uint8_t {
  none = 0,     // the system moves them as it likes
  workers = 1,  // worker threads are pinned; the thread that calls run() keeps its own affinity
};

struct SessionOptions {
  /// Threads of one run, the calling one included; 0: the cores that the process may use.
  int threads = 0;
  /// Sources of kernels by name, in order of preference; empty: all that the library was built with.
  std::vector<std::string> providers;
  NumericMode numeric_mode = NumericMode::high_precision;
  /// Operators that `numeric_mode` is for, others being high_precision; empty: all.
  std::vector<std::string> numeric_mode_operators;
  /// Planning refuses with UserError when weights and one run's memory need more; 0: no limit.
  int64_t memory_limit_bytes = 0;
  /// Pinning suits one thread that calls run() again and again; see docs/api.md.
  Pinning pinning = Pinning::none;
  /// The dtype to compute products of f32 values in: bf16, or as the model says. Inputs and outputs keep their types.
  DType compute_dtype = DType::undefined;
};

/// One dim of a declared shape: a number, or what the model calls it ("batch"), to be settled by the tensors of a run.
struct Dimension {
  int64_t size = -1;   // -1: open
  std::string symbol;  // its name or formula; "?" when nothing is known, empty for a number
  bool is_known() const { return size >= 0; }
};

/// An input or output as the model declares it.
struct ValueInfo {
  std::string name;
  DType dtype = DType::undefined;  // undefined: only a run can tell
  bool has_rank = false;           // false: the model does not even state the number of dims
  std::vector<Dimension> shape;
};

struct SessionStats {
  int64_t plans = 0;             // sets of input shapes that were planned for
  int64_t weight_bytes = 0;      // constants of all plans, packed and plain, each once
  int64_t run_bytes = 0;         // the largest arena of one run: activations and workspaces
  int64_t peak_arena_bytes = 0;  // of all arenas together: grows with the runs that are under way at once
};

using Inputs = std::map<std::string, TensorView>;
using OutputBuffers = std::map<std::string, MutableTensorView>;
using Outputs = std::map<std::string, Tensor>;

/// Every const function may be called from several threads at once; concurrent runs share the weights, and each has an
/// arena of its own. Moving and destroying must not overlap with anything else.
class ATTUNE_API Session {
 public:
  /// `model` is an ONNX file, a plan file, or zoo:NAME[:batch=N][:seq=N][:size=N][:seed=N]. Throws UserError for what
  /// cannot be read, UnsupportedError when an operator is missing.
  explicit Session(const std::string& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const std::vector<ValueInfo>& inputs() const;
  const std::vector<ValueInfo>& outputs() const;

  /// One run with every input by name. The first run of a set of shapes plans for it, later ones only compute; the
  /// results do not depend on the number of concurrent runs.
  Outputs run(const Inputs& inputs) const;
  /// The same into the caller's memory. Outputs that are not named are dropped. Each must have the shape that the run
  /// gives it, and must overlap neither an input nor another output.
  void run(const Inputs& inputs, const OutputBuffers& outputs) const;

  /// Plans for these shapes without running, so that the first run is as fast as later ones; refuses here what a memory
  /// limit forbids. Contents are looked at only where the model uses an input as a shape.
  void prepare(const Inputs& inputs) const;

  /// Writes the plan for these shapes to a file that the constructor takes, on the same machine and libraries.
  void save_plan(const Inputs& inputs, const std::string& path) const;

  SessionStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "0.1.0", of the library that runs, not of the headers.
ATTUNE_API const char* library_version();

}  // namespace v1
}  // namespace attune
