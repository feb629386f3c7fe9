// Messages between a measurer and its worker: length-prefixed, with a token that a reply repeats and a checksum, so
// that whatever a broken kernel writes into the connection is noticed and never taken for a result.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attune::tune {

inline constexpr size_t kMostFrameBytes = 1 << 20;

struct Frame {
  uint64_t token = 0;
  std::string payload;
};

/// What came is no frame: the connection cannot be trusted any more.
class BrokenFrame : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws UserError for a payload above kMostFrameBytes.
std::string encode(const Frame& frame);

/// Collects bytes as they arrive.
class FrameReader {
 public:
  void add(std::string_view bytes) { pending_ += bytes; }
  /// The next whole frame; nothing when more bytes are needed. Throws BrokenFrame.
  std::optional<Frame> next();

 private:
  std::string pending_;
};

}  // namespace attune::tune
