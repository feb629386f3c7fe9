// RNN, GRU, LSTM.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> recurrent_ops() { return {}; }

}  // namespace attune
