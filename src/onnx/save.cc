#include "base/atomic_file.h"
#include "onnx/export_graph.h"
#include "onnx/model.h"

#include <optional>

namespace attune {
namespace {

using namespace onnx_io;

constexpr int64_t kProtobufLimitBytes = (int64_t{1} << 31) - (int64_t{64} << 20);  // 2 GiB less room for the structure
constexpr int64_t kExternalWhenTooLargeBytes = int64_t{1} << 20;
constexpr int64_t kExternalAlignmentBytes = 4096;  // a page: such contents can be mapped and used in place
constexpr int kIrVersion = 8;                      // the oldest that has everything written here

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7F) | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

/// Tag and length of a length-delimited field.
std::string field_header(int field, size_t length) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(length);
}

/// One initializer of the main graph: the message without its contents, and where those come from.
struct Initializer {
  std::string header;  // serialised TensorProto without raw_data
  const Tensor* inline_contents = nullptr;
  size_t size() const { return header.size() + (inline_contents ? raw_header().size() + bytes() : 0); }
  size_t bytes() const { return static_cast<size_t>(inline_contents->size_bytes()); }
  std::string raw_header() const { return field_header(9, bytes()); }
};

class ExternalWriter {
 public:
  explicit ExternalWriter(const std::filesystem::path& model) : path_(model.string() + ".data") {}

  void append(const Tensor& tensor, onnx::TensorProto& proto) {
    if (!file_) file_.emplace(path_);
    const int64_t padding =
        (kExternalAlignmentBytes - file_->size_bytes() % kExternalAlignmentBytes) % kExternalAlignmentBytes;
    file_->append(std::string(static_cast<size_t>(padding), '\0'));
    const auto add = [&](const char* key, const std::string& value) {
      auto& entry = *proto.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    add("location", path_.filename().string());
    add("offset", std::to_string(file_->size_bytes()));
    add("length", std::to_string(tensor.size_bytes()));
    file_->append({tensor.bytes(), static_cast<size_t>(tensor.size_bytes())});
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::filesystem::path path_;
  std::optional<AtomicFile> file_;
};

int64_t constant_bytes(const Graph& graph) {
  int64_t total = 0;
  for (const Value& value : graph.values()) total += value.constant.size_bytes();
  return total;
}

}  // namespace

void save_onnx(const Graph& graph, const std::filesystem::path& path, const SaveOptions& options) {
  int64_t threshold = options.external_threshold_bytes;
  if (constant_bytes(graph) > kProtobufLimitBytes) threshold = std::min(threshold, kExternalWhenTooLargeBytes);

  std::set<std::string> taken;
  const ExportNames names = export_names(graph, nullptr, taken);
  ExternalWriter external(path);
  std::vector<Initializer> initializers;
  size_t initializer_bytes = 0;
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const Value& value = graph.values()[i];
    if (!value.is_constant()) continue;
    onnx::TensorProto proto;
    export_tensor_header(value.constant, names.at(static_cast<ValueId>(i)), proto);
    Initializer initializer;
    if (value.constant.size_bytes() >= threshold)
      external.append(value.constant, proto);
    else
      initializer.inline_contents = &value.constant;
    proto.SerializeToString(&initializer.header);
    initializer_bytes += field_header(5, initializer.size()).size() + initializer.size();
    initializers.push_back(std::move(initializer));
  }

  onnx::GraphProto body;
  export_graph(graph, names, taken, body);
  const std::string graph_text = body.SerializeAsString();
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("attune");
  for (const auto& [domain, version] : graph.opsets) {
    auto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }

  AtomicFile file(path);
  file.append(model.SerializeAsString());
  file.append(field_header(7, graph_text.size() + initializer_bytes));
  file.append(graph_text);
  for (const Initializer& initializer : initializers) {
    file.append(field_header(5, initializer.size()));
    file.append(initializer.header);
    if (initializer.inline_contents == nullptr) continue;
    file.append(initializer.raw_header());
    file.append({initializer.inline_contents->bytes(), initializer.bytes()});
  }
  external.commit();
  file.commit();
}

}  // namespace attune
