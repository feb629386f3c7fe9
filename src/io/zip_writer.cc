#include "io/zip_writer.h"

#include "base/error.h"
#include "io/zip_format.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace attune::zip {
namespace {

constexpr uint16_t kVersionNeeded = 45;  // zip64
constexpr uint16_t kMadeByUnix = 3 << 8 | kVersionNeeded;
constexpr uint64_t kPermissions = 0100644ull << 16;  // a regular file that anybody may read
constexpr uint64_t kDosDate = 0x0021;                // 1 January 1980, so that equal arrays make equal files
constexpr size_t kChunkBytes = size_t{1} << 18;
constexpr size_t kMaxNameBytes = 0xFFFF;

/// Raw deflate of what passes through.
class Deflater {
 public:
  explicit Deflater(Writer::Emit emit) : emit_(std::move(emit)), output_(kChunkBytes) {
    constexpr int kMemoryLevel = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void put(std::span<const std::byte> bytes, int flush) {
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      deflate(&stream_, flush);
      emit_(std::span<const std::byte>(output_).first(output_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

 private:
  Writer::Emit emit_;
  z_stream stream_{};
  std::vector<std::byte> output_;
};

}  // namespace

void Writer::append(const std::string& bytes) { file_.append(std::as_bytes(std::span(bytes))); }

// The local header always carries a zip64 field, because it is reserved before the sizes are known.
std::string Writer::local_header(const Entry& entry) {
  return Fields()
      .u32(kLocalSignature)
      .u16(kVersionNeeded)
      .u16(entry.flags)
      .u16(entry.method)
      .u16(0)
      .u16(kDosDate)
      .u32(entry.crc)
      .u32(kInZip64)
      .u32(kInZip64)
      .u16(entry.name.size())
      .u16(20)
      .text(entry.name)
      .u16(kZip64Extra)
      .u16(16)
      .u64(entry.size_bytes)
      .u64(entry.compressed_bytes)
      .bytes();
}

std::string Writer::central_header(const Entry& entry) {
  Fields zip64;
  const auto field = [&](uint64_t value) -> uint64_t {
    if (value < kInZip64) return value;
    zip64.u64(value);
    return kInZip64;
  };
  const uint64_t size = field(entry.size_bytes);
  const uint64_t compressed = field(entry.compressed_bytes);
  const uint64_t offset = field(entry.offset);
  const std::string extra =
      zip64.bytes().empty() ? "" : Fields().u16(kZip64Extra).u16(zip64.bytes().size()).text(zip64.bytes()).bytes();
  return Fields()
      .u32(kCentralSignature)
      .u16(kMadeByUnix)
      .u16(kVersionNeeded)
      .u16(entry.flags)
      .u16(entry.method)
      .u16(0)
      .u16(kDosDate)
      .u32(entry.crc)
      .u32(compressed)
      .u32(size)
      .u16(entry.name.size())
      .u16(extra.size())
      .u16(0)  // comment
      .u16(0)  // disk
      .u16(0)  // internal attributes
      .u32(kPermissions)
      .u32(offset)
      .text(entry.name)
      .text(extra)
      .bytes();
}

void Writer::add(const std::string& name, uint16_t method, const std::function<void(const Emit&)>& produce) {
  if (name.size() > kMaxNameBytes) throw UserError("a name of {} bytes is too long for an archive", name.size());
  if (name.find('\0') != std::string::npos) throw UserError("the name '{}' holds a NUL byte", name);
  Entry entry{.name = name, .method = method, .offset = static_cast<uint64_t>(file_.size_bytes())};
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    entry.flags = kUtf8Flag;
  append(local_header(entry));
  const int64_t content_offset = file_.size_bytes();
  const Emit to_file = [&](std::span<const std::byte> bytes) { file_.append(bytes); };
  Deflater deflater(to_file);
  produce([&](std::span<const std::byte> bytes) {
    entry.size_bytes += bytes.size();
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), size_t{1} << 30));  // zlib counts in 32 bits
      entry.crc = static_cast<uint32_t>(
          crc32(entry.crc, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size())));
      if (method == kDeflated)
        deflater.put(piece, Z_NO_FLUSH);
      else
        to_file(piece);
      bytes = bytes.subspan(piece.size());
    }
  });
  if (method == kDeflated) deflater.put({}, Z_FINISH);
  entry.compressed_bytes = static_cast<uint64_t>(file_.size_bytes() - content_offset);
  const std::string header = local_header(entry);
  file_.overwrite(static_cast<int64_t>(entry.offset), std::as_bytes(std::span(header)));
  entries_.push_back(std::move(entry));
}

void Writer::commit() {
  const auto offset = static_cast<uint64_t>(file_.size_bytes());
  for (const Entry& entry : entries_) append(central_header(entry));
  const auto end64_offset = static_cast<uint64_t>(file_.size_bytes());
  const uint64_t size = end64_offset - offset, count = entries_.size();
  if (count >= kInZip64Short || size >= kInZip64 || offset >= kInZip64) {
    append(Fields()
               .u32(kEnd64Signature)
               .u64(kEnd64Bytes - 12)
               .u16(kVersionNeeded)
               .u16(kVersionNeeded)
               .u32(0)
               .u32(0)
               .u64(count)
               .u64(count)
               .u64(size)
               .u64(offset)
               .bytes());
    append(Fields().u32(kEnd64LocatorSignature).u32(0).u64(end64_offset).u32(1).bytes());
  }
  const uint64_t short_count = std::min<uint64_t>(count, kInZip64Short);
  append(Fields()
             .u32(kEndSignature)
             .u16(0)
             .u16(0)
             .u16(short_count)
             .u16(short_count)
             .u32(std::min<uint64_t>(size, kInZip64))
             .u32(std::min<uint64_t>(offset, kInZip64))
             .u16(0)
             .bytes());
  file_.commit();
}

}  // namespace attune::zip
