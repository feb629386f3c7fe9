#include "onnx/lift_raw_data.h"

#include "base/error.h"

#include <cstdint>

namespace attune::onnx_io {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kSmallestBlob = 1024;  // smaller contents are cheaper to copy

/// The messages on the way from a model to its tensors.
enum class Message { model, graph, node, attribute, function, sparse_tensor, tensor, training, other };

/// Which message a length-delimited field holds; field numbers are those of onnx-ml.proto.
Message child_of(Message parent, uint32_t field) {
  switch (parent) {
    case Message::model:
      return field == 7    ? Message::graph
             : field == 25 ? Message::function
             : field == 20 ? Message::training
                           : Message::other;
    case Message::training: return field == 1 || field == 2 ? Message::graph : Message::other;
    case Message::graph:
      return field == 1    ? Message::node
             : field == 5  ? Message::tensor
             : field == 15 ? Message::sparse_tensor
                           : Message::other;
    case Message::function: return field == 7 ? Message::node : field == 11 ? Message::attribute : Message::other;
    case Message::node: return field == 5 ? Message::attribute : Message::other;
    case Message::attribute:
      if (field == 5 || field == 10) return Message::tensor;
      if (field == 6 || field == 11) return Message::graph;
      return field == 22 || field == 23 ? Message::sparse_tensor : Message::other;
    case Message::sparse_tensor: return field == 1 || field == 2 ? Message::tensor : Message::other;
    case Message::tensor:
    case Message::other: return Message::other;
  }
  return Message::other;
}

constexpr uint32_t kRawDataField = 9;  // of TensorProto

class Lifter {
 public:
  explicit Lifter(Bytes model) : model_(model) {}

  LiftedModel run() {
    LiftedModel result;
    lift(model_, Message::model, 0, result.skeleton);
    result.blobs = std::move(blobs_);
    return result;
  }

 private:
  [[noreturn]] void malformed(const std::byte* at) const {
    throw UserError("not an ONNX model, or truncated: the protobuf data is malformed at byte {}", at - model_.data());
  }

  uint64_t read_varint(Bytes& in) const {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (in.empty()) malformed(in.data());
      const auto byte = static_cast<uint8_t>(in.front());
      in = in.subspan(1);
      value |= static_cast<uint64_t>(byte & 0x7Fu) << shift;
      if (byte < 0x80) return value;
    }
    malformed(in.data());
  }

  static void write_varint(uint64_t value, std::string& out) {
    while (value >= 0x80) {
      out.push_back(static_cast<char>((value & 0x7F) | 0x80));
      value >>= 7;
    }
    out.push_back(static_cast<char>(value));
  }

  static void append(Bytes bytes, std::string& out) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  Bytes take(Bytes& in, uint64_t count) const {
    if (count > in.size()) malformed(in.data());
    const Bytes taken = in.first(count);
    in = in.subspan(count);
    return taken;
  }

  void lift(Bytes in, Message message, int graph_depth, std::string& out) {
    if (message == Message::graph && ++graph_depth > kMostGraphNesting)
      throw UserError("the model nests graphs deeper than {} levels", kMostGraphNesting);
    while (!in.empty()) {
      const Bytes start = in;
      const uint64_t tag = read_varint(in);
      const uint64_t field = tag >> 3;
      if (field == 0 || field > 536870911) malformed(start.data());
      switch (tag & 7u) {
        case 0: read_varint(in); break;
        case 1: take(in, 8); break;
        case 5: take(in, 4); break;
        case 2: {
          const Bytes payload = take(in, read_varint(in));
          if (lift_field(payload, tag, message, static_cast<uint32_t>(field), graph_depth, out)) continue;
          break;
        }
        default: malformed(start.data());  // groups do not occur in ONNX
      }
      if (message == Message::tensor && field == kBlobField) continue;  // ours alone: a file cannot forge it
      append(start.first(start.size() - in.size()), out);
    }
  }

  /// True when the field was written to `out` in a changed form.
  bool lift_field(Bytes payload, uint64_t tag, Message message, uint32_t field, int graph_depth, std::string& out) {
    if (message == Message::tensor && field == kRawDataField && payload.size() >= kSmallestBlob) {
      write_varint(static_cast<uint64_t>(kBlobField) << 3, out);
      write_varint(blobs_.size(), out);
      blobs_.push_back(payload);
      return true;
    }
    const Message child = child_of(message, field);
    if (child == Message::other) return false;
    std::string inner;
    lift(payload, child, graph_depth, inner);
    write_varint(tag, out);
    write_varint(inner.size(), out);
    out += inner;
    return true;
  }

  Bytes model_;
  std::vector<Bytes> blobs_;
};

}  // namespace

LiftedModel lift_raw_data(std::span<const std::byte> model) { return Lifter(model).run(); }

}  // namespace attune::onnx_io
