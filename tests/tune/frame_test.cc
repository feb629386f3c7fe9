#include "tune/measure/frame.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace attune::tune {
namespace {

TEST(Frame, comes_back_whole_however_it_is_cut) {
  const std::string bytes = encode({7, "first"}) + encode({8, std::string(5000, 'x')}) + encode({9, ""});
  for (const size_t cut : {size_t{1}, size_t{3}, size_t{24}, size_t{1000}, bytes.size()}) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (size_t at = 0; at < bytes.size(); at += cut) {
      reader.add(std::string_view(bytes).substr(at, cut));
      while (auto frame = reader.next()) frames.push_back(*frame);
    }
    ASSERT_EQ(frames.size(), 3U) << "in pieces of " << cut;
    EXPECT_EQ(frames[0].token, 7U);
    EXPECT_EQ(frames[0].payload, "first");
    EXPECT_EQ(frames[1].payload, std::string(5000, 'x'));
    EXPECT_EQ(frames[2].payload, "");
  }
}

TEST(Frame, notices_every_flipped_byte) {
  const std::string bytes = encode({7, "a payload"});
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    FrameReader reader;
    reader.add(damaged);
    try {
      // A length that grew waits for more; nothing that was damaged comes out.
      EXPECT_FALSE(reader.next().has_value()) << "byte " << i;
    } catch (const BrokenFrame&) {}
  }
}

TEST(Frame, refuses_what_is_too_long) {
  EXPECT_THROW(encode({1, std::string(kMostFrameBytes + 1, 'x')}), UserError);
  FrameReader reader;
  std::string bytes = encode({1, "x"});
  bytes[7] = '\x7f';  // the highest byte of the length
  reader.add(bytes);
  EXPECT_THROW(reader.next(), BrokenFrame);
}

}  // namespace
}  // namespace attune::tune
