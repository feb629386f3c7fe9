// JPEG, PNG and WebP by their libraries, where the build has them.
#include "ops/image_format.h"

#include <cstdio>

#if defined(ATTUNE_HAS_JPEG)
#include <jpeglib.h>

#include <csetjmp>
#endif
#if defined(ATTUNE_HAS_PNG)
#include <png.h>
#endif
#if defined(ATTUNE_HAS_WEBP)
#include <webp/decode.h>
#endif

namespace attune {
namespace {

[[noreturn, maybe_unused]] void refuse(const OpContext& context, std::string_view format, std::string_view package) {
  context.unsupported("this build cannot decode {}; install {} and build again", format, package);
}

#if defined(ATTUNE_HAS_JPEG)
/// libjpeg reports by calling back; an exception must not cross its frames, so errors jump back to decode_jpeg_rows.
struct JpegSession {
  jpeg_decompress_struct decoder;
  jpeg_error_mgr errors;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

JpegSession& session_of(j_common_ptr info) { return *static_cast<JpegSession*>(info->client_data); }

void jump_out(j_common_ptr info) {
  JpegSession& session = session_of(info);
  info->err->format_message(info, session.message);
  std::longjmp(session.jump, 1);
}
void stay_silent(j_common_ptr) {}

/// Reads the header. False: session.message says why. Only plain data lives in these frames, as longjmp demands.
bool start_jpeg(JpegSession& session, const uint8_t* data, size_t size) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_mem_src(&session.decoder, data, static_cast<unsigned long>(size));
  jpeg_read_header(&session.decoder, TRUE);
  session.decoder.out_color_space = JCS_RGB;
  jpeg_calc_output_dimensions(&session.decoder);
  return true;
}

bool read_jpeg(JpegSession& session, uint8_t* out, size_t row_bytes) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_start_decompress(&session.decoder);
  while (session.decoder.output_scanline < session.decoder.output_height) {
    JSAMPROW row = out + session.decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&session.decoder, &row, 1);
  }
  // Missing data gives warnings and gray rows; that is no image.
  if (session.errors.num_warnings > 0) {
    session.errors.format_message(reinterpret_cast<j_common_ptr>(&session.decoder), session.message);
    return false;
  }
  jpeg_finish_decompress(&session.decoder);
  return true;
}
#endif

}  // namespace

#if defined(ATTUNE_HAS_JPEG)
Tensor decode_jpeg(const OpContext& context, ImageBytes bytes) {
  JpegSession session{};
  session.decoder.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = jump_out;
  session.errors.output_message = stay_silent;
  jpeg_create_decompress(&session.decoder);
  session.decoder.client_data = &session;
  struct Cleanup {
    jpeg_decompress_struct* decoder;
    ~Cleanup() { jpeg_destroy_decompress(decoder); }
  } cleanup{&session.decoder};
  if (!start_jpeg(session, bytes.data(), bytes.size())) context.fail("JPEG: {}", session.message);
  Tensor image = allocate_image(context, session.decoder.output_height, session.decoder.output_width);
  if (!read_jpeg(session, image.mutable_data<uint8_t>(), static_cast<size_t>(image.dim(1)) * 3))
    context.fail("JPEG: {}", session.message);
  return image;
}
#else
Tensor decode_jpeg(const OpContext& context, ImageBytes) { refuse(context, "JPEG", "libjpeg62-turbo-dev"); }
#endif

#if defined(ATTUNE_HAS_PNG)
Tensor decode_png(const OpContext& context, ImageBytes bytes) {
  png_image png{};  // the simplified interface catches the library's jumps itself
  png.version = PNG_IMAGE_VERSION;
  struct Cleanup {
    png_image* png;
    ~Cleanup() { png_image_free(png); }
  } cleanup{&png};
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) context.fail("PNG: {}", png.message);
  png.format = PNG_FORMAT_RGB;
  Tensor image = allocate_image(context, png.height, png.width);
  const png_color background{0, 0, 0};
  if (png_image_finish_read(&png, &background, image.mutable_data<uint8_t>(), 0, nullptr) == 0)
    context.fail("PNG: {}", png.message);
  return image;
}
#else
Tensor decode_png(const OpContext& context, ImageBytes) { refuse(context, "PNG", "libpng-dev"); }
#endif

#if defined(ATTUNE_HAS_WEBP)
Tensor decode_webp(const OpContext& context, ImageBytes bytes) {
  int width = 0, height = 0;
  if (WebPGetInfo(bytes.data(), bytes.size(), &width, &height) == 0) context.fail("WebP: the header is not valid");
  Tensor image = allocate_image(context, height, width);
  if (WebPDecodeRGBInto(bytes.data(), bytes.size(), image.mutable_data<uint8_t>(),
                        static_cast<size_t>(image.size_bytes()), width * 3) == nullptr)
    context.fail("WebP: the data are not valid");
  return image;
}
#else
Tensor decode_webp(const OpContext& context, ImageBytes) { refuse(context, "WebP", "libwebp-dev"); }
#endif

}  // namespace attune
