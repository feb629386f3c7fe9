// The parts of the signal family and how they read scalars.
#pragma once

#include "ops/op.h"

namespace attune {

/// The integer scalar input i while analysing: a number, a symbol or unknown. Fails when it is no scalar.
Dim inferred_scalar(const InferContext& context, int i);
/// The integer scalar input i.
int64_t scalar_int(const KernelContext& context, int i);

void infer_dft(InferContext& context);
void run_dft(KernelContext& context);
double dft_flops(const CostContext& context);
void infer_stft(InferContext& context);
void run_stft(KernelContext& context);
double stft_flops(const CostContext& context);

void infer_window(InferContext& context);
void run_hann_window(KernelContext& context);
void run_hamming_window(KernelContext& context);
void run_blackman_window(KernelContext& context);
void infer_mel_weight_matrix(InferContext& context);
void run_mel_weight_matrix(KernelContext& context);

}  // namespace attune
