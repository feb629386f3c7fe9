// NumPy's .npz files: zip archives of .npy members.
#pragma once

#include "graph/tensor.h"
#include "io/npy.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// Reads every array under its name without ".npy". Members may be stored or deflated, and zip64. Sizes are checked
/// against the file and against each array's own header before anything is allocated, and contents against their CRC.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path, NpyOptions options = {});

enum class NpzCompression { stored, deflated };

/// Writes the arrays in the order given; names may be any text without NUL, each once. The file appears complete or not
/// at all.
void write_npz(const std::filesystem::path& path, const std::vector<std::pair<std::string, Tensor>>& arrays,
               NpzCompression compression = NpzCompression::stored);

}  // namespace attune
