#include "device/libraries.h"

#include <zlib.h>

#include <string_view>

namespace attune {

std::vector<Library> libraries() {
  // Without one of these but the last attune does not build; the versions are those of the build, zlib's that of this
  // process.
  return {
      {"Protocol Buffers", "reading and writing ONNX files", ATTUNE_PROTOBUF_VERSION, true,
       "apt-get install protobuf-compiler libprotobuf-dev, then build again"},
      {"zlib", "reading and writing .npz archives", zlibVersion(), true,
       "apt-get install zlib1g-dev, then build again"},
      {"SQLite", "the knowledge bank", ATTUNE_SQLITE_VERSION, true, "apt-get install libsqlite3-dev, then build again"},
      {"OpenMP", "threads, shared with the libraries that run kernels", ATTUNE_OPENMP_VERSION, true,
       "apt-get install g++, then build again"},
      {"fmt", "text", ATTUNE_FMT_VERSION, true, "apt-get install libfmt-dev, then build again"},
      {"nlohmann/json", "JSON output", ATTUNE_JSON_VERSION, true,
       "apt-get install nlohmann-json3-dev, then build again"},
      {"CLI11", "the command line", ATTUNE_CLI11_VERSION, true, "apt-get install libcli11-dev, then build again"},
      {"oneDNN", "kernels for CPUs", ATTUNE_ONEDNN_VERSION, !std::string_view(ATTUNE_ONEDNN_VERSION).empty(),
       "apt-get install libdnnl-dev, then build again"},
  };
}

}  // namespace attune
