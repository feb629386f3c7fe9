// ImageDecoder.
#include "base/parallel.h"
#include "ops/families.h"
#include "ops/image_format.h"

#include <cstring>
#include <string_view>

namespace attune {
namespace {

enum class PixelFormat { rgb, bgr, grayscale };

PixelFormat read_pixel_format(const OpContext& context) {
  const std::string text = context.attr_string("pixel_format", "RGB");
  if (text == "RGB") return PixelFormat::rgb;
  if (text == "BGR") return PixelFormat::bgr;
  if (text == "Grayscale") return PixelFormat::grayscale;
  context.fail("pixel_format is '{}', expected RGB, BGR or Grayscale", text);
}

void infer_image_decoder(InferContext& context) {
  if (context.dtype(0) != DType::u8 && context.dtype(0) != DType::undefined)
    context.fail("input has dtype {}, expected the bytes of a file in u8", dtype_name(context.dtype(0)));
  if (context.shape(0) && context.shape(0)->size() != 1)
    context.fail("input has rank {}, expected 1", context.shape(0)->size());
  const int64_t channels = read_pixel_format(context) == PixelFormat::grayscale ? 1 : 3;
  context.set_output(0, DType::u8, Shape{Dim::unknown(), Dim::unknown(), channels});
}

bool starts_with(ImageBytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Tensor decode(const OpContext& context, ImageBytes bytes) {
  using namespace std::string_view_literals;
  if (starts_with(bytes, "\xFF\xD8\xFF")) return decode_jpeg(context, bytes);
  if (starts_with(bytes, "\x89PNG\r\n\x1A\n")) return decode_png(context, bytes);
  if (starts_with(bytes, "BM")) return decode_bmp(context, bytes);
  if (starts_with(bytes, "RIFF") && bytes.size() >= 12 && starts_with(bytes.subspan(8), "WEBP"))
    return decode_webp(context, bytes);
  if (starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv)) return decode_tiff(context, bytes);
  if (starts_with(bytes, "\0\0\0\x0CjP  "sv) || starts_with(bytes, "\xFF\x4F\xFF\x51"))
    return decode_jpeg2000(context, bytes);
  if (bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6') return decode_pnm(context, bytes);
  context.fail("the {} bytes are no image of a known format", bytes.size());
}

void run_image_decoder(KernelContext& context) {
  const Tensor& encoded = context.input(0);
  const PixelFormat format = read_pixel_format(context);
  Tensor image = decode(context, {encoded.data<uint8_t>(), static_cast<size_t>(encoded.count())});
  if (format == PixelFormat::rgb) return context.set_output(0, std::move(image));
  const int64_t pixels = image.dim(0) * image.dim(1);
  const uint8_t* rgb = image.data<uint8_t>();
  if (format == PixelFormat::bgr) {
    uint8_t* bgr = context.allocate(0, DType::u8, image.dims()).mutable_data<uint8_t>();
    for (int64_t i = 0; i < pixels; ++i)
      for (int64_t c = 0; c < 3; ++c) bgr[3 * i + c] = rgb[3 * i + 2 - c];
    return;
  }
  uint8_t* gray = context.allocate(0, DType::u8, {image.dim(0), image.dim(1), 1}).mutable_data<uint8_t>();
  // Luma of ITU-R 601 in 16-bit fixed point.
  for (int64_t i = 0; i < pixels; ++i)
    gray[i] =
        static_cast<uint8_t>((19595u * rgb[3 * i] + 38470u * rgb[3 * i + 1] + 7471u * rgb[3 * i + 2] + 0x8000u) >> 16);
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "ImageDecoder",
     .since = 20,
     .inputs = {1, 1},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_image_decoder,
     .kernel = run_image_decoder},
};

}  // namespace

Tensor allocate_image(const OpContext& context, int64_t height, int64_t width) {
  constexpr int64_t kMostSide = 65535;
  if (height < 1 || width < 1 || height > kMostSide || width > kMostSide)
    context.fail("an image of {} x {} pixels is not supported", height, width);
  return Tensor::allocate(DType::u8, {height, width, 3});
}

std::span<const OpDef> image_ops() { return kOps; }

}  // namespace attune
