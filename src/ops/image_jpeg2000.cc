// JPEG 2000 by OpenJPEG, where the build has it.
#include "ops/image_format.h"

#if defined(ATTUNE_HAS_JPEG2000)
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>
#endif

namespace attune {

#if defined(ATTUNE_HAS_JPEG2000)
namespace {

struct MemoryFile {
  ImageBytes bytes;
  size_t at = 0;
};

OPJ_SIZE_T read_some(void* buffer, OPJ_SIZE_T size, void* user) {
  auto& file = *static_cast<MemoryFile*>(user);
  const size_t count = std::min<size_t>(size, file.bytes.size() - file.at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(buffer, file.bytes.data() + file.at, count);
  file.at += count;
  return count;
}
OPJ_BOOL seek_to(OPJ_OFF_T position, void* user) {
  auto& file = *static_cast<MemoryFile*>(user);
  if (position < 0 || static_cast<size_t>(position) > file.bytes.size()) return OPJ_FALSE;
  file.at = static_cast<size_t>(position);
  return OPJ_TRUE;
}
OPJ_OFF_T skip_some(OPJ_OFF_T count, void* user) {
  auto& file = *static_cast<MemoryFile*>(user);
  return seek_to(static_cast<OPJ_OFF_T>(file.at) + count, user) == OPJ_TRUE ? count : -1;
}

struct Freeing {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};
struct FreeingCodec {  // opj_codec_t and opj_stream_t are both void
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
};

uint8_t to_byte(const opj_image_comp_t& component, OPJ_INT32 value) {
  int64_t shifted = value;
  if (component.sgnd != 0) shifted += int64_t{1} << (component.prec - 1);
  const int64_t most = (int64_t{1} << component.prec) - 1;
  return static_cast<uint8_t>(std::clamp<int64_t>(shifted, 0, most) * 255 / most);
}

}  // namespace

Tensor decode_jpeg2000(const OpContext& context, ImageBytes bytes) {
  MemoryFile file{bytes};
  const std::unique_ptr<opj_stream_t, Freeing> stream(opj_stream_default_create(OPJ_TRUE));
  opj_stream_set_user_data(stream.get(), &file, nullptr);
  opj_stream_set_user_data_length(stream.get(), bytes.size());
  opj_stream_set_read_function(stream.get(), read_some);
  opj_stream_set_skip_function(stream.get(), skip_some);
  opj_stream_set_seek_function(stream.get(), seek_to);
  const bool boxed = bytes[0] == 0;  // a JP2 file; otherwise a bare code stream
  const std::unique_ptr<opj_codec_t, FreeingCodec> codec(opj_create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* raw = nullptr;
  const bool started = opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
                       opj_read_header(stream.get(), codec.get(), &raw) == OPJ_TRUE;
  const std::unique_ptr<opj_image_t, Freeing> decoded(raw);
  if (!started || raw == nullptr) context.fail("JPEG 2000: the header is not valid");
  if (raw->x1 <= raw->x0 || raw->y1 <= raw->y0) context.fail("JPEG 2000: the image is empty");
  Tensor image = allocate_image(context, int64_t{raw->y1} - raw->y0, int64_t{raw->x1} - raw->x0);
  if (opj_decode(codec.get(), stream.get(), raw) != OPJ_TRUE) context.fail("JPEG 2000: the data are not valid");
  const bool colour = raw->numcomps >= 3;
  if (raw->numcomps < 1 || raw->color_space == OPJ_CLRSPC_SYCC || raw->color_space == OPJ_CLRSPC_CMYK)
    context.unsupported("a JPEG 2000 image that is neither gray nor RGB");
  uint8_t* out = image.mutable_data<uint8_t>();
  const int64_t pixels = image.dim(0) * image.dim(1);
  for (int c = 0; c < 3; ++c) {
    const opj_image_comp_t& component = raw->comps[colour ? c : 0];
    if (component.data == nullptr || int64_t{component.w} * component.h != pixels || component.prec < 1 ||
        component.prec > 31)
      context.unsupported("a JPEG 2000 image with subsampled or missing components");
    for (int64_t i = 0; i < pixels; ++i) out[3 * i + c] = to_byte(component, component.data[i]);
  }
  return image;
}
#else
Tensor decode_jpeg2000(const OpContext& context, ImageBytes) {
  context.unsupported("this build cannot decode JPEG 2000; install libopenjp2-7-dev and build again");
}
#endif

}  // namespace attune
