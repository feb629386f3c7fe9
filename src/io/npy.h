// NumPy's .npy files.
#pragma once

#include "graph/tensor.h"
#include "io/byte_source.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

struct NpyOptions {
  /// What elements without a type are: NumPy saves bfloat16 as '<V2' and most fp8 formats as '<V1'. Undefined: refused.
  DType void_as = DType::undefined;
  /// Sees each array's name and type before its contents are read, and throws for one that is not wanted.
  std::function<void(const std::string& name, DType dtype, const Dims& dims)> accept = {};
  std::string name = {};  // what accept is told; an archive gives each array its own
};

/// Reads one array, row-major and in the machine's byte order whatever the file has. Throws UserError for anything that
/// is not a complete array of numbers or truth values; Python objects are never unpickled.
Tensor read_npy(const std::filesystem::path& path, NpyOptions options = {});
/// The same from memory; `what` names it in messages.
Tensor parse_npy(std::span<const std::byte> bytes, std::string_view what, NpyOptions options = {});
/// The same from a source that holds exactly one array.
Tensor read_npy(ByteSource& source, std::string_view what, NpyOptions options = {});

/// Writes one array; the file appears complete or not at all. 4- and 2-bit integers are widened to 8 bits; bf16 and the
/// narrow floats become untyped bytes, one or two for each element, as ml_dtypes' arrays do.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
std::vector<std::byte> to_npy(const Tensor& tensor);
/// The same in pieces, in order, without a copy of the whole.
void emit_npy(const Tensor& tensor, const std::function<void(std::span<const std::byte>)>& emit);

}  // namespace attune
