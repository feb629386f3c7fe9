// What kernels of recurrent layers share: directions at a time or in turn, each by threads that have ranges of its
// units and meet after every step. T: float, or uint16_t for bf16; cells and projected inputs are f32 in either case.
#pragma once

#include "base/parallel.h"
#include "base/spin_barrier.h"
#include "kernel/kernel.h"
#include "providers/native/recurrent_packing.h"
#include "providers/native/recurrent_shares.h"

#include <cstring>

namespace attune::native {

template <class T> class RecurrentKernel : public Kernel {
 public:
  int64_t workspace_bytes() const final { return shape_.directions * direction_bytes(); }
  bool takes_over(int i) const final {
    const auto input = static_cast<size_t>(i);
    return input == kW || input == kR || input == kB;
  }

  void run(const KernelArguments& arguments, int64_t, int64_t) const final {
    const int threads = shares_.threads, teams = shares_.in_turn ? 1 : static_cast<int>(shape_.directions);
    const int wanted = teams * threads;
    std::array<SpinBarrier, 2> barriers = {SpinBarrier(threads), SpinBarrier(threads)};
    run_team(std::min(wanted, thread_count()), [&](int rank, int size) {
      if (size == wanted) {
        for (int64_t d = rank / threads; d < shape_.directions; d += teams)
          run_direction(arguments, d, {rank % threads, threads, barriers[static_cast<size_t>(d)]});
        return;
      }
      // Not all threads came: whole directions, each by one of them.
      SpinBarrier alone(1);
      for (int64_t d = rank; d < shape_.directions; d += size) run_direction(arguments, d, {0, 1, alone});
    });
  }

 protected:
  RecurrentKernel(const RecurrentShape& shape, const ThreadShares& shares) : shape_(shape), shares_(shares) {}

  /// One of the threads that share a direction.
  struct Member {
    int rank, count;
    SpinBarrier& barrier;

    /// The member's part of so many.
    int64_t begin(int64_t total) const { return total * rank / count; }
    int64_t end(int64_t total) const { return total * (rank + 1) / count; }
  };

  struct Direction {
    const KernelArguments& arguments;
    int64_t index;
    float* scratch;  // scratch_floats()
    float* cell;     // a row of cell_width() for each of the batch; of a GRU its state
  };

  struct TimeStep {
    const T* h;
    T* out;
    int64_t projected_row;  // the first of the batch, among those that were projected
    /// Up and down in turn: where the cache is too small for all weights, what was read last is still there.
    bool downwards;
  };

  virtual int64_t scratch_floats() const = 0;
  virtual int64_t cell_width() const = 0;
  /// The member's part of what rows of the input give all gates.
  virtual void project(const Direction& direction, int64_t first_row, int64_t rows, const Member& member) const = 0;
  /// The member's part of a step. Others may begin the next one as soon as all have returned.
  virtual void step(const Direction& direction, const TimeStep& at, const Member& member) const = 0;

  const RecurrentShape& shape() const { return shape_; }
  int64_t state_size() const { return shape_.batch * shape_.hidden; }

 private:
  /// The scratch, the padded cell, and two states for those steps whose state has no place in an output.
  int64_t direction_bytes() const {
    const int64_t used = (scratch_floats() + cell_floats()) * static_cast<int64_t>(sizeof(float)) +
                         2 * state_size() * static_cast<int64_t>(sizeof(T));
    return (used + 63) / 64 * 64;
  }
  int64_t cell_floats() const { return shape_.batch * cell_width(); }

  void load_cell(const T* initial, float* cell) const {
    std::memset(cell, 0, static_cast<size_t>(cell_floats()) * sizeof(float));
    for (int64_t b = 0; initial != nullptr && b < shape_.batch; ++b)
      for (int64_t unit = 0; unit < shape_.hidden; ++unit)
        cell[b * cell_width() + unit] = to_float(initial[b * shape_.hidden + unit]);
  }

  /// The part of one direction that a member of its threads does: a range of the units, in all steps.
  void run_direction(const KernelArguments& arguments, int64_t d, const Member& member) const {
    float* scratch = reinterpret_cast<float*>(arguments.workspace + d * direction_bytes());
    const Direction direction{arguments, d, scratch, scratch + scratch_floats()};
    T* first_spare = reinterpret_cast<T*>(direction.cell + cell_floats());
    T* spare[2] = {first_spare, first_spare + state_size()};
    const auto input = [&](size_t i) {
      return i < arguments.inputs.size() ? reinterpret_cast<const T*>(arguments.inputs[i]) : nullptr;
    };
    const auto output = [&](size_t i) {
      return i < arguments.outputs.size() ? reinterpret_cast<T*>(arguments.outputs[i]) : nullptr;
    };
    const T* initial_h = input(kInitialH);
    const T* initial_cell = shape_.gru ? initial_h : input(kInitialC);
    if (member.rank == 0) {
      load_cell(initial_cell == nullptr ? nullptr : initial_cell + d * state_size(), direction.cell);
      if (initial_h == nullptr) std::memset(spare[1], 0, static_cast<size_t>(state_size()) * sizeof(T));
    }
    member.barrier.wait();

    const bool backwards = shape_.reverse || d == 1;
    const T* h = initial_h == nullptr ? spare[1] : initial_h + d * state_size();
    for (int64_t first = 0; first < shape_.steps; first += shape_.chunk_steps()) {
      const int64_t count = std::min(shape_.chunk_steps(), shape_.steps - first);
      // Steps lie in memory in the order of time, whichever way they are walked.
      const int64_t oldest = backwards ? shape_.steps - first - count : first;
      project(direction, oldest * shape_.batch, count * shape_.batch, member);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t within = backwards ? count - 1 - i : i;
        T* out = output(kY) != nullptr ? output(kY) + ((oldest + within) * shape_.directions + d) * state_size()
                                       : spare[(first + i) % 2];
        step(direction, {h, out, within * shape_.batch, (first + i) % 2 == 1}, member);
        member.barrier.wait();
        h = out;
      }
    }
    if (member.rank == 0) store_last(h, direction.cell, d, output(kLastH), output(kLastC));
  }

  void store_last(const T* h, const float* cell, int64_t d, T* last_h, T* last_c) const {
    if (last_h != nullptr) std::memcpy(last_h + d * state_size(), h, static_cast<size_t>(state_size()) * sizeof(T));
    for (int64_t b = 0; last_c != nullptr && b < shape_.batch; ++b)
      for (int64_t unit = 0; unit < shape_.hidden; ++unit)
        last_c[d * state_size() + b * shape_.hidden + unit] = from_float<T>(cell[b * cell_width() + unit]);
  }

  RecurrentShape shape_;
  ThreadShares shares_;
};

}  // namespace attune::native
