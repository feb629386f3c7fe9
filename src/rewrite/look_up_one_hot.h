// Reads rows of constant weights where a one-hot vector multiplies them: a look-up spelled as a product.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int look_up_one_hot(Graph& graph);

}  // namespace attune::rewrite
