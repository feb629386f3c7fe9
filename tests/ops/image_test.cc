#include "ops/op_case.h"

#include <string_view>

namespace attune::test {
namespace {

using namespace std::string_view_literals;

Tensor decode(std::string_view bytes, const std::string& format = "RGB") {
  const std::vector<uint8_t> values(bytes.begin(), bytes.end());
  return OpCase("ImageDecoder", 20)
      .input(Tensor::from<uint8_t>({static_cast<int64_t>(values.size())}, std::span<const uint8_t>(values)))
      .attr("pixel_format", format)
      .run()[0];
}

TEST(ImageDecoder, reads_pnm_in_every_pixel_format) {
  const auto image = "P6 # two pixels\n2 1\n255\n\x01\x02\x03\xFF\xFF\xFF"sv;
  const Tensor rgb = decode(image), bgr = decode(image, "BGR"), gray = decode(image, "Grayscale");
  EXPECT_EQ(rgb.dims(), (Dims{1, 2, 3}));
  EXPECT_EQ(rgb.data<uint8_t>()[0], 1);
  EXPECT_EQ(bgr.data<uint8_t>()[0], 3);
  EXPECT_EQ(gray.dims(), (Dims{1, 2, 1}));
  EXPECT_EQ(gray.data<uint8_t>()[1], 255);
  EXPECT_EQ(decode("P3 1 1 15 15 0 5"sv).data<uint8_t>()[2], 85);
  EXPECT_EQ(decode("P4 1 1\n\x80"sv).data<uint8_t>()[0], 0);
}

TEST(ImageDecoder, refuses_broken_files_of_every_format) {
  for (const std::string_view bytes :
       {""sv, "P"sv, "P6"sv, "P6 2 2 255\n\x01"sv, "P6 99999999999999999999 1 255\n"sv, "P6 1 1 0\n\x01\x01\x01"sv,
        "BM"sv, "BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\xFF\xFF\0\0\xFF\xFF\0\0\1\0\x18\0\0\0\0\0"sv, "II*\0"sv,
        "II*\0\x08\0\0\0\xFF\xFF"sv, "MM\0*\xFF\xFF\xFF\xFF"sv, "\xFF\xD8\xFF"sv, "\xFF\xD8\xFF\xE0\0\x10JFIF"sv,
        "\x89PNG\r\n\x1A\n"sv, "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"sv, "RIFF\x10\0\0\0WEBPVP8 "sv,
        "\0\0\0\x0CjP  \r\n\x87\n"sv, "\xFF\x4F\xFF\x51"sv, "GIF89a"sv})
    EXPECT_THROW(decode(bytes), Error) << bytes.size() << " bytes";
}

}  // namespace
}  // namespace attune::test
