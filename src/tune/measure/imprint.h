// What a kernel may not change in the process that runs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::tune {

/// Taken before and after a trial in the same thread.
struct ProcessImprint {
  int threads = 0;
  std::vector<int> files;                // open descriptors
  std::vector<uint32_t> float_controls;  // rounding, masks and denormal modes of each pool thread, the caller's first

  static ProcessImprint take();
  /// What differs in `after`, in words; empty: nothing.
  std::string find_change(const ProcessImprint& after) const;
};

}  // namespace attune::tune
