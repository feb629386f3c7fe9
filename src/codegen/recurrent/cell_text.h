// Text of the functions that kernels of recurrent layers consist of: projections of rows of the input, and steps of the
// units of a panel.
#pragma once

#include "codegen/recurrent/layer.h"

#include <string>

namespace attune::codegen {

/// For rows and panels of every number that the layer falls into:
///   project_<rows>(x, w, bias, out)                                what rows of the input give the gates of a panel
///   step_<rows>(x, w, projected, cell, next, y, left)              of an LSTM
///   step_<rows>(x, w, projected, bias, old, next, y, left)         of `gru`
///   gates_<rows>(x, w, projected, old, update, reset)              of `gru_reset_first`, and after it
///   fresh_<rows>x<panels>(x, w, projected, old, update, next, y, left)
/// They are written in terms of T, take() and put(), which the caller has written before.
std::string cell_functions(const RecurrentLayerText& layer, const RecurrentSchedule& schedule);

}  // namespace attune::codegen
