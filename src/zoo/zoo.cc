#include "zoo/zoo.h"

#include "base/error.h"
#include "base/suggest.h"
#include "zoo/models.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace attune::zoo {
namespace {

constexpr Entry kEntries[] = {
    {"resnet18", "ResNet-18, 1000 classes, 224x224", 11'689'512, build_resnet18},
    {"resnet50", "ResNet-50 with the stride in the 3x3 convolutions, 1000 classes, 224x224", 25'557'032,
     build_resnet50},
    {"mobilenetv2", "MobileNetV2 1.0, 1000 classes, 224x224", 3'504'872, build_mobilenetv2},
    {"shufflenetv2", "ShuffleNetV2 x1.0, 1000 classes, 224x224", 2'278'604, build_shufflenetv2},
    {"yolov5s", "YOLOv5s 6.x detector with decoded boxes, 80 classes, 640x640", 7'225'885, build_yolov5s},
    {"bert_base", "BERT-base encoder, uncased vocabulary, with pooler", 109'482'240, build_bert_base},
    {"gpt2", "GPT-2 small with logits, tied embeddings", 124'439'808, build_gpt2},
    {"vit_b16", "ViT-B/16, 1000 classes, 224x224", 86'567'656, build_vit_b16},
    {"lenet", "LeNet-5 with ReLU and max pooling, 10 classes, 28x28", 61'706, build_lenet},
    {"mlp", "Perceptron 784-512-256-10", 535'818, build_mlp},
    {"lstm_tagger", "Embedding, two bidirectional LSTM layers, 17 tags for each token", 3'656'209,
     build_recurrent_tagger},
};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

Graph build(std::string_view name, const Options& options) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries()) {
    if (entry.name == name) return entry.build(options);
    names.push_back(entry.name);
  }
  if (const auto suggestion = nearest(name, names))
    throw UserError("the zoo has no model '{}'; did you mean '{}'?", name, *suggestion);
  throw UserError("the zoo has no model '{}'; it has {}", name, fmt::join(names, ", "));
}

int64_t parameter_count(const Graph& graph) {
  int64_t count = 0;
  for (const Value& value : graph.values()) {
    if (!value.is_constant() || !is_float(value.dtype)) continue;
    const std::string_view name = value.name;
    if (name.starts_with('/') || name.ends_with(".running_mean") || name.ends_with(".running_var")) continue;
    count += value.constant.count();
  }
  return count;
}

}  // namespace attune::zoo
