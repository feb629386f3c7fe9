// The header of an .npy file: a Python dict literal that is read as data, never evaluated.
#pragma once

#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

#include <string>
#include <string_view>

namespace attune {

enum class ElementOrder { row_major, column_major };
enum class ByteOrder { little, big };

struct NpyHeader {
  DType dtype = DType::undefined;
  ByteOrder byte_order = ByteOrder::little;
  ElementOrder element_order = ElementOrder::row_major;
  Dims dims;
};

/// Reads the dict text. `void_as` is what elements without a type ('|V2') are, undefined to refuse them. Throws
/// UserError naming `what`.
NpyHeader parse_npy_header(std::string_view text, std::string_view what, DType void_as);

/// Magic, version, length and padded dict for a row-major little-endian array.
std::string npy_header(DType dtype, const Dims& dims);

}  // namespace attune
