#include "io/zip_reader.h"

#include "base/error.h"
#include "io/zip_format.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>

namespace attune::zip {
namespace {

constexpr int64_t kMaxDeflateRatio = 1032;  // deflate cannot expand one byte further than this (zlib's documentation)
constexpr uint64_t kMaxDirectoryBytes = uint64_t{1} << 26;
constexpr size_t kChunkBytes = size_t{1} << 18;

[[noreturn]] void damaged(const InputFile& file, std::string_view problem) {
  throw UserError("'{}' is a damaged .npz archive: {}; write it again", file.name(), problem);
}

uint64_t number(std::span<const std::byte> bytes, size_t offset, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value |= std::to_integer<uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}

std::vector<std::byte> read_block(const InputFile& file, int64_t offset, size_t size) {
  std::vector<std::byte> bytes(size);
  file.read_at(offset, bytes);
  return bytes;
}

/// True when [offset, offset + size) lies inside the file.
bool inside(const InputFile& file, uint64_t offset, uint64_t size) {
  const auto end = static_cast<uint64_t>(file.size_bytes());
  return offset <= end && size <= end - offset;
}

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

std::optional<Directory> read_zip64_end(const InputFile& file, int64_t end_offset) {
  const int64_t locator_offset = end_offset - static_cast<int64_t>(kEnd64LocatorBytes);
  if (locator_offset < 0) return std::nullopt;
  const auto locator = read_block(file, locator_offset, kEnd64LocatorBytes);
  if (number(locator, 0, 4) != kEnd64LocatorSignature) return std::nullopt;
  const uint64_t offset = number(locator, 8, 8);
  if (!inside(file, offset, kEnd64Bytes)) damaged(file, "its zip64 directory lies outside the file");
  const auto end = read_block(file, static_cast<int64_t>(offset), kEnd64Bytes);
  if (number(end, 0, 4) != kEnd64Signature) damaged(file, "its zip64 directory is missing");
  return Directory{.offset = number(end, 48, 8), .size = number(end, 40, 8), .entries = number(end, 32, 8)};
}

Directory find_directory(const InputFile& file) {
  // The end record is last, but for a comment of up to 64 KiB.
  const int64_t tail_bytes = std::min<int64_t>(file.size_bytes(), kEndBytes + 0xFFFF);
  const int64_t tail_offset = file.size_bytes() - tail_bytes;
  const auto tail = read_block(file, tail_offset, static_cast<size_t>(tail_bytes));
  for (size_t at = tail.size() + 1; at-- > kEndBytes;) {
    const size_t start = at - kEndBytes;
    if (number(tail, start, 4) != kEndSignature) continue;
    if (start + kEndBytes + number(tail, start + 20, 2) != tail.size()) continue;
    Directory directory{.offset = number(tail, start + 16, 4),
                        .size = number(tail, start + 12, 4),
                        .entries = number(tail, start + 10, 2)};
    if (directory.offset == kInZip64 || directory.size == kInZip64 || directory.entries == kInZip64Short)
      directory = read_zip64_end(file, tail_offset + static_cast<int64_t>(start)).value_or(directory);
    if (!inside(file, directory.offset, directory.size)) damaged(file, "its directory lies outside the file");
    if (directory.size > kMaxDirectoryBytes) damaged(file, "its directory is larger than any archive of arrays needs");
    if (directory.entries > directory.size / kCentralBytes) damaged(file, "its directory is cut off");
    return directory;
  }
  throw UserError("'{}' is no .npz archive, or is truncated; write it with numpy.savez", file.name());
}

/// Replaces the fields that say so by the numbers of the zip64 extra field, which holds only those, in this order.
void apply_zip64(const InputFile& file, std::span<const std::byte> extra, uint64_t& size, uint64_t& compressed,
                 uint64_t& offset) {
  while (extra.size() >= 4) {
    const uint64_t length = number(extra, 2, 2);
    if (length > extra.size() - 4) damaged(file, "an extra field is cut off");
    std::span<const std::byte> field = extra.subspan(4, length);
    if (number(extra, 0, 2) == kZip64Extra) {
      for (uint64_t* value : {&size, &compressed, &offset}) {
        if (*value != kInZip64) continue;
        if (field.size() < 8) damaged(file, "a zip64 field is cut off");
        *value = number(field, 0, 8);
        field = field.subspan(8);
      }
      return;
    }
    extra = extra.subspan(4 + length);
  }
}

Member parse_entry(const InputFile& file, std::span<const std::byte> entry, size_t* entry_bytes) {
  if (entry.size() < kCentralBytes || number(entry, 0, 4) != kCentralSignature)
    damaged(file, "its directory is cut off");
  const uint64_t name_bytes = number(entry, 28, 2), extra_bytes = number(entry, 30, 2);
  const uint64_t comment_bytes = number(entry, 32, 2);
  *entry_bytes = kCentralBytes + name_bytes + extra_bytes + comment_bytes;
  if (*entry_bytes > entry.size()) damaged(file, "its directory is cut off");
  Member member;
  const auto name = entry.subspan(kCentralBytes, name_bytes);
  member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  if ((number(entry, 8, 2) & kEncryptedFlag) != 0)
    throw UserError("member '{}' of '{}' is encrypted; write the archive without a password", member.name, file.name());
  member.method = static_cast<uint16_t>(number(entry, 10, 2));
  if (member.method != kStored && member.method != kDeflated)
    throw UserError("member '{}' of '{}' uses compression method {}; write it with numpy.savez or savez_compressed",
                    member.name, file.name(), member.method);
  member.crc = static_cast<uint32_t>(number(entry, 16, 4));
  uint64_t compressed = number(entry, 20, 4), size = number(entry, 24, 4), offset = number(entry, 42, 4);
  apply_zip64(file, entry.subspan(kCentralBytes + name_bytes, extra_bytes), size, compressed, offset);
  if (!inside(file, offset, kLocalBytes) || !inside(file, offset + kLocalBytes, compressed) ||
      size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    damaged(file, fmt::format("member '{}' lies outside the file", member.name));
  member.compressed_bytes = static_cast<int64_t>(compressed);
  member.size_bytes = static_cast<int64_t>(size);
  member.header_offset = static_cast<int64_t>(offset);
  const bool possible = member.method == kStored ? member.size_bytes == member.compressed_bytes
                                                 : member.size_bytes / kMaxDeflateRatio <= member.compressed_bytes;
  if (!possible)
    damaged(file, fmt::format("member '{}' declares {} bytes, which {} bytes in the file cannot hold", member.name,
                              member.size_bytes, member.compressed_bytes));
  return member;
}

/// Where a member's content begins: after its local header, whose name and extra field have lengths of their own.
int64_t content_offset(const InputFile& file, const Member& member) {
  const auto local = read_block(file, member.header_offset, kLocalBytes);
  if (number(local, 0, 4) != kLocalSignature)
    damaged(file, fmt::format("the header of member '{}' is missing", member.name));
  const int64_t offset =
      member.header_offset + static_cast<int64_t>(kLocalBytes + number(local, 26, 2) + number(local, 28, 2));
  if (!inside(file, static_cast<uint64_t>(offset), static_cast<uint64_t>(member.compressed_bytes)))
    damaged(file, fmt::format("member '{}' is cut off", member.name));
  return offset;
}

/// Checks the CRC of what passes through.
class MemberSource : public ByteSource {
 public:
  MemberSource(const InputFile& file, Member member)
      : file_(file), member_(std::move(member)), position_(content_offset(file, member_)) {
    end_ = position_ + member_.compressed_bytes;
  }
  int64_t size_bytes() const override { return member_.size_bytes; }

  void read(std::span<std::byte> out) final {
    if (static_cast<int64_t>(out.size()) > member_.size_bytes - delivered_) fail("it is shorter than declared");
    while (!out.empty()) {
      const auto piece = out.first(std::min(out.size(), size_t{1} << 30));  // zlib counts in 32 bits
      fill(piece);
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
      delivered_ += static_cast<int64_t>(piece.size());
      out = out.subspan(piece.size());
    }
    if (delivered_ < member_.size_bytes) return;
    finish();
    if (crc_ != member_.crc) fail("its CRC is wrong");
  }

 protected:
  virtual void fill(std::span<std::byte> out) = 0;
  virtual void finish() {}
  [[noreturn]] void fail(std::string_view problem) const {
    damaged(file_, fmt::format("member '{}': {}", member_.name, problem));
  }
  /// The next bytes of the file that belong to the member, at most as many as `out` holds.
  size_t read_raw(std::span<std::byte> out) {
    const size_t size = std::min(out.size(), static_cast<size_t>(end_ - position_));
    file_.read_at(position_, out.first(size));
    position_ += static_cast<int64_t>(size);
    return size;
  }

 private:
  const InputFile& file_;
  Member member_;
  int64_t position_ = 0;
  int64_t end_ = 0;
  int64_t delivered_ = 0;
  uLong crc_ = crc32(0, nullptr, 0);
};

class StoredSource : public MemberSource {
 public:
  using MemberSource::MemberSource;

 private:
  void fill(std::span<std::byte> out) override { read_raw(out); }  // sizes were compared when the entry was parsed
};

class DeflatedSource : public MemberSource {
 public:
  DeflatedSource(const InputFile& file, const Member& member) : MemberSource(file, member), input_(kChunkBytes) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // negative: raw deflate without a header
  }
  ~DeflatedSource() override { inflateEnd(&stream_); }

 private:
  void fill(std::span<std::byte> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out > 0) {
      if (ended_) fail("it is shorter than declared");
      step();
    }
  }

  void finish() override {
    // Anything that still comes out is more than was declared.
    std::array<Bytef, 1> surplus{};
    stream_.next_out = surplus.data();
    stream_.avail_out = 1;
    while (!ended_ && stream_.avail_out > 0) step();
    if (stream_.avail_out == 0) fail("it is longer than declared");
  }

  void step() {
    if (stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(read_raw(input_));
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      if (stream_.avail_in == 0) fail("its compressed data is cut off");
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END)
      ended_ = true;
    else if (status != Z_OK)
      fail("its compressed data is invalid");
  }

  z_stream stream_{};
  std::vector<std::byte> input_;
  bool ended_ = false;
};

}  // namespace

std::vector<Member> list_members(const InputFile& file) {
  const Directory directory = find_directory(file);
  const auto bytes = read_block(file, static_cast<int64_t>(directory.offset), directory.size);
  std::span<const std::byte> rest(bytes);
  std::vector<Member> members;
  int64_t content_bytes = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    size_t entry_bytes = 0;
    members.push_back(parse_entry(file, rest, &entry_bytes));
    rest = rest.subspan(entry_bytes);
    content_bytes += members.back().compressed_bytes + static_cast<int64_t>(kLocalBytes);
    // Members that share bytes let a small file unfold without bound.
    if (content_bytes > file.size_bytes()) damaged(file, "its members overlap");
  }
  return members;
}

std::unique_ptr<ByteSource> open_member(const InputFile& file, const Member& member) {
  if (member.method == kStored) return std::make_unique<StoredSource>(file, member);
  return std::make_unique<DeflatedSource>(file, member);
}

}  // namespace attune::zip
