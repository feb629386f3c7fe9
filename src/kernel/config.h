// Configurations are points of spaces; kernels know them by this name.
#pragma once

#include "space/config.h"
