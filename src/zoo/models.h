// The builders behind the list in zoo.cc, one for each model.
#pragma once

#include "zoo/zoo.h"

namespace attune::zoo {

Graph build_resnet18(const Options& options);
Graph build_resnet50(const Options& options);
Graph build_mobilenetv2(const Options& options);
Graph build_shufflenetv2(const Options& options);
Graph build_yolov5s(const Options& options);
Graph build_bert_base(const Options& options);
Graph build_gpt2(const Options& options);
Graph build_vit_b16(const Options& options);
Graph build_lenet(const Options& options);
Graph build_mlp(const Options& options);
Graph build_recurrent_tagger(const Options& options);

}  // namespace attune::zoo
