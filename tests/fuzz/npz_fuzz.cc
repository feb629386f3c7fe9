// Any bytes as a .npy file and, through a file, as a .npz archive.
#include "io/npz.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("attune_fuzz_" + std::to_string(::getpid()) + ".npz");
  try {
    attune::parse_npy(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const attune::UserError&) {}
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    attune::read_npz(path);
  } catch (const attune::UserError&) {}
  return 0;
}
