// Reading zip archives, as far as .npz needs it: stored and deflated members, zip64, no encryption.
#pragma once

#include "io/byte_source.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attune::zip {

struct Member {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  int64_t compressed_bytes = 0;
  int64_t size_bytes = 0;  // as declared; the source checks that it is true
  int64_t header_offset = 0;
};

/// The members of the central directory, every one inside the file and none overlapping another.
std::vector<Member> list_members(const InputFile& file);

/// The content of a member. Reading its last byte also checks the CRC. Refers to `file`.
std::unique_ptr<ByteSource> open_member(const InputFile& file, const Member& member);

}  // namespace attune::zip
