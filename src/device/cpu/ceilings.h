// What this machine can reach at best, measured: arithmetic in registers and bandwidth of the memory levels.
#pragma once

#include "device/cpu/cpu_info.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attune {

struct Ceiling {
  std::string_view id;    // stable name: "f32", "bf16", "amx_bf16", "int8", "amx_int8", "read", "copy", "l2_read"
  std::string_view what;  // for people
  std::string_view unit;  // "GF/s", "GOP/s" or "GB/s"; copies count the bytes read and the bytes written
  double one_thread = 0;
  double all_threads = 0;
};

struct CeilingOptions {
  int threads = 0;  // 0: all that parallel_for uses
  int windows = 8;  // measured one after the other; the best counts, for interference only ever slows down
  double window_ms = 6;
  int64_t memory_bytes = 0;  // 0: twice the last cache, as far as memory allows
};

/// Measures what the instruction sets in `info` allow, about 50 ms for each number. Nothing else should run meanwhile.
/// Throws UserError when there is no memory for the bandwidth measurement.
std::vector<Ceiling> measure_ceilings(const CpuInfo& info, const CeilingOptions& options = {});

/// The measured ceiling of that id; null when this machine does not have it.
const Ceiling* find_ceiling(std::span<const Ceiling> ceilings, std::string_view id);

}  // namespace attune
