#include "io/npz.h"

#include "io/temp_folder.h"
#include "io/zip_format.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace attune {
namespace {

using zip::Fields;

/// A member and what an archive claims about it; the claims default to the truth.
struct Claim {
  std::string name;
  std::string content;  // as stored in the file
  uint16_t method = zip::kStored;
  uint16_t flags = 0;
  uint64_t size = 0;
  uint32_t crc = 0;
  bool zip64 = false;
};

std::string bytes_of(const Tensor& tensor) {
  const auto bytes = to_npy(tensor);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint32_t crc_of(const std::string& bytes) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Claim stored(const std::string& name, const std::string& content) {
  return {.name = name, .content = content, .size = content.size(), .crc = crc_of(content)};
}

Claim compressed(const std::string& name, const std::string& content) {
  return {.name = name,
          .content = deflated(content),
          .method = zip::kDeflated,
          .size = content.size(),
          .crc = crc_of(content)};
}

enum class End { plain, zip64 };

std::string archive(const std::vector<Claim>& claims, End end = End::plain, const std::string& comment = "") {
  std::string file, directory;
  for (const Claim& claim : claims) {
    const uint64_t offset = file.size();
    const uint64_t packed = claim.content.size();
    file += Fields()
                .u32(zip::kLocalSignature)
                .u16(20)
                .u16(claim.flags)
                .u16(claim.method)
                .u32(0)
                .u32(claim.crc)
                .u32(packed)
                .u32(claim.size)
                .u16(claim.name.size())
                .u16(0)
                .text(claim.name)
                .text(claim.content)
                .bytes();
    const std::string extra = claim.zip64 ? Fields()
                                                .u16(0x5455)
                                                .u16(1)
                                                .text("x")
                                                .u16(zip::kZip64Extra)
                                                .u16(24)
                                                .u64(claim.size)
                                                .u64(packed)
                                                .u64(offset)
                                                .bytes()
                                          : "";
    const uint64_t hidden = zip::kInZip64;
    directory += Fields()
                     .u32(zip::kCentralSignature)
                     .u16(20)
                     .u16(20)
                     .u16(claim.flags)
                     .u16(claim.method)
                     .u32(0)
                     .u32(claim.crc)
                     .u32(claim.zip64 ? hidden : packed)
                     .u32(claim.zip64 ? hidden : claim.size)
                     .u16(claim.name.size())
                     .u16(extra.size())
                     .u16(0)
                     .u16(0)
                     .u16(0)
                     .u32(0)
                     .u32(claim.zip64 ? hidden : offset)
                     .text(claim.name)
                     .text(extra)
                     .bytes();
  }
  const uint64_t offset = file.size(), count = claims.size();
  file += directory;
  if (end == End::zip64) {
    const uint64_t end_offset = file.size();
    file += Fields()
                .u32(zip::kEnd64Signature)
                .u64(44)
                .u16(45)
                .u16(45)
                .u32(0)
                .u32(0)
                .u64(count)
                .u64(count)
                .u64(directory.size())
                .u64(offset)
                .bytes();
    file += Fields().u32(zip::kEnd64LocatorSignature).u32(0).u64(end_offset).u32(1).bytes();
    return file + Fields()
                      .u32(zip::kEndSignature)
                      .u32(0)
                      .u16(0xFFFF)
                      .u16(0xFFFF)
                      .u32(zip::kInZip64)
                      .u32(zip::kInZip64)
                      .u16(comment.size())
                      .text(comment)
                      .bytes();
  }
  return file + Fields()
                    .u32(zip::kEndSignature)
                    .u32(0)
                    .u16(count)
                    .u16(count)
                    .u32(directory.size())
                    .u32(offset)
                    .u16(comment.size())
                    .text(comment)
                    .bytes();
}

class Npz : public testing::Test {
 protected:
  std::map<std::string, Tensor> read(const std::string& bytes) { return read_npz(folder_.write("x.npz", bytes)); }
  std::string refusal(const std::string& bytes) {
    try {
      read(bytes);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  bool refused(const std::string& bytes, const std::string& reason) {
    const std::string message = refusal(bytes);
    if (message.find(reason) != std::string::npos && message.find("x.npz") != std::string::npos) return true;
    ADD_FAILURE() << message;
    return false;
  }

  TempFolder folder_;
  Tensor seven_ = Tensor::scalar<int32_t>(7);
};

TEST_F(Npz, reads_what_it_wrote) {
  for (const auto compression : {NpzCompression::stored, NpzCompression::deflated}) {
    const Tensor big = Tensor::zeros(DType::f32, {300, 1000});
    write_npz(folder_.file("x.npz"),
              {{"layer/0:weights", Tensor::vector(std::vector<int64_t>{1, 2})}, {"", seven_}, {"größe.npy", big}},
              compression);
    const auto arrays = read_npz(folder_.file("x.npz"));
    ASSERT_EQ(arrays.size(), 3u);
    EXPECT_EQ(arrays.at("layer/0:weights").data<int64_t>()[1], 2);
    EXPECT_EQ(arrays.at("").data<int32_t>()[0], 7);
    EXPECT_EQ(arrays.at("größe.npy").dims(), (Dims{300, 1000}));
  }
  EXPECT_EQ(folder_.entries(), 1);
  write_npz(folder_.file("x.npz"), {});
  EXPECT_TRUE(read_npz(folder_.file("x.npz")).empty());
}

TEST_F(Npz, reads_stored_deflated_zip64_and_commented_archives) {
  const std::string content = bytes_of(seven_);
  Claim wide = stored("c.npy", content);
  wide.zip64 = true;
  for (const End end : {End::plain, End::zip64}) {
    const auto arrays = read(archive({stored("a.npy", content), compressed("b.npy", content), wide}, end, "a comment"));
    ASSERT_EQ(arrays.size(), 3u);
    for (const auto& [name, tensor] : arrays) EXPECT_EQ(tensor.data<int32_t>()[0], 7) << name;
  }
}

TEST_F(Npz, keeps_the_old_file_when_writing_fails) {
  write_npz(folder_.file("x.npz"), {{"a", seven_}});
  EXPECT_THROW(write_npz(folder_.file("x.npz"), {{"a", seven_}, {"a", seven_}}), UserError);
  EXPECT_THROW(write_npz(folder_.file("x.npz"), {{std::string("a\0b", 3), seven_}}), UserError);
  EXPECT_THROW(write_npz(folder_.file("x.npz"), {{std::string(70'000, 'a'), seven_}}), UserError);
  EXPECT_EQ(read_npz(folder_.file("x.npz")).size(), 1u);
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(Npz, refuses_wrong_contents) {
  const std::string content = bytes_of(seven_);
  Claim wrong_crc = stored("a.npy", content);
  wrong_crc.crc ^= 1;
  EXPECT_TRUE(refused(archive({wrong_crc}), "CRC"));
  Claim wrong_packed_crc = compressed("a.npy", content);
  wrong_packed_crc.crc ^= 1;
  EXPECT_TRUE(refused(archive({wrong_packed_crc}), "CRC"));
  Claim garbage = compressed("a.npy", content);
  garbage.content[0] = '\xFF';
  EXPECT_TRUE(refused(archive({garbage}), "invalid"));
  Claim cut = compressed("a.npy", content);
  cut.content.resize(cut.content.size() / 2);
  EXPECT_TRUE(refused(archive({cut}), "cut off"));
  EXPECT_TRUE(refused(archive({stored("a.txt", "text")}), "not an .npy array"));
  EXPECT_TRUE(refused(archive({stored("a.npy", content), stored("a.npy", content)}), "twice"));
  Claim secret = stored("a.npy", content);
  secret.flags = zip::kEncryptedFlag;
  EXPECT_TRUE(refused(archive({secret}), "encrypted"));
  Claim exotic = stored("a.npy", content);
  exotic.method = 12;
  EXPECT_TRUE(refused(archive({exotic}), "method 12"));
}

TEST_F(Npz, refuses_archives_that_unfold_to_more_than_they_declare_or_can_hold) {
  const std::string content = bytes_of(Tensor::zeros(DType::f32, {1'000'000}));
  Claim longer = compressed("a.npy", content);
  longer.size -= 4;  // the array's own header says otherwise
  EXPECT_TRUE(refused(archive({longer}), "declares f32 1000000"));
  Claim impossible = compressed("a.npy", content);
  impossible.size = 0xF0000000;
  EXPECT_TRUE(refused(archive({impossible}), "cannot hold"));
  Claim surplus = compressed("a.npy", bytes_of(seven_) + "surplus");
  surplus.size -= 7;
  EXPECT_TRUE(refused(archive({surplus}), "longer than declared"));
  Claim outside = stored("a.npy", bytes_of(seven_));
  outside.size += 1;
  EXPECT_TRUE(refused(archive({outside}), "cannot hold"));
}

TEST_F(Npz, refuses_members_that_overlap) {
  // Two directory entries for the same bytes.
  const std::string one = archive({stored("a.npy", bytes_of(seven_))});
  const size_t directory_offset = one.find("PK\1\2"), end_offset = one.find("PK\5\6");
  const std::string entry = one.substr(directory_offset, end_offset - directory_offset);
  std::string other = entry;
  other[zip::kCentralBytes] = 'b';
  const std::string file = one.substr(0, directory_offset) + entry + other;
  EXPECT_TRUE(refused(file + Fields()
                                 .u32(zip::kEndSignature)
                                 .u32(0)
                                 .u16(2)
                                 .u16(2)
                                 .u32(2 * entry.size())
                                 .u32(directory_offset)
                                 .u16(0)
                                 .bytes(),
                      "overlap"));
}

TEST_F(Npz, survives_every_truncation_and_every_changed_byte) {
  for (const std::string& whole :
       {archive({compressed("a.npy", bytes_of(seven_))}), archive({stored("a.npy", bytes_of(seven_))}, End::zip64)}) {
    for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const char change : {'\1', '\x80', '\xFF'}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ change);
        refusal(changed);  // accepted or refused, but never a crash
      }
    }
  }
}

}  // namespace
}  // namespace attune
