# The ONNX format: onnx-ml.proto of the newest onnx package, compiled here. Only src/onnx sees the header.
set(ATTUNE_ONNX_PROTO "" CACHE FILEPATH "onnx-ml.proto; empty: found in .venv or in libonnx-dev")
set(onnx_proto "${ATTUNE_ONNX_PROTO}")
if(NOT onnx_proto)
  file(GLOB candidates
    "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/onnx/onnx-ml.proto"
    "/usr/include/onnx/onnx-ml.proto")
  if(candidates)
    list(GET candidates 0 onnx_proto)
  endif()
endif()
if(NOT onnx_proto OR NOT EXISTS "${onnx_proto}")
  message(FATAL_ERROR "onnx-ml.proto was not found; run scripts/bootstrap.sh (pip's onnx in .venv), "
    "or 'apt-get install libonnx-dev', or give -DATTUNE_ONNX_PROTO=PATH")
endif()
message(STATUS "ONNX format: ${onnx_proto}")

set(onnx_generated "${CMAKE_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${onnx_generated}/onnx")
# Copied, so that the include path in the generated header does not depend on where the package lies.
configure_file("${onnx_proto}" "${onnx_generated}/onnx/onnx-ml.proto" COPYONLY)
add_custom_command(
  OUTPUT "${onnx_generated}/onnx/onnx-ml.pb.cc" "${onnx_generated}/onnx/onnx-ml.pb.h"
  COMMAND protobuf::protoc "--proto_path=${onnx_generated}" "--cpp_out=${onnx_generated}" onnx/onnx-ml.proto
  DEPENDS "${onnx_generated}/onnx/onnx-ml.proto"
  COMMENT "Compiling onnx-ml.proto")
add_library(attune_onnx_proto STATIC "${onnx_generated}/onnx/onnx-ml.pb.cc")
target_include_directories(attune_onnx_proto SYSTEM PUBLIC "${onnx_generated}")
target_link_libraries(attune_onnx_proto PUBLIC protobuf::libprotobuf)
