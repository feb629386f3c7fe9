#include "runtime/plan_file.h"

#include "base/atomic_file.h"
#include "base/checked.h"
#include "base/file_map.h"
#include "base/hash.h"
#include "device/cpu/cpu_info.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "providers/providers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>

namespace attune {
namespace {

using Json = nlohmann::json;

// The file: a header, the index as JSON, then blobs at multiples of a cache line. The checksum covers all after the
// header.
constexpr char kMagic[16] = "attune plan\n\x1a\n";
constexpr uint32_t kFormatVersion = 2;
constexpr int64_t kAlignment = 64;

struct Header {
  char magic[16];
  uint32_t version;
  uint32_t reserved;
  uint64_t index_bytes;
  uint64_t checksum;
  uint64_t padding[3];
};
static_assert(sizeof(Header) == kAlignment);

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Collects tensors, each storage once, and gives them numbers.
class BlobWriter {
 public:
  int64_t add(const Tensor& tensor) {
    const auto [found, is_new] =
        numbers_.emplace(std::pair(tensor.bytes(), tensor.size_bytes()), static_cast<int64_t>(blobs_.size()));
    if (is_new) {
      blobs_.push_back(&tensor);
      sizes_.push_back(tensor.size_bytes());
    }
    return found->second;
  }
  /// Bytes that are no tensor of the plan; `owner` keeps them until they are written.
  int64_t add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    others_.push_back(Tensor::borrow(DType::u8, {static_cast<int64_t>(bytes.size())}, bytes.data(), std::move(owner)));
    return add(others_.back());
  }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  void write(std::vector<std::byte>& out) const {
    for (const Tensor* blob : blobs_) {
      const size_t at = out.size();
      out.resize(static_cast<size_t>(aligned(static_cast<int64_t>(at) + blob->size_bytes())));
      std::memcpy(out.data() + at, blob->bytes(), static_cast<size_t>(blob->size_bytes()));
    }
  }

 private:
  std::vector<const Tensor*> blobs_;
  std::deque<Tensor> others_;  // deque: addresses stay
  std::vector<int64_t> sizes_;
  std::map<std::pair<const std::byte*, int64_t>, int64_t> numbers_;
};

std::string environments() {
  std::string text;
  for (const Provider* provider : providers())
    text += fmt::format("{}: {}; ", provider->name(), provider->plan_environment());
  return text;
}

Layout step_layout(const Step& step) {
  return step.workload.outputs.empty() || !step.workload.outputs[0] ? Layout::plain : step.workload.output(0).layout;
}

Json step_json(const Step& step, BlobWriter& blobs) {
  Json json{
      {"label", step.label},       {"workload", step.workload.key()}, {"layout", static_cast<int>(step_layout(step))},
      {"provider", step.provider}, {"config", step.config},           {"reason", step.reason}};
  json["prepared"] = Json::array();
  for (const Tensor& tensor : step.prepared)
    json["prepared"].push_back(
        {{"blob", blobs.add(tensor)}, {"dtype", dtype_name(tensor.dtype())}, {"dims", tensor.dims()}});
  if (const auto artifact = step.kernel->artifact(); !artifact.empty())
    json["artifact"] = {{"blob", blobs.add(artifact, step.kernel)}, {"bytes", artifact.size()}};
  json["alternatives"] = Json::array();
  for (const Alternative& alternative : step.alternatives)
    json["alternatives"].push_back(
        {{"provider", alternative.provider}, {"configs", alternative.configs}, {"reason", alternative.reason}});
  return json;
}

/// The file's bytes behind blob numbers.
class BlobReader {
 public:
  BlobReader(std::shared_ptr<const FileMap> file, const Json& sizes, int64_t begin) : file_(std::move(file)) {
    for (const Json& size : sizes) {
      const auto bytes = size.get<int64_t>();
      const auto end = checked_add(begin, bytes);
      if (bytes < 0 || !end || *end > static_cast<int64_t>(file_->bytes().size()))
        throw UserError("its index names contents beyond its end");
      ranges_.push_back(file_->bytes().subspan(static_cast<size_t>(begin), static_cast<size_t>(bytes)));
      begin = aligned(*end);
    }
  }
  Tensor tensor(int64_t blob, DType dtype, const Dims& dims) const {
    const auto count = checked_count(dims);
    const auto bytes = count ? byte_size(dtype, *count) : std::nullopt;
    if (blob < 0 || blob >= static_cast<int64_t>(ranges_.size()) || !bytes ||
        *bytes != static_cast<int64_t>(ranges_[static_cast<size_t>(blob)].size()))
      throw UserError("its index does not fit its contents");
    return Tensor::borrow(dtype, dims, ranges_[static_cast<size_t>(blob)].data(), file_, file_.get());
  }

 private:
  std::shared_ptr<const FileMap> file_;  // shared: tensors borrow from the mapping
  std::vector<std::span<const std::byte>> ranges_;
};

RecordedStep read_step(const Json& json, const BlobReader& blobs) {
  RecordedStep step;
  step.workload_key = json.at("workload");
  const int layout = json.at("layout");
  if (layout < 0 || layout > static_cast<int>(Layout::nchw16c)) throw UserError("its index names an unknown layout");
  step.layout = static_cast<Layout>(layout);
  step.provider = json.at("provider");
  step.config = json.at("config").get<Config>();
  step.reason = json.at("reason");
  for (const Json& tensor : json.at("prepared")) {
    const auto dtype = parse_dtype(tensor.at("dtype").get<std::string>());
    if (!dtype) throw UserError("its index names an unknown dtype");
    step.prepared.push_back(blobs.tensor(tensor.at("blob"), *dtype, tensor.at("dims").get<Dims>()));
  }
  if (const auto artifact = json.find("artifact"); artifact != json.end())
    step.artifact = blobs.tensor(artifact->at("blob"), DType::u8, {artifact->at("bytes").get<int64_t>()});
  for (const Json& alternative : json.at("alternatives"))
    step.alternatives.push_back(
        {alternative.at("provider"), alternative.at("configs").get<std::vector<Config>>(), alternative.at("reason")});
  return step;
}

/// In parts, which are given back once they were read: pages of a mapped file count as memory of the process, and most
/// of them nobody reads again.
uint64_t checksum_of(std::span<const std::byte> body, const FileMap* file) {
  constexpr size_t kPart = size_t{8} << 20;
  uint64_t sum = 0;
  for (size_t at = 0; at < body.size(); at += kPart) {
    const auto part = body.subspan(at, std::min(kPart, body.size() - at));
    sum = hash_bytes(part, sum);
    if (file != nullptr) file->release(part);
  }
  return sum;
}

Header read_header(const FileMap& file) {
  Header header{};
  if (file.bytes().size() < sizeof header) throw UserError("it is truncated");
  std::memcpy(&header, file.bytes().data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) throw UserError("it is not a plan");
  if (header.version != kFormatVersion)
    throw UserError("it has format {}, this attune reads format {}; make it anew with 'attune plan'", header.version,
                    kFormatVersion);
  if (header.index_bytes > file.bytes().size() - sizeof header) throw UserError("it is truncated");
  if (checksum_of(file.bytes().subspan(sizeof header), &file) != header.checksum)
    throw UserError("it is damaged: its checksum does not fit");
  return header;
}

void check_machine(const Json& index) {
  const std::string made_for = index.at("device"), here = device_fingerprint();
  if (made_for != here)
    throw UserError("it was made for another machine ({}), this one is {}; make it anew with 'attune plan'", made_for,
                    here);
  const std::string made_with = index.at("environment");
  if (made_with != environments())
    throw UserError("it was made with other libraries ({}), here are {}; make it anew with 'attune plan'", made_with,
                    environments());
}

Session read_plan(const std::shared_ptr<const FileMap>& file, SessionOptions options) {
  const Header header = read_header(*file);
  const char* text = reinterpret_cast<const char*>(file->bytes().data()) + sizeof header;
  const Json index = Json::parse(text, text + header.index_bytes);
  check_machine(index);
  const BlobReader blobs(file, index.at("blobs"), aligned(static_cast<int64_t>(sizeof header + header.index_bytes)));
  Graph graph = parse_graph(index.at("graph").get<std::string>(), [&](int64_t blob, DType dtype, const Dims& dims) {
    return blobs.tensor(blob, dtype, dims);
  });
  verify(graph);
  for (const Json& step : index.at("steps")) options.recorded[step.at("label")] = read_step(step, blobs);
  options.rewrite = false;  // it is rewritten already
  Session session(std::move(graph), std::move(options));
  if (const auto precision = index.find("precision"); precision != index.end())
    session.state_precision(read_precision_statement(*precision));
  return session;
}

}  // namespace

void save_plan(const Session& session, std::span<const Tensor> inputs, const std::filesystem::path& path) {
  const auto plan = session.plan(inputs);
  BlobWriter blobs;
  constexpr int64_t kSmallestBlob = 256;  // shorter contents are more readable in the text
  PrintOptions print;
  print.blob = [&](const Tensor& tensor) {
    return tensor.size_bytes() >= kSmallestBlob ? std::optional(blobs.add(tensor)) : std::nullopt;
  };
  Json index{
      {"device", device_fingerprint()}, {"environment", environments()}, {"graph", to_text(*plan->graph, print)}};
  index["steps"] = Json::array();
  for (const Step& step : plan->steps)
    if (step.kernel) index["steps"].push_back(step_json(step, blobs));
  if (session.precision()) index["precision"] = to_json(*session.precision());
  index["blobs"] = blobs.sizes();
  const std::string text = index.dump();

  std::vector<std::byte> body(static_cast<size_t>(aligned(static_cast<int64_t>(sizeof(Header) + text.size()))) -
                              sizeof(Header));
  std::memcpy(body.data(), text.data(), text.size());
  body.reserve(body.size() + 1);
  AtomicFile file(path);
  // Blobs start at a multiple of the alignment in the file, which the header's size keeps in the body too.
  blobs.write(body);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.index_bytes = text.size();
  header.checksum = checksum_of(body, nullptr);
  file.append(std::as_bytes(std::span(&header, 1)));
  file.append(body);
  file.commit();
}

Session load_plan(const std::filesystem::path& path, SessionOptions options) {
  try {
    return read_plan(FileMap::open(path), std::move(options));
  } catch (const Json::exception& error) {
    throw UserError("plan '{}' cannot be used: its index is damaged ({})", path.string(), error.what());
  } catch (const UserError& error) {
    throw UserError("plan '{}' cannot be used: {}", path.string(), error.what());
  }
}

bool is_plan_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // opening a pipe would wait for its writer
  std::ifstream file(path, std::ios::binary);
  char magic[sizeof kMagic] = {};
  return file.read(magic, sizeof magic) && std::memcmp(magic, kMagic, sizeof kMagic) == 0;
}

}  // namespace attune
