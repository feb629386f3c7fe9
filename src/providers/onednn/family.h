// A family: the operators that one kind of oneDNN primitive serves. The provider asks them in the order of its list.
#pragma once

#include "kernel/provider.h"

namespace attune::onednn {

/// offer and build are called only for workloads that `serves` accepts and whose operands all have elements. They may
/// throw dnnl::error, and attune's errors for what the primitive cannot do: the provider turns both into refusals.
struct Family {
  bool (*serves)(const Workload&);
  std::variant<Offer, Refusal> (*offer)(const Workload&);
  std::unique_ptr<Kernel> (*build)(const Workload&, const Config&);
};

extern const Family kConv;        // Conv, attune::FusedConv
extern const Family kConvGrad;    // attune::ConvGradData, attune::ConvGradWeights
extern const Family kDeconv;      // ConvTranspose
extern const Family kPool;        // MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool
extern const Family kMatMul;      // MatMul, attune::FusedMatMul; by matmul and by inner product
extern const Family kSoftmax;     // Softmax, LogSoftmax
extern const Family kLayerNorm;   // LayerNormalization
extern const Family kEltwise;     // Relu, Sigmoid, Gelu …
extern const Family kBinary;      // Add, Mul …
extern const Family kConcat;      // Concat
extern const Family kLstm;        // LSTM
extern const Family kGru;         // GRU
extern const Family kRnn;         // RNN
extern const Family kBatchNorm;   // BatchNormalization, InstanceNormalization
extern const Family kLrn;         // LRN
extern const Family kReduction;   // ReduceSum, ReduceMean …
extern const Family kClip;        // Clip
extern const Family kPRelu;       // PRelu
extern const Family kConvInt8;    // QLinearConv, ConvInteger
extern const Family kMatMulInt8;  // QLinearMatMul, MatMulInteger, com.microsoft QGemm …
extern const Family kResampling;  // Upsample by whole factors
extern const Family kReorder;     // attune::Reorder, Cast between f32 and bf16

}  // namespace attune::onednn
