// Everything of attune's C++ interface.
#pragma once

#include <attune/error.h>
#include <attune/session.h>
#include <attune/tensor.h>
#include <attune/version.h>
