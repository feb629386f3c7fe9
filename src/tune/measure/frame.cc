#include "tune/measure/frame.h"

#include "base/error.h"
#include "base/hash.h"

#include <cstring>
#include <span>

namespace attune::tune {
namespace {

constexpr uint32_t kMagic = 0x314d5441;  // "ATM1"

struct Header {
  uint32_t magic;
  uint32_t bytes;
  uint64_t token;
  uint64_t checksum;
};

uint64_t checksum(std::string_view payload, uint64_t token) {
  return hash_bytes(std::as_bytes(std::span(payload.data(), payload.size())), token);
}

}  // namespace

std::string encode(const Frame& frame) {
  if (frame.payload.size() > kMostFrameBytes)
    throw UserError("a message of {} bytes is too long for the measuring process; give contents as ranges",
                    frame.payload.size());
  const Header header{kMagic, static_cast<uint32_t>(frame.payload.size()), frame.token,
                      checksum(frame.payload, frame.token)};
  std::string out(sizeof header, '\0');
  std::memcpy(out.data(), &header, sizeof header);
  return out + frame.payload;
}

std::optional<Frame> FrameReader::next() {
  if (pending_.size() < sizeof(Header)) return std::nullopt;
  Header header{};
  std::memcpy(&header, pending_.data(), sizeof header);
  if (header.magic != kMagic || header.bytes > kMostFrameBytes) throw BrokenFrame("what arrived is not a message");
  if (pending_.size() < sizeof header + header.bytes) return std::nullopt;
  Frame frame{header.token, pending_.substr(sizeof header, header.bytes)};
  pending_.erase(0, sizeof header + header.bytes);
  if (checksum(frame.payload, frame.token) != header.checksum) throw BrokenFrame("a message arrived damaged");
  return frame;
}

}  // namespace attune::tune
